#include "passes/rewriter.h"

#include <algorithm>
#include <cassert>

#include "dialects/table.h"

namespace tilesight::passes {

Point Point::afterOp(ir::Operation* op) {
  ir::Block* block = op->parent;
  for (size_t i = 0; i + 1 < block->operations.size(); ++i)
    if (block->operations[i].get() == op) return {block, block->operations[i + 1].get()};
  return {block, nullptr};
}

Rewriter::Rewriter(ir::Module& module) : module_(module) {
  ir::walk(*module.top, [&](ir::Operation& op) {
    addUses(op);
    return true;
  });
}

void Rewriter::addUses(ir::Operation& op) {
  for (uint32_t i = 0; i < op.operands.size(); ++i) uses_[op.operands[i]].push_back({&op, -1, i});
  for (uint32_t s = 0; s < op.successors.size(); ++s)
    for (uint32_t i = 0; i < op.successors[s].operands.size(); ++i)
      uses_[op.successors[s].operands[i]].push_back({&op, static_cast<int32_t>(s), i});
}

void Rewriter::drop(const ir::Value* value, const Use& use) {
  auto found = uses_.find(value);
  if (found == uses_.end()) return;
  auto& list = found->second;
  if (auto at = std::find(list.begin(), list.end(), use); at != list.end()) list.erase(at);
  if (list.empty()) uses_.erase(found);
}

void Rewriter::dropUses(ir::Operation& op) {
  for (uint32_t i = 0; i < op.operands.size(); ++i) drop(op.operands[i], {&op, -1, i});
  for (uint32_t s = 0; s < op.successors.size(); ++s)
    for (uint32_t i = 0; i < op.successors[s].operands.size(); ++i)
      drop(op.successors[s].operands[i], {&op, static_cast<int32_t>(s), i});
}

void Rewriter::forget(ir::Operation& op) {
  ir::walk(op, [&](ir::Operation& nested) {
    dropUses(nested);
    return true;
  });
  ir::walk(op, [&](ir::Operation& nested) {
    for (const auto& result : nested.results) uses_.erase(result.get());
    for (const auto& region : nested.regions)
      for (const auto& block : region->blocks)
        for (const auto& argument : block->arguments) uses_.erase(argument.get());
    return true;
  });
}

const std::vector<Use>& Rewriter::uses(const ir::Value* value) const {
  static const std::vector<Use> none;
  auto found = uses_.find(value);
  return found == uses_.end() ? none : found->second;
}

bool Rewriter::isUsed(const ir::Operation& op) const {
  return std::any_of(op.results.begin(), op.results.end(), [&](const auto& result) { return isUsed(result.get()); });
}

size_t Rewriter::positionOf(const ir::Block& block, const ir::Operation* op) {
  if (!op) return block.operations.size();
  for (size_t i = 0; i < block.operations.size(); ++i)
    if (block.operations[i].get() == op) return i;
  assert(false && "the operation is not in this block");
  return block.operations.size();
}

ir::Operation* Rewriter::insert(std::unique_ptr<ir::Operation> op, Point at) {
  op->parent = at.block;
  ir::Operation* made = op.get();
  at.block->operations.insert(at.block->operations.begin() + static_cast<ptrdiff_t>(positionOf(*at.block, at.before)), std::move(op));
  return made;
}

ir::Operation* Rewriter::create(Point at, std::string name, std::vector<ir::Value*> operands, std::vector<ir::Type> results,
                                std::vector<ir::NamedAttribute> attributes, ir::Location location,
                                std::vector<uint32_t> segments, uint32_t regions) {
  auto op = std::make_unique<ir::Operation>();
  op->name = std::move(name);
  op->info = dialects::find(op->name);
  op->operands = std::move(operands);
  op->attributes = std::move(attributes);
  op->location = location;
  op->operandSegments = std::move(segments);
  for (uint32_t i = 0; i < results.size(); ++i) {
    auto value = std::make_unique<ir::Value>();
    value->type = results[i];
    value->owner = op.get();
    value->index = i;
    op->results.push_back(std::move(value));
  }
  for (uint32_t i = 0; i < regions; ++i) ir::addRegion(*op);
  if (op->info && op->operandSegments.empty()) dialects::inferSegments(*op->info, op->operands.size(), op->operandSegments);
  ir::Operation* made = insert(std::move(op), at);
  addUses(*made);
  return made;
}

ir::Operation* Rewriter::createConstant(Point at, ir::Attribute value, ir::Location location) {
  return create(at, "arith.constant", {}, {value->type}, {{"value", value}}, location);
}

ir::Operation* Rewriter::copy(const ir::Operation& op, Point at, Mapping& mapping) {
  ir::Operation* made = insert(clone(op, mapping, false), at);
  ir::walk(*made, [&](ir::Operation& nested) {
    addUses(nested);
    return true;
  });
  return made;
}

void Rewriter::move(ir::Operation* op, Point to) {
  if (to.before == op) return;
  ir::Block* from = op->parent;
  const auto at = from->operations.begin() + static_cast<ptrdiff_t>(positionOf(*from, op));
  std::unique_ptr<ir::Operation> taken = std::move(*at);
  from->operations.erase(at);
  insert(std::move(taken), to);
}

void Rewriter::erase(ir::Operation* op) {
  assert(!isUsed(*op));
  forget(*op);
  ir::Block* block = op->parent;
  block->operations.erase(block->operations.begin() + static_cast<ptrdiff_t>(positionOf(*block, op)));
}

void Rewriter::setOperand(const Use& use, ir::Value* value) {
  ir::Value*& place = use.successor < 0 ? use.user->operands[use.index] : use.user->successors[static_cast<size_t>(use.successor)].operands[use.index];
  if (place == value) return;
  const Use own = use;  // `use` may be in the list that changes
  drop(place, own);
  place = value;
  uses_[value].push_back(own);
}

void Rewriter::setOperands(ir::Operation* op, std::vector<ir::Value*> operands, std::vector<uint32_t> segments) {
  dropUses(*op);
  op->operands = std::move(operands);
  op->operandSegments = std::move(segments);
  if (op->info && op->operandSegments.empty()) dialects::inferSegments(*op->info, op->operands.size(), op->operandSegments);
  addUses(*op);
}

void Rewriter::setSuccessors(ir::Operation* op, std::vector<ir::Successor> successors) {
  dropUses(*op);
  op->successors = std::move(successors);
  addUses(*op);
}

void Rewriter::replaceUses(ir::Value* from, ir::Value* to) {
  if (from == to) return;
  const std::vector<Use> all = uses(from);
  for (const Use& use : all) setOperand(use, to);
}

void Rewriter::replace(ir::Operation* op, const std::vector<ir::Value*>& values) {
  for (size_t i = 0; i < op->results.size(); ++i) replaceUses(op->results[i].get(), values[i]);
  erase(op);
}

ir::Value* Rewriter::addArgument(ir::Block* block, ir::Type type, std::string name, ir::Location location) {
  return ir::addArgument(*block, type, std::move(name), location);
}

void Rewriter::eraseArgument(ir::Block* block, uint32_t index) {
  assert(!isUsed(block->arguments[index].get()));
  block->arguments.erase(block->arguments.begin() + index);
  for (uint32_t i = index; i < block->arguments.size(); ++i) block->arguments[i]->index = i;
}

ir::Block* Rewriter::addBlock(ir::Region* region) { return ir::addBlock(*region); }

void Rewriter::eraseBlock(ir::Block* block) {
  for (const auto& op : block->operations) forget(*op);
  for (const auto& argument : block->arguments) uses_.erase(argument.get());
  auto& blocks = block->parent->blocks;
  blocks.erase(std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.get() == block; }));
}

