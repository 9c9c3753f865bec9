// Operations written by the format strings of the tables.
#include <fmt/format.h>

#include "ir/spelling.h"
#include "text/printer.h"

namespace tilesight::text {

using dialects::AttributeForm;
using dialects::FormatElement;
using Kind = FormatElement::Kind;

namespace {

/// Attributes that the format itself writes; the rest goes into attr-dict.
void collectNamed(const std::vector<FormatElement>& elements, std::vector<std::string_view>& names) {
  for (const FormatElement& element : elements) {
    if (element.kind == Kind::Attribute) names.push_back(element.text);
    collectNamed(element.children, names);
    for (const auto& clause : element.clauses) collectNamed(clause, names);
  }
}

}  // namespace

std::vector<ir::Value*> Printer::operandsOf(const ir::Operation& op, int group) const {
  size_t begin = 0, size = 1;
  if (op.operandSegments.empty()) {
    begin = static_cast<size_t>(group);
  } else {
    for (int i = 0; i < group; ++i) begin += op.operandSegments[i];
    size = op.operandSegments[group];
  }
  std::vector<ir::Value*> values;
  for (size_t i = begin; i < begin + size && i < op.operands.size(); ++i) values.push_back(op.operands[i]);
  return values;
}

std::vector<ir::Type> Printer::typesOf(const ir::Operation& op, std::string_view name) const {
  std::vector<ir::Type> types;
  if (int group = op.info->operandGroup(name); group >= 0) {
    for (const ir::Value* value : operandsOf(op, group)) types.push_back(value->type);
  } else if (name == "operands") {
    for (const ir::Value* value : op.operands) types.push_back(value->type);
  } else {
    const int result = op.info->resultGroup(name);
    const bool one = result >= 0 && op.info->results[result].arity == dialects::Arity::One;
    for (size_t i = 0; i < op.results.size(); ++i)
      if (!one || static_cast<int>(i) == result) types.push_back(op.results[i]->type);
  }
  return types;
}

bool Printer::isPresent(const ir::Operation& op, const FormatElement& element) const {
  switch (element.kind) {
    case Kind::Operand: return !operandsOf(op, element.index).empty();
    case Kind::AllOperands: return !op.operands.empty();
    case Kind::Attribute: {
      const ir::Attribute value = op.attribute(element.text);
      return value && !isDefault(op, {element.text, value});
    }
    case Kind::Type: return !typesOf(op, element.text).empty();
    default: return true;
  }
}

void Printer::printFormat(const ir::Operation& op) {
  for (const FormatElement& element : op.info->elements) printElement(op, element);
}

void Printer::printFormatAttribute(const ir::Operation& op, const dialects::AttributeInfo& info) {
  if (info.form == AttributeForm::Unit) return;
  const ir::Attribute value = op.attribute(info.name);
  if (!value) {
    if (info.hasDefault) putWord(info.defaultText);
    return;
  }
  putWord(value.str());
}

void Printer::printElement(const ir::Operation& op, const FormatElement& element) {
  switch (element.kind) {
    case Kind::Literal: return putLiteral(element.text);
    case Kind::Operand: return printValues(operandsOf(op, element.index));
    case Kind::AllOperands: return printValues(op.operands);
    case Kind::Attribute: return printFormatAttribute(op, op.info->attributes[element.index]);
    case Kind::Type: {
      const std::vector<ir::Type> types = typesOf(op, element.text);
      if (element.abbreviated && types.size() == 1 && (types[0].isPointer() || types[0].kind() == ir::TypeKind::Descriptor)) {
        const std::string text = types[0].str();
        // The one `<` that stands alone has a space before it.
        put(" " + text.substr(text.find('<')));
        return;
      }
      return printTypes(types);
    }
    case Kind::FunctionalType:
      return printFunctionalType(typesOf(op, element.text), typesOf(op, element.second));
    case Kind::AttrDict: {
      std::vector<std::string_view> named;
      collectNamed(op.info->elements, named);
      return printAttrDict(op, named, element.withKeyword ? "attributes" : "");
    }
    case Kind::Optional:
      if (isPresent(op, element.children[element.anchor]))
        for (const FormatElement& child : element.children) printElement(op, child);
      return;
    case Kind::OrList:
      for (const auto& clause : element.clauses) {
        bool present = true;
        for (const FormatElement& child : clause)
          if (child.kind != Kind::Literal) present = present && isPresent(op, child);
        if (present)
          for (const FormatElement& child : clause) printElement(op, child);
      }
      return;
  }
}

}  // namespace tilesight::text
