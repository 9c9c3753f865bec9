#include "plan/need.h"

namespace tilesight::plan {

namespace {

using ir::Block;
using ir::Operation;
using ir::Value;

// Visits operations last to first, nested ones before their parent's operands.
template <typename Visit>
void reverseWalk(const Operation& op, Visit&& visit) {
  for (auto region = op.regions.rbegin(); region != op.regions.rend(); ++region)
    for (auto block = (*region)->blocks.rbegin(); block != (*region)->blocks.rend(); ++block)
      for (auto nested = (*block)->operations.rbegin(); nested != (*block)->operations.rend(); ++nested)
        reverseWalk(**nested, visit);
  visit(op);
}

// An atomic operation that only adds up: an integer may be a lock or a counter of tickets, a float is output.
bool updatesFloats(const Operation& op) {
  return (op.name == "tile.atomic_rmw" || op.name == "tile.view_reduce") && op.operands.size() > 1 &&
         ir::isFloatKind(op.operands[1]->type.elementType().elementKind());
}

}  // namespace

Need::Need(const ir::Module& module, const PlanOptions& options) : module_(module), options_(options) {
  do {
    changed_ = false;
    reverseWalk(*module.top, [this](const Operation& op) { visit(op); });
  } while (changed_);
}

bool Need::anyResultNeeded(const Operation& op) const {
  for (auto& result : op.results)
    if (needed(result.get())) return true;
  return false;
}

void Need::visit(const Operation& op) {
  std::string_view name = op.name;
  auto requireAll = [&] {
    for (Value* v : op.operands) require(v);
  };
  if (name == "builtin.module" || name == "tile.func") return;
  bool stored = options_.outputs || options_.values;
  if (options_.values && (name == "tile.load" || name == "tile.view_load" || name == "tile.view_gather" ||
                          name.starts_with("tile.atomic_")))
    for (auto& result : op.results) require(result.get());
  if (name == "tile.load") {
    require(op.operands[0]);
    if (op.operands.size() > 1) require(op.operands[1]);
    if (op.operands.size() > 2 && anyResultNeeded(op)) require(op.operands[2]);
    return;
  }
  if (name == "tile.store") {
    require(op.operands[0]);
    if (op.operands.size() > 2) require(op.operands[2]);
    if (stored) require(op.operands[1]);
    return;
  }
  if (name == "tile.view_store") {
    // view, value, indices...
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (i != 1 || stored) require(op.operands[i]);
    return;
  }
  if (!stored && updatesFloats(op) && !anyResultNeeded(op)) {
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (i != 1) require(op.operands[i]);
    return;
  }
  if (name == "tile.view_load" || name == "tile.view_gather" || name == "tile.view_scatter" ||
      name == "tile.view_reduce" || name.starts_with("tile.atomic_") || name == "tile.print" ||
      name == "tile.assert" || name == "tile.assume" || name == "tile.opaque" || name == "tile.inline_asm" || name == "tile.extern")
    return requireAll();
  if (name == "tile.barrier") return;
  if (name == "cf.cond_br") {
    require(op.operands[0]);
  }
  if (name == "cf.br" || name == "cf.cond_br") {
    for (const ir::Successor& successor : op.successors)
      for (size_t i = 0; i < successor.operands.size(); ++i)
        if (needed(successor.block->arguments[i].get())) require(successor.operands[i]);
    return;
  }
  if (name == "scf.for") {
    for (int i = 0; i < 3; ++i) require(op.operands[i]);
    const Block& body = *op.regions[0]->blocks[0];
    for (size_t i = 0; i < op.results.size(); ++i) {
      const Value* argument = body.arguments[i + 1].get();
      if (!needed(argument) && !needed(op.results[i].get())) continue;
      require(argument);
      require(op.results[i].get());
      require(op.operands[i + 3]);
      require(body.operations.back()->operands[i]);
    }
    return;
  }
  if (name == "scf.while") {
    const Block& before = *op.regions[0]->blocks[0];
    const Block& after = *op.regions[1]->blocks[0];
    const Operation& condition = *before.operations.back();
    const Operation& yield = *after.operations.back();
    require(condition.operands[0]);
    for (size_t i = 0; i < op.results.size(); ++i)
      if (needed(op.results[i].get()) || needed(after.arguments[i].get())) require(condition.operands[i + 1]);
    for (size_t i = 0; i < before.arguments.size(); ++i)
      if (needed(before.arguments[i].get())) {
        require(op.operands[i]);
        require(yield.operands[i]);
      }
    return;
  }
  if (name == "scf.if") {
    require(op.operands[0]);
    for (size_t i = 0; i < op.results.size(); ++i)
      if (needed(op.results[i].get()))
        for (auto& region : op.regions)
          if (!region->empty()) require(region->blocks[0]->operations.back()->operands[i]);
    return;
  }
  if (name == "scf.yield" || name == "scf.condition" || name == "tile.return" || name == "tile.yield") {
    if (name == "tile.yield") requireAll();
    return;
  }
  if (name == "tile.call") {
    const Operation* callee = module_.function(op.string("callee"));
    if (!callee || callee->regions.empty() || callee->regions[0]->empty()) return requireAll();
    const Block& entry = *callee->regions[0]->blocks[0];
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (needed(entry.arguments[i].get())) require(op.operands[i]);
    for (auto& block : callee->regions[0]->blocks) {
      if (block->operations.empty()) continue;
      const Operation& last = *block->operations.back();
      if (last.name != "tile.return") continue;
      for (size_t i = 0; i < last.operands.size(); ++i)
        if (needed(op.results[i].get())) require(last.operands[i]);
    }
    return;
  }
  if (anyResultNeeded(op)) {
    requireAll();
    // Regions of reductions are computed whole.
    for (auto& region : op.regions)
      for (auto& block : region->blocks)
        for (auto& argument : block->arguments) require(argument.get());
  }
}

}  // namespace tilesight::plan
