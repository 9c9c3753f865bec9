// Operations with syntax of their own: modules, functions, loops, branches, constants.
#include <fmt/format.h>

#include "ir/spelling.h"
#include "text/printer.h"

namespace tilesight::text {

namespace {

std::vector<ir::Type> resultTypes(const ir::Operation& op) {
  std::vector<ir::Type> types;
  for (const auto& result : op.results) types.push_back(result->type);
  return types;
}

/// The attributes of argument or result `index`: a dictionary, or null.
ir::Attribute attributesOf(const ir::Operation& op, std::string_view key, size_t index) {
  const ir::Attribute list = op.attribute(key);
  if (!list || list.kind() != ir::AttributeKind::Array || index >= list->elements.size()) return {};
  const ir::Attribute dictionary = list->elements[index];
  return dictionary.kind() == ir::AttributeKind::Dictionary && !dictionary->entries.empty() ? dictionary : ir::Attribute();
}

/// True if `weights([...])` can say it.
bool isWeights(ir::Attribute weights) {
  if (!weights || weights.kind() != ir::AttributeKind::DenseArray || weights->type.elementKind() != ir::ElementKind::I32) return false;
  for (int64_t weight : weights->integers)
    if (weight < 0) return false;
  return true;
}

}  // namespace

/// False if `op` lacks the parts that its syntax needs: it is then written in generic form.
bool Printer::printCustom(const ir::Operation& op) {
  const std::string& name = op.name;
  if (name == "builtin.module") return printModuleOp(op), true;
  if (name == "tt.func" || name == "tile.func") return printFunc(op), true;
  if (name == "scf.for") return printFor(op), true;
  if (name == "scf.if") return printIf(op), true;
  if (name == "scf.while") return printWhile(op), true;
  if (name == "arith.select") return printSelect(op), true;
  if (name == "arith.constant") {
    printAttrDict(op, {"value"});
    putWord(op.attribute("value").str());
    return true;
  }
  if (name == "cf.br") {
    for (const ir::Successor& successor : op.successors) printSuccessor(successor);
    printAttrDict(op, {});
    return true;
  }
  if (name == "cf.cond_br") {
    printValues(op.operands);
    const ir::Attribute weights = op.attribute("branch_weights");
    const bool plain = isWeights(weights);
    if (plain) {
      put(" weights([");
      for (size_t i = 0; i < weights->integers.size(); ++i)
        put(fmt::format("{}{}", i ? ", " : "", weights->integers[i]));
      put("])");
    }
    for (const ir::Successor& successor : op.successors) {
      put(",");
      printSuccessor(successor);
    }
    printAttrDict(op, plain ? std::vector<std::string_view>{"branch_weights"} : std::vector<std::string_view>{});
    return true;
  }
  return false;
}

void Printer::printModuleOp(const ir::Operation& op) {
  if (op.attribute("sym_name")) putWord(ir::symbolText(op.string("sym_name")));
  printAttrDict(op, {"sym_name"}, "attributes");
  put(" ");
  printRegion(*op.regions[0], false);
}

void Printer::printFunc(const ir::Operation& op) {
  if (!op.string("sym_visibility").empty()) putWord(op.string("sym_visibility"));
  putWord(ir::symbolText(op.string("sym_name")));
  put("(");
  const ir::Type type = op.attribute("function_type") ? op.attribute("function_type")->type : ir::Type();
  const ir::Region* body = op.regions.empty() || op.regions[0]->empty() ? nullptr : op.regions[0].get();
  const size_t count = type ? type->inputs.size() : 0;
  for (size_t i = 0; i < count; ++i) {
    if (i) put(", ");
    const ir::Value* argument = body && i < body->blocks[0]->arguments.size() ? body->blocks[0]->arguments[i].get() : nullptr;
    if (argument) put(valueText(argument) + ": ");
    put(type->inputs[i].str());
    if (ir::Attribute attributes = attributesOf(op, "arg_attrs", i)) put(" " + attributes.str());
    if (argument) printLocation(argument->location);
  }
  put(")");
  if (type && !type->results.empty()) {
    put(" ->");
    bool anyAttributes = false;
    for (size_t i = 0; i < type->results.size(); ++i) anyAttributes = anyAttributes || attributesOf(op, "res_attrs", i);
    if (!anyAttributes) {
      printResultTypes(type->results);
    } else {
      put(" (");
      for (size_t i = 0; i < type->results.size(); ++i) {
        if (i) put(", ");
        put(type->results[i].str());
        if (ir::Attribute attributes = attributesOf(op, "res_attrs", i)) put(" " + attributes.str());
      }
      put(")");
    }
  }
  printAttrDict(op, {"sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"}, "attributes");
  if (!body) return;
  put(" ");
  printRegion(*body, false);
}

void Printer::printAssignments(const ir::Block& block, size_t firstArgument, const std::vector<ir::Value*>& operands, size_t firstOperand) {
  put("(");
  for (size_t i = firstArgument; i < block.arguments.size() && i - firstArgument + firstOperand < operands.size(); ++i) {
    if (i > firstArgument) put(", ");
    put(valueText(block.arguments[i].get()) + " = " + valueText(operands[i - firstArgument + firstOperand]));
  }
  put(")");
}

void Printer::printFor(const ir::Operation& op) {
  if (op.operands.size() < 3 || op.regions.empty() || op.regions[0]->empty() || op.regions[0]->blocks[0]->arguments.empty()) {
    put(" <incomplete>");
    return;
  }
  const ir::Block& body = *op.regions[0]->blocks[0];
  if (op.attribute("unsignedCmp")) put(" unsigned");
  put(fmt::format(" {} = {} to {} step {}", valueText(body.arguments[0].get()), valueText(op.operands[0]),
                  valueText(op.operands[1]), valueText(op.operands[2])));
  if (op.operands.size() > 3) {
    put(" iter_args");
    printAssignments(body, 1, op.operands, 3);
    put(" -> (");
    printTypes(resultTypes(op));
    put(")");
  }
  const ir::Type type = body.arguments[0]->type;
  if (type && type.kind() != ir::TypeKind::Index) put(" : " + type.str());
  put(" ");
  printRegion(*op.regions[0], false, op.results.empty());
  printAttrDict(op, {"unsignedCmp"});
}

void Printer::printIf(const ir::Operation& op) {
  printValues(op.operands);
  if (!op.results.empty()) {
    put(" -> (");
    printTypes(resultTypes(op));
    put(")");
  }
  put(" ");
  if (!op.regions.empty()) printRegion(*op.regions[0], false, op.results.empty());
  if (op.regions.size() > 1 && !op.regions[1]->empty()) {
    put(" else ");
    printRegion(*op.regions[1], false, op.results.empty());
  }
  printAttrDict(op, {});
}

void Printer::printWhile(const ir::Operation& op) {
  if (op.regions.size() < 2 || op.regions[0]->empty()) {
    put(" <incomplete>");
    return;
  }
  if (!op.operands.empty()) {
    put(" ");
    printAssignments(*op.regions[0]->blocks[0], 0, op.operands, 0);
  }
  std::vector<ir::Type> inputs;
  for (const ir::Value* value : op.operands) inputs.push_back(value->type);
  put(" :");
  printFunctionalType(inputs, resultTypes(op));
  put(" ");
  printRegion(*op.regions[0], false);
  put(" do ");
  printRegion(*op.regions[1], true);
  printAttrDict(op, {}, "attributes");
}

void Printer::printSelect(const ir::Operation& op) {
  printValues(op.operands);
  printAttrDict(op, {});
  put(" :");
  if (op.operands.size() == 3 && op.operands[0]->type.isTensor()) {
    putWord(op.operands[0]->type.str());
    put(",");
  }
  printTypes(resultTypes(op));
}

}  // namespace tilesight::text
