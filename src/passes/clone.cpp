#include "passes/clone.h"

namespace tilesight::passes {

ir::Value* Mapping::operator()(ir::Value* value) const {
  auto found = values.find(value);
  return found == values.end() ? value : found->second;
}

ir::Block* Mapping::operator()(ir::Block* block) const {
  auto found = blocks.find(block);
  return found == blocks.end() ? block : found->second;
}

namespace {

std::unique_ptr<ir::Value> copyOf(const ir::Value& value, bool keepsText) {
  auto copy = std::make_unique<ir::Value>(value);
  copy->owner = nullptr;
  copy->block = nullptr;
  if (!keepsText) copy->spelling.clear();
  return copy;
}

/// Everything but operands, which may be defined later; `mapping` learns results and blocks.
std::unique_ptr<ir::Operation> shell(const ir::Operation& op, Mapping& mapping, bool keepsText) {
  auto copy = std::make_unique<ir::Operation>();
  copy->name = op.name;
  copy->info = op.info;
  copy->operands = op.operands;
  copy->operandSegments = op.operandSegments;
  copy->attributes = op.attributes;
  copy->location = op.location;
  copy->opaqueText = op.opaqueText;
  copy->isTextOnly = op.isTextOnly;
  copy->opaqueOperands = op.opaqueOperands;
  copy->opaqueSuccessors = op.opaqueSuccessors;
  copy->sourceLine = op.sourceLine;
  copy->sourceColumn = op.sourceColumn;
  copy->number = op.number;
  copy->successors = op.successors;
  if (keepsText) copy->textBegin = op.textBegin, copy->textEnd = op.textEnd;
  for (const auto& result : op.results) {
    copy->results.push_back(copyOf(*result, keepsText));
    copy->results.back()->owner = copy.get();
    mapping.values[result.get()] = copy->results.back().get();
  }
  for (const auto& region : op.regions) {
    ir::Region* to = ir::addRegion(*copy);
    for (const auto& block : region->blocks) {
      ir::Block* made = ir::addBlock(*to);
      mapping.blocks[block.get()] = made;
      if (keepsText) made->label = block->label, made->textBegin = block->textBegin, made->textEnd = block->textEnd;
      for (const auto& argument : block->arguments) {
        made->arguments.push_back(copyOf(*argument, keepsText));
        made->arguments.back()->block = made;
        mapping.values[argument.get()] = made->arguments.back().get();
      }
      for (const auto& nested : block->operations) {
        made->operations.push_back(shell(*nested, mapping, keepsText));
        made->operations.back()->parent = made;
      }
    }
  }
  return copy;
}

void connect(ir::Operation& op, const Mapping& mapping) {
  ir::walk(op, [&](ir::Operation& nested) {
    for (ir::Value*& value : nested.operands) value = mapping(value);
    for (ir::Successor& successor : nested.successors) {
      successor.block = mapping(successor.block);
      for (ir::Value*& value : successor.operands) value = mapping(value);
    }
    return true;
  });
}

}  // namespace

std::unique_ptr<ir::Operation> clone(const ir::Operation& op, Mapping& mapping, bool keepsText) {
  auto copy = shell(op, mapping, keepsText);
  connect(*copy, mapping);
  return copy;
}

ir::Module clone(const ir::Module& module) {
  ir::Module copy;
  copy.context = module.context;
  copy.fileName = module.fileName;
  copy.trailingMetadata = module.trailingMetadata;
  Mapping mapping;
  copy.top = clone(*module.top, mapping, true);
  return copy;
}

}  // namespace tilesight::passes
