#include "ir/operation.h"

#include "dialects/table.h"
#include "ir/context.h"

namespace tilesight::ir {

Attribute Operation::attribute(std::string_view key) const {
  for (const auto& [name, value] : attributes)
    if (name == key) return value;
  return {};
}

void Operation::setAttribute(std::string_view key, Attribute value) {
  for (auto& entry : attributes) {
    if (entry.first == key) {
      entry.second = value;
      return;
    }
  }
  attributes.emplace_back(std::string(key), value);
}

int64_t Operation::integer(std::string_view key, int64_t fallback) const {
  return attribute(key).asInteger().value_or(fallback);
}

std::string_view Operation::string(std::string_view key) const { return attribute(key).asString(); }

Value* Operation::segment(unsigned segment, unsigned index) const {
  if (segment >= operandSegments.size() || index >= operandSegments[segment]) return nullptr;
  size_t at = index;
  for (unsigned i = 0; i < segment; ++i) at += operandSegments[i];
  return at < operands.size() ? operands[at] : nullptr;
}

Operation* Operation::parentOp() const {
  return parent && parent->parent ? parent->parent->parent : nullptr;
}

Operation* Module::function(std::string_view symbol) const {
  for (auto& op : body().operations)
    if (op->info && op->info->has(dialects::Trait::Function) && op->string("sym_name") == symbol)
      return op.get();
  return nullptr;
}

Operation* Module::entry() const {
  Operation* only = nullptr;
  Operation* onlyPublic = nullptr;
  size_t functions = 0, publics = 0;
  for (auto& op : body().operations) {
    if (!op->info || !op->info->has(dialects::Trait::Function)) continue;
    ++functions;
    only = op.get();
    if (op->string("sym_visibility") == "public") {
      ++publics;
      onlyPublic = op.get();
    }
  }
  if (publics == 1) return onlyPublic;
  return functions == 1 ? only : nullptr;
}

Operation* Builder::create(std::string name, std::vector<Value*> operands,
                           std::vector<Type> resultTypes, std::vector<NamedAttribute> attributes,
                           Location location) {
  auto op = std::make_unique<Operation>();
  op->name = std::move(name);
  op->info = dialects::find(op->name);
  op->operands = std::move(operands);
  op->attributes = std::move(attributes);
  op->location = location;
  op->parent = block_;
  for (uint32_t i = 0; i < resultTypes.size(); ++i) {
    auto value = std::make_unique<Value>();
    value->type = resultTypes[i];
    value->owner = op.get();
    value->index = i;
    op->results.push_back(std::move(value));
  }
  // Fills the segments where the operand count alone decides them; other callers set them.
  if (op->info) dialects::inferSegments(*op->info, op->operands.size(), op->operandSegments);
  block_->operations.push_back(std::move(op));
  return block_->operations.back().get();
}

Region* addRegion(Operation& op) {
  op.regions.push_back(std::make_unique<Region>());
  op.regions.back()->parent = &op;
  return op.regions.back().get();
}

Block* addBlock(Region& region) {
  region.blocks.push_back(std::make_unique<Block>());
  region.blocks.back()->parent = &region;
  return region.blocks.back().get();
}

Value* addArgument(Block& block, Type type, std::string name, Location location) {
  auto value = std::make_unique<Value>();
  value->type = type;
  value->block = &block;
  value->index = static_cast<uint32_t>(block.arguments.size());
  value->name = std::move(name);
  value->location = location;
  block.arguments.push_back(std::move(value));
  return block.arguments.back().get();
}

}  // namespace tilesight::ir
