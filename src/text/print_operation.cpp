// Operations, regions and blocks as text.
#include <algorithm>

#include <fmt/format.h>

#include "ir/spelling.h"
#include "text/printer.h"

namespace tilesight::text {

void Printer::printResultNames(const ir::Operation& op) {
  if (op.results.empty()) return;
  for (size_t i = 0; i < op.results.size();) {
    std::string name = valueText(op.results[i].get());
    if (i) put(", ");
    size_t hash = name.find('#');
    size_t end = i + 1;
    if (hash != std::string::npos) {
      const std::string group = name.substr(0, hash + 1);
      name.resize(hash);
      while (end < op.results.size() && valueText(op.results[end].get()).starts_with(group)) ++end;
    }
    put(name);
    if (end - i > 1) put(fmt::format(":{}", end - i));
    i = end;
  }
  put(" = ");
}

void Printer::printOp(const ir::Operation& op) {
  printResultNames(op);
  if (op.isTextOnly) {
    printOpaque(op);
  } else if (op.isOpaque() || options_.generic || op.info->isGeneric()) {
    printGeneric(op);
  } else {
    put(op.name == "builtin.module" ? "module" : op.name);
    if (!op.info->isCustom()) printFormat(op);
    else if (!printCustom(op)) printGeneric(op);
  }
  printOperationLocation(op);
}

/// The text as it came, with the names that its operands and blocks have now.
void Printer::printOpaque(const ir::Operation& op) {
  struct Edit {
    uint32_t offset, length;
    std::string text;
  };
  std::vector<Edit> edits;
  for (size_t i = 0; i < op.opaqueOperands.size() && i < op.operands.size(); ++i)
    edits.push_back({op.opaqueOperands[i].offset, op.opaqueOperands[i].length, valueText(op.operands[i])});
  for (size_t i = 0; i < op.opaqueSuccessors.size() && i < op.successors.size(); ++i) {
    auto found = blockNames_.find(op.successors[i].block);
    if (found != blockNames_.end())
      edits.push_back({op.opaqueSuccessors[i].offset, op.opaqueSuccessors[i].length, found->second});
  }
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
  put(op.name);
  uint32_t done = 0;
  for (const Edit& edit : edits) {
    put(std::string_view(op.opaqueText).substr(done, edit.offset - done));
    put(edit.text);
    done = edit.offset + edit.length;
  }
  put(std::string_view(op.opaqueText).substr(done));
}

void Printer::printGeneric(const ir::Operation& op) {
  put(ir::quoted(op.name) + "(");
  std::vector<ir::Value*> operands = op.operands;
  std::vector<uint32_t> segments = op.operandSegments;
  if (op.info && !op.info->successors.empty()) {
    segments = {static_cast<uint32_t>(operands.size())};
    for (const ir::Successor& successor : op.successors) {
      operands.insert(operands.end(), successor.operands.begin(), successor.operands.end());
      segments.push_back(static_cast<uint32_t>(successor.operands.size()));
    }
  }
  printValues(operands);
  put(")");
  if (!op.successors.empty()) {
    put("[");
    for (size_t i = 0; i < op.successors.size(); ++i) {
      if (i) put(", ");
      auto found = blockNames_.find(op.successors[i].block);
      put(found == blockNames_.end() ? "^<unknown>" : found->second);
      if (!op.info && !op.successors[i].operands.empty()) {
        put("(");
        printValues(op.successors[i].operands);
        put(" : ");
        std::vector<ir::Type> types;
        for (const ir::Value* value : op.successors[i].operands) types.push_back(value->type);
        printTypes(types);
        put(")");
      }
    }
    put("]");
  }
  // What the table names is a property; everything else a discardable attribute.
  std::string properties;
  std::vector<std::string_view> hidden;
  for (const ir::NamedAttribute& entry : op.attributes) {
    if (!op.info || !op.info->attribute(entry.first)) continue;
    hidden.push_back(entry.first);
    if (isDefault(op, entry)) continue;
    properties += (properties.empty() ? "" : ", ") + attributeText(op, entry);
  }
  // Empty arrays are properties that MLIR has no default for.
  if (op.info)
    for (const dialects::AttributeInfo& info : op.info->attributes)
      if (info.defaultText == "[]" && !op.attribute(info.name))
        properties += (properties.empty() ? "" : ", ") + info.name + " = array<i32>";
  if (op.info && op.info->has(dialects::Trait::SegmentSizes) && !segments.empty()) {
    properties += properties.empty() ? "operandSegmentSizes = array<i32" : ", operandSegmentSizes = array<i32";
    for (size_t i = 0; i < segments.size(); ++i) properties += fmt::format("{}{}", i ? ", " : ": ", segments[i]);
    properties += ">";
  }
  if (!properties.empty()) put(" <{" + properties + "}>");
  if (!op.regions.empty()) {
    put(" (");
    for (size_t i = 0; i < op.regions.size(); ++i) {
      if (i) put(", ");
      printRegion(*op.regions[i], true);
    }
    put(")");
  }
  printAttrDict(op, hidden);
  put(" :");
  std::vector<ir::Type> inputs, results;
  for (const ir::Value* value : operands) inputs.push_back(value->type);
  for (const auto& value : op.results) results.push_back(value->type);
  printFunctionalType(inputs, results);
}

void Printer::printBlockArguments(const ir::Block& block) {
  if (block.arguments.empty()) return;
  put("(");
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    if (i) put(", ");
    put(valueText(block.arguments[i].get()) + ": " + block.arguments[i]->type.str());
    printLocation(block.arguments[i]->location);
  }
  put(")");
}

void Printer::printBlock(const ir::Block& block, bool label, bool elideYield) {
  if (label) {
    newLine();
    auto found = blockNames_.find(&block);
    put(found == blockNames_.end() ? "^<unknown>" : found->second);
    printBlockArguments(block);
    put(":");
  }
  ++indent_;
  for (size_t i = 0; i < block.operations.size(); ++i) {
    const ir::Operation& op = *block.operations[i];
    if (elideYield && i + 1 == block.operations.size() && op.name == "scf.yield" && op.operands.empty() && op.attributes.empty())
      break;
    newLine();
    printOp(op);
  }
  --indent_;
}

/// `entryArguments`: the entry block's arguments are not written elsewhere (as a function's are).
void Printer::printRegion(const ir::Region& region, bool entryArguments, bool elideYield) {
  put("{");
  for (size_t i = 0; i < region.blocks.size(); ++i) {
    const ir::Block& block = *region.blocks[i];
    // The entry needs a label for its arguments, or to be there at all.
    const bool label = i > 0 || (entryArguments && (!block.arguments.empty() || (block.operations.empty() && !elideYield)));
    printBlock(block, label, elideYield && i + 1 == region.blocks.size());
  }
  newLine();
  put("}");
}

void Printer::printSuccessor(const ir::Successor& successor) {
  auto found = blockNames_.find(successor.block);
  putWord(found == blockNames_.end() ? "^<unknown>" : found->second);
  if (successor.operands.empty()) return;
  put("(");
  printValues(successor.operands);
  put(" :");
  std::vector<ir::Type> types;
  for (const ir::Value* value : successor.operands) types.push_back(value->type);
  printTypes(types);
  put(")");
}

}  // namespace tilesight::text
