// Modules, functions, constants and branches: operations with syntax of their own.
#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

/// `module` @name? (`attributes` dict)? region
bool Parser::parseModuleOp(ir::Operation& op) {
  if (is(TokenKind::AtId)) {
    std::string name;
    if (!parseSymbol(name)) return false;
    op.attributes.emplace_back("sym_name", context_.string(std::move(name)));
  }
  if (take("attributes")) {
    if (!at("{")) return errorHere("'{' after 'attributes'");
    if (!parseOptionalAttributes(op)) return false;
  }
  ir::Region* region = ir::addRegion(op);
  if (!parseRegion(*region, {}, true)) return false;
  if (region->empty()) ir::addBlock(*region);
  return true;
}

/// visibility? @name `(` arguments `)` (`->` results)? (`attributes` dict)? region?
bool Parser::parseFunc(ir::Operation& op) {
  std::string visibility, name;
  if (at("public") || at("private") || at("nested")) {
    visibility = token_.text;
    advance();
  }
  if (!parseSymbol(name)) return false;
  op.attributes.emplace_back("sym_name", context_.string(std::move(name)));

  std::vector<InlineArgument> arguments;
  std::vector<ir::Type> inputs, results;
  std::vector<ir::Attribute> argumentAttributes, resultAttributes;
  bool anyArgumentAttributes = false, anyResultAttributes = false;
  const uint32_t argumentsOffset = token_.offset;
  const auto parseAttributesOfOne = [&](std::vector<ir::Attribute>& list, bool& any) {
    std::vector<ir::NamedAttribute> entries;
    if (at("{") && !parseAttributeDictionary(entries)) return false;
    any = any || !entries.empty();
    list.push_back(context_.dictionary(std::move(entries)));
    return true;
  };
  if (!parseList("(", ")", "around arguments", [&] {
        InlineArgument argument;
        if (is(TokenKind::PercentId)) {
          argument.name = token_.text;
          argument.offset = token_.offset;
          advance();
          if (!expect(":", "after the name of an argument")) return false;
        }
        if (!parseType(argument.type) || !parseAttributesOfOne(argumentAttributes, anyArgumentAttributes) ||
            !parseOptionalLocation(argument.location))
          return false;
        inputs.push_back(argument.type);
        arguments.push_back(argument);
        return true;
      }))
    return false;

  if (take("->")) {
    if (at("(")) {
      if (!parseList("(", ")", "around results", [&] {
            ir::Type type;
            if (!parseType(type)) return false;
            results.push_back(type);
            return parseAttributesOfOne(resultAttributes, anyResultAttributes);
          }))
        return false;
    } else {
      ir::Type type;
      if (!parseType(type)) return false;
      results.push_back(type);
    }
  }
  op.attributes.emplace_back("function_type", context_.typeAttr(context_.function(inputs, results)));
  if (!visibility.empty()) op.attributes.emplace_back("sym_visibility", context_.string(visibility));
  if (anyArgumentAttributes) op.attributes.emplace_back("arg_attrs", context_.array(argumentAttributes));
  if (anyResultAttributes) op.attributes.emplace_back("res_attrs", context_.array(resultAttributes));

  if (take("attributes")) {
    if (!at("{")) return errorHere("'{' after 'attributes'");
    if (!parseOptionalAttributes(op)) return false;
  }
  ir::Region* region = ir::addRegion(op);
  if (!at("{")) return true;  // a declaration
  for (const InlineArgument& argument : arguments)
    if (argument.name.empty()) return error(argumentsOffset, "arguments of a function with a body need names");
  const uint32_t bodyOffset = token_.offset;
  if (!parseRegion(*region, arguments, true)) return false;
  if (region->empty() || (region->blocks.size() == 1 && region->blocks[0]->operations.empty()))
    return error(bodyOffset, "the body of a function needs an operation");
  return true;
}

/// dict? attribute-with-type
bool Parser::parseConstant(ir::Operation& op) {
  if (!parseOptionalAttributes(op)) return false;
  const uint32_t offset = token_.offset;
  ir::Attribute value;
  if (!parseAttribute(value)) return false;
  ir::Type type = value->type;
  switch (value.kind()) {
    case ir::AttributeKind::Bool:
    case ir::AttributeKind::Integer:
    case ir::AttributeKind::Float:
    case ir::AttributeKind::DenseElements: break;
    case ir::AttributeKind::Opaque:
      // `dense<...> : vector<...>` and the like: the type is not modelled.
      type = context_.opaqueType("none");
      if (size_t colon = value->text.rfind(" : "); colon != std::string::npos)
        type = context_.opaqueType(value->text.substr(colon + 3));
      break;
    default: return error(offset, "a constant must be a number, or data of a tensor");
  }
  if (op.attribute("value")) return error(offset, "attribute 'value' occurs twice");
  op.attributes.emplace_back("value", value);
  addResults(op, {type});
  return true;
}

/// %c `,` %a `,` %b dict? `:` (type | type-of-c `,` type)
bool Parser::parseSelect(ir::Operation& op) {
  const uint32_t begin = token_.offset;
  std::vector<ValueUse> uses(3);
  if (!parseValueUse(uses[0]) || !expect(",", "after the condition") || !parseValueUse(uses[1]) ||
      !expect(",", "between the values") || !parseValueUse(uses[2]) || !parseOptionalAttributes(op) ||
      !expect(":", "before the type"))
    return false;
  ir::Type condition = context_.integer(1), type;
  if (!parseType(type)) return false;
  if (take(",")) {
    condition = type;
    if (!parseType(type)) return false;
  }
  if (!resolveAll(uses, {condition, type, type}, op.operands, begin)) return false;
  addResults(op, {type});
  return true;
}

bool Parser::parseBranch(ir::Operation& op) {
  ir::Successor successor;
  if (!parseSuccessor(successor)) return false;
  op.successors.push_back(std::move(successor));
  return parseOptionalAttributes(op);
}

/// %c (`weights` `(` [...] `)`)? `,` successor `,` successor dict?
bool Parser::parseCondBranch(ir::Operation& op) {
  ValueUse condition;
  if (!parseValueUse(condition)) return false;
  if (take("weights")) {
    std::vector<int64_t> weights;
    if (!expect("(", "after 'weights'") || !parseList("[", "]", "around weights", [&] {
          uint32_t weight = 0;
          if (!parseUnsigned(weight, "a weight")) return false;
          weights.push_back(static_cast<int32_t>(weight));
          return true;
        }) ||
        !expect(")", "after the weights"))
      return false;
    op.attributes.emplace_back("branch_weights", context_.denseArray(std::move(weights), context_.integer(32)));
  }
  ir::Value* value = nullptr;
  if (!resolve(condition, context_.integer(1), value)) return false;
  op.operands.push_back(value);
  for (int i = 0; i < 2; ++i) {
    ir::Successor successor;
    if (!expect(",", "before a block") || !parseSuccessor(successor)) return false;
    op.successors.push_back(std::move(successor));
  }
  return parseOptionalAttributes(op);
}

}  // namespace tilesight::text
