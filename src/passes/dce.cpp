#include <fmt/format.h>

#include "passes/builtin.h"
#include "passes/effects.h"

namespace tilesight::passes {

namespace {

/// Later operations first, since they use earlier ones.
size_t sweep(Rewriter& rewriter, ir::Operation& op) {
  size_t erased = 0;
  for (auto& region : op.regions)
    for (auto block = region->blocks.rbegin(); block != region->blocks.rend(); ++block)
      for (size_t i = (*block)->operations.size(); i-- > 0;) {
        ir::Operation* nested = (*block)->operations[i].get();
        if (isRemovable(*nested) && !rewriter.isUsed(*nested)) {
          rewriter.erase(nested);
          ++erased;
        } else {
          erased += sweep(rewriter, *nested);
        }
      }
  return erased;
}

}  // namespace

size_t eraseDead(Rewriter& rewriter) {
  size_t all = 0;
  // Values may be used before they stand in the text only across blocks; then another round is needed.
  while (size_t erased = sweep(rewriter, *rewriter.module().top)) all += erased;
  return all;
}

Pass dcePass() {
  Pass pass;
  pass.name = "dce";
  pass.summary = "erase operations whose results nothing uses";
  pass.run = [](PassContext& context) -> Status {
    if (const size_t erased = eraseDead(context.rewriter))
      context.say(*context.module().top, Remark::Kind::Done, "unused", fmt::format("erased {} operation{} whose results nothing uses", erased, erased == 1 ? "" : "s"));
    return {};
  };
  return pass;
}

}  // namespace tilesight::passes