void Rewriter::moveBody(ir::Block* from, Point to) {
  std::vector<std::unique_ptr<ir::Operation>> taken = std::move(from->operations);
  from->operations.clear();
  for (auto& op : taken) insert(std::move(op), to);
}

void Rewriter::moveBlocks(ir::Region* from, ir::Region* to) {
  for (auto& block : from->blocks) {
    block->parent = to;
    to->blocks.push_back(std::move(block));
  }
  from->blocks.clear();
}

bool isIn(const ir::Operation& op, const ir::Operation& ancestor) {
  for (const ir::Operation* at = &op; at; at = at->parentOp())
    if (at == &ancestor) return true;
  return false;
}

ir::Operation* ownerOf(const ir::Value& value) {
  if (value.owner) return value.owner;
  return value.block && value.block->parent ? value.block->parent->parent : nullptr;
}

bool isDefinedOutside(const ir::Value& value, const ir::Operation& op) {
  if (value.owner) return !isIn(*value.owner, op);
  const ir::Operation* owner = ownerOf(value);
  return !owner || !isIn(*owner, op);
}

ir::Operation* enclosing(ir::Operation* op, std::string_view name) {
  for (ir::Operation* at = op->parentOp(); at; at = at->parentOp())
    if (at->name == name) return at;
  return nullptr;
}

}  // namespace tilesight::passes
