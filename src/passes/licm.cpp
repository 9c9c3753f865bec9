#include <algorithm>

#include <fmt/format.h>

#include "passes/builtin.h"
#include "passes/effects.h"

namespace tilesight::passes {

namespace {

bool isInvariant(const ir::Operation& op, const ir::Operation& loop) {
  bool outside = true;
  ir::walk(const_cast<ir::Operation&>(op), [&](ir::Operation& nested) {
    for (const ir::Value* value : nested.operands) {
      const ir::Operation* owner = ownerOf(*value);
      const bool own = owner && isIn(*owner, op);
      outside = outside && (own || isDefinedOutside(*value, loop));
    }
    return outside;
  });
  return outside;
}

}  // namespace

Pass licmPass() {
  Pass pass;
  pass.name = "licm";
  pass.summary = "move operations that compute the same in every iteration out of loops";
  pass.run = [](PassContext& context) -> Status {
    std::vector<ir::Operation*> loops;
    ir::walk(*context.module().top, [&](ir::Operation& op) {
      if (op.name == "scf.for") loops.push_back(&op);
      return true;
    });
    // Inner loops first: what leaves one may leave the next, too.
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
      for (auto& block : (*loop)->regions[0]->blocks)
        for (size_t i = 0; i + 1 < block->operations.size();) {
          ir::Operation* op = block->operations[i].get();
          if (op->results.empty() || !isInvariant(*op, **loop) || !isSpeculatable(*op)) {
            ++i;
            continue;
          }
          context.rewriter.move(op, Point::beforeOp(*loop));
          context.done(*op, "invariant", "moved out of the loop");
        }
    return {};
  };
  return pass;
}

}  // namespace tilesight::passes
