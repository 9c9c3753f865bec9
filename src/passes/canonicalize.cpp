#include <algorithm>

#include <fmt/format.h>

#include "dialects/table.h"
#include "passes/builtin.h"
#include "passes/constants.h"
#include "passes/fold.h"

namespace tilesight::passes {

std::vector<ir::Block*> reachableBlocks(const ir::Region& region) {
  if (region.empty()) return {};
  std::vector<ir::Block*> found = {region.blocks[0].get()};
  for (size_t i = 0; i < found.size(); ++i) {
    // Opaque operations may name blocks anywhere.
    for (const auto& op : found[i]->operations)
      for (const ir::Successor& successor : op->successors)
        if (std::find(found.begin(), found.end(), successor.block) == found.end()) found.push_back(successor.block);
  }
  return found;
}

namespace {

/// The blocks that nothing leads to.
size_t eraseUnreachable(Rewriter& rewriter, ir::Region& region) {
  const std::vector<ir::Block*> reachable = reachableBlocks(region);
  std::vector<ir::Block*> gone;
  for (auto& block : region.blocks)
    if (std::find(reachable.begin(), reachable.end(), block.get()) == reachable.end()) gone.push_back(block.get());
  for (ir::Block* block : gone) rewriter.eraseBlock(block);
  return gone.size();
}

/// `scf.if` of a constant: its branch, or nothing.
bool inlineConstantIf(PassContext& context, ir::Operation& op) {
  const auto condition = constantInteger(op.operands[0]);
  if (!condition) return false;
  ir::Region& region = *op.regions[*condition ? 0 : 1];
  std::vector<ir::Value*> values;
  if (!region.empty()) {
    if (region.blocks.size() != 1 || region.blocks[0]->operations.empty()) return false;
    ir::Operation* yield = region.blocks[0]->operations.back().get();
    if (yield->name != "scf.yield") return false;
    values = yield->operands;
    context.rewriter.erase(yield);
    context.rewriter.moveBody(region.blocks[0].get(), Point::beforeOp(&op));
  }
  context.done(op, "constant-condition", *condition ? "the condition is always true" : "the condition is always false");
  context.rewriter.replace(&op, values);
  return true;
}

/// A loop that is never entered.
bool eraseEmptyLoop(PassContext& context, ir::Operation& op) {
  if (op.attribute("unsignedCmp")) return false;
  const auto low = constantInteger(op.operands[0]), high = constantInteger(op.operands[1]);
  if (!low || !high || *low < *high) return false;
  context.done(op, "empty-loop", fmt::format("the loop from {} to {} is never entered", *low, *high));
  const std::vector<ir::Value*> inits(op.operands.begin() + 3, op.operands.end());
  context.rewriter.replace(&op, inits);
  return true;
}

bool step(PassContext& context, ir::Operation& op, size_t& folded) {
  if (op.name == "scf.if" && op.regions.size() == 2) return inlineConstantIf(context, op);
  if (op.name == "scf.for" && op.operands.size() >= 3) return eraseEmptyLoop(context, op);
  if (op.name == "cf.cond_br" && op.successors.size() == 2 && op.operands.size() == 1) {
    const auto condition = constantInteger(op.operands[0]);
    if (!condition) return false;
    const ir::Successor target = op.successors[*condition ? 0 : 1];
    context.done(op, "constant-condition", *condition ? "the condition is always true" : "the condition is always false");
    ir::Operation* branch = context.rewriter.create(Point::beforeOp(&op), "cf.br", {}, {}, {}, op.location);
    context.rewriter.setSuccessors(branch, {target});
    context.rewriter.erase(&op);
    return true;
  }
  const std::vector<ir::Value*> values = fold(context.rewriter, op);
  if (values.empty()) return false;
  context.rewriter.replace(&op, values);
  ++folded;
  return true;
}

/// One round over everything in `op`; true if something changed.
bool round(PassContext& context, ir::Operation& op, size_t& folded) {
  bool changed = false;
  for (auto& region : op.regions) {
    if (eraseUnreachable(context.rewriter, *region)) changed = true;
    for (auto& block : region->blocks)
      for (size_t i = 0; i < block->operations.size(); ++i) {
        ir::Operation* nested = block->operations[i].get();
        if (!nested->regions.empty() && round(context, *nested, folded)) changed = true;
        if (step(context, *nested, folded)) {
          changed = true;
          // What stands here now has not been looked at.
          i = i ? i - 1 : static_cast<size_t>(-1);
        }
      }
  }
  return changed;
}

}  // namespace

Pass canonicalizePass() {
  Pass pass;
  pass.name = "canonicalize";
  pass.summary = "fold constants, erase what changes nothing or cannot be reached";
  pass.run = [](PassContext& context) -> Status {
    size_t folded = 0;
    for (bool changed = true; changed;) {
      changed = round(context, *context.module().top, folded);
      changed = eraseDead(context.rewriter) != 0 || changed;
    }
    if (folded)
      context.say(*context.module().top, Remark::Kind::Done, "fold", fmt::format("folded {} operation{}", folded, folded == 1 ? "" : "s"));
    return {};
  };
  return pass;
}

}  // namespace tilesight::passes
