// Operations whose syntax is a format string of the tables.
#include <fmt/format.h>

#include "ir/type_rules.h"
#include "text/parser.h"

namespace tilesight::text {

using dialects::Arity;
using dialects::AttributeForm;
using dialects::FormatElement;

/// What has been read of one operation: uses and types by operand group, types by result group.
struct Parser::FormatState {
  ir::Operation& op;
  const dialects::OpInfo& info;
  uint32_t begin;
  std::vector<std::vector<ValueUse>> uses;
  std::vector<std::optional<std::vector<ir::Type>>> operandTypes, resultTypes;

  FormatState(ir::Operation& operation, uint32_t offset)
      : op(operation), info(*operation.info), begin(offset), uses(info.operands.size()),
        operandTypes(info.operands.size()), resultTypes(info.results.size()) {}
  size_t useCount() const {
    size_t count = 0;
    for (const auto& group : uses) count += group.size();
    return count;
  }
};

bool Parser::parseFormat(ir::Operation& op) {
  FormatState state(op, token_.offset);
  return parseElements(state, op.info->elements) && inferTypes(state) && finishFormat(state);
}

bool Parser::parseElements(FormatState& state, const std::vector<FormatElement>& elements) {
  for (const FormatElement& element : elements)
    if (!parseElement(state, element)) return false;
  return true;
}

/// Whether an optional group is there shows in its first element.
bool Parser::startsWith(const FormatElement& element, const dialects::OpInfo& info) const {
  switch (element.kind) {
    case FormatElement::Kind::Literal: return at(element.text);
    case FormatElement::Kind::Operand:
    case FormatElement::Kind::AllOperands: return is(TokenKind::PercentId);
    case FormatElement::Kind::Attribute: {
      const dialects::AttributeInfo& attribute = info.attributes[element.index];
      switch (attribute.form) {
        case AttributeForm::Enum: return is(TokenKind::BareId) && attribute.enumeration->value(token_.text);
        case AttributeForm::String: return is(TokenKind::String);
        case AttributeForm::Symbol: return is(TokenKind::AtId);
        default: return false;
      }
    }
    default: return false;
  }
}

bool Parser::parseElement(FormatState& state, const FormatElement& element) {
  using Kind = FormatElement::Kind;
  const dialects::OpInfo& info = state.info;
  switch (element.kind) {
    case Kind::Literal:
      return take(element.text) || errorHere(fmt::format("'{}' in '{}'", element.text, info.name));
    case Kind::Operand: {
      const Arity arity = info.operands[element.index].arity;
      auto& uses = state.uses[element.index];
      if (arity == Arity::Variadic) return parseValueUses(uses);
      if (arity == Arity::Optional && !is(TokenKind::PercentId)) return true;
      if (!is(TokenKind::PercentId))
        return errorHere(fmt::format("operand '{}' of '{}'", info.operands[element.index].name, info.name));
      return parseValueUse(uses.emplace_back());
    }
    case Kind::AllOperands: {
      std::vector<ValueUse> all;
      const uint32_t offset = token_.offset;
      std::vector<uint32_t> segments;
      if (!parseValueUses(all)) return false;
      if (!dialects::inferSegments(info, all.size(), segments))
        return error(offset, fmt::format("'{}' cannot have {} operands", info.name, all.size()));
      size_t next = 0;
      for (size_t i = 0; i < state.uses.size(); ++i)
        for (uint32_t n = segments.empty() ? 1 : segments[i]; n > 0; --n) state.uses[i].push_back(all[next++]);
      return true;
    }
    case Kind::Attribute: return parseFormatAttribute(state, info.attributes[element.index]);
    case Kind::AttrDict:
      if (element.withKeyword) return !take("attributes") || parseOptionalAttributes(state.op);
      return parseOptionalAttributes(state.op);
    case Kind::Type:
    case Kind::FunctionalType: return parseTypesOf(state, element);
    case Kind::Optional:
      if (element.children.empty() || !startsWith(element.children[0], info)) return true;
      return parseElements(state, element.children);
    case Kind::OrList:
      for (bool found = true; found;) {
        found = false;
        for (const auto& clause : element.clauses) {
          if (clause.empty() || !startsWith(clause[0], info)) continue;
          if (!parseElements(state, clause)) return false;
          found = true;
        }
      }
      return true;
  }
  return true;
}

bool Parser::parseFormatAttribute(FormatState& state, const dialects::AttributeInfo& info) {
  const uint32_t offset = token_.offset;
  ir::Attribute value;
  switch (info.form) {
    case AttributeForm::Enum:
      if (!is(TokenKind::BareId) || !info.enumeration->value(token_.text)) {
        std::string names;
        for (const auto& [name, number] : info.enumeration->cases) names += (names.empty() ? "" : ", ") + name;
        return errorHere(fmt::format("{} (one of {})", info.name, names));
      }
      value = context_.keyword(std::string(token_.text));
      advance();
      break;
    case AttributeForm::Bits: {
      std::string words;
      do {
        if (!is(TokenKind::BareId) || !info.enumeration->value(token_.text)) return errorHere(info.name);
        words += (words.empty() ? "" : "|") + std::string(token_.text);
        advance();
      } while (take("|"));
      value = context_.keyword(std::move(words));
      break;
    }
    case AttributeForm::Flags: {
      std::string words;
      do {
        std::string word;
        if (!parseBareWord(word, info.name)) return false;
        words += (words.empty() ? "" : ",") + word;
      } while (take(","));
      value = context_.keyword(std::move(words));
      break;
    }
    case AttributeForm::Unit: value = context_.unit(); break;
    case AttributeForm::String: {
      std::string text;
      if (!parseString(text)) return false;
      value = context_.string(std::move(text));
      break;
    }
    case AttributeForm::Symbol: {
      if (!is(TokenKind::AtId)) return errorHere("a symbol");
      if (!parseAttribute(value)) return false;
      break;
    }
    default:
      if (!parseAttribute(value)) return false;
  }
  return addAttribute(state.op, info.name, value, offset);
}

/// Gives the types read for "operands", "results" or one group.
bool Parser::setTypes(FormatState& state, std::string_view what, std::vector<ir::Type> types, uint32_t offset) {
  const auto wrongCount = [&](size_t wanted) {
    return error(offset, fmt::format("'{}' needs {} types here, but has {}", state.info.name, wanted, types.size()));
  };
  if (int group = state.info.operandGroup(what); group >= 0) {
    if (types.size() != state.uses[group].size()) return wrongCount(state.uses[group].size());
    state.operandTypes[group] = std::move(types);
    return true;
  }
  if (int group = state.info.resultGroup(what); group >= 0) {
    if (state.info.results[group].arity == Arity::One && types.size() != 1) return wrongCount(1);
    state.resultTypes[group] = std::move(types);
    return true;
  }
  if (what == "operands") {
    if (types.size() != state.useCount()) return wrongCount(state.useCount());
    auto next = types.begin();
    for (size_t i = 0; i < state.uses.size(); ++i) {
      state.operandTypes[i] = std::vector<ir::Type>(next, next + state.uses[i].size());
      next += state.uses[i].size();
    }
    return true;
  }
  // "results": at most one group takes other than one.
  size_t fixed = 0;
  bool variadic = false;
  for (const auto& group : state.info.results) group.arity == Arity::One ? void(++fixed) : void(variadic = true);
  if (variadic ? types.size() < fixed : types.size() != fixed) return wrongCount(fixed);
  size_t next = 0;
  for (size_t i = 0; i < state.info.results.size(); ++i) {
    const size_t size = state.info.results[i].arity == Arity::One ? 1 : types.size() - fixed;
    state.resultTypes[i] = std::vector<ir::Type>(types.begin() + next, types.begin() + next + size);
    next += size;
  }
  return true;
}

bool Parser::parseTypesOf(FormatState& state, const FormatElement& element) {
  const uint32_t offset = token_.offset;
  if (element.kind == FormatElement::Kind::FunctionalType) {
    ir::Type type;
    if (!at("(")) return errorHere("a function type");
    if (!parseFunctionType(type)) return false;
    return setTypes(state, element.text, type->inputs, offset) && setTypes(state, element.second, type->results, offset);
  }
  std::vector<ir::Type> types;
  bool wanted = true;
  if (element.index < 0) {
    wanted = element.text == "operands" ? state.useCount() > 0 : !state.info.results.empty();
  } else if (!element.ofResult) {
    wanted = !state.uses[element.index].empty();
  }
  if (element.index >= 0 && element.ofResult && state.info.results[element.index].arity == Arity::Variadic) wanted = atType();
  const bool single = element.index >= 0 && (element.ofResult ? state.info.results : state.info.operands)[element.index].arity != Arity::Variadic;
  if (wanted && single) {
    ir::Type type;
    if (element.abbreviated && at("<")) {
      const auto& group = (element.ofResult ? state.info.results : state.info.operands)[element.index];
      const bool isPointer = group.type == dialects::TypeClass::Pointer;
      if (!(isPointer ? parsePointerBody(type) : parseDescriptorBody(type))) return false;
    } else if (!parseType(type)) {
      return false;
    }
    types.push_back(type);
  } else if (wanted && !parseTypeList(types)) {
    return false;
  }
  return setTypes(state, element.text, std::move(types), offset);
}

/// Types that the text leaves out follow from the table's rules and from classes of one type.
bool Parser::inferTypes(FormatState& state) {
  const dialects::OpInfo& info = state.info;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    if (state.operandTypes[i]) continue;
    const ir::Type only = ir::onlyType(context_, info.operands[i]);
    if (only || state.uses[i].empty()) state.operandTypes[i] = std::vector<ir::Type>(state.uses[i].size(), only);
  }
  const auto typesOf = [&](const std::string& name) -> std::optional<std::vector<ir::Type>>& {
    int group = info.operandGroup(name);
    return group >= 0 ? state.operandTypes[group] : state.resultTypes[info.resultGroup(name)];
  };
  for (bool changed = true; changed;) {
    changed = false;
    const auto derive = [&](dialects::RuleKind kind, const std::string& from, const std::string& to) {
      auto& source = typesOf(from);
      auto& target = typesOf(to);
      if (!source || target || source->size() != 1) return true;
      ir::Type type = ir::deriveType(context_, kind, (*source)[0]);
      if (!type) return error(state.begin, fmt::format("'{}': {} of type {} gives no type for {}", info.name, from, (*source)[0].str(), to));
      target = std::vector<ir::Type>{type};
      changed = true;
      return true;
    };
    for (const dialects::TypeRule& rule : info.rules) {
      if (rule.kind >= dialects::RuleKind::SameShape) continue;
      if (!derive(rule.kind, rule.source, rule.target)) return false;
      if (rule.kind == dialects::RuleKind::Same && !derive(rule.kind, rule.target, rule.source)) return false;
    }
  }
  return true;
}

bool Parser::finishFormat(FormatState& state) {
  const dialects::OpInfo& info = state.info;
  ir::Operation& op = state.op;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    if (!state.operandTypes[i])
      return error(state.begin, fmt::format("'{}': the type of {} is not known", info.name, info.operands[i].name));
    if (!resolveAll(state.uses[i], *state.operandTypes[i], op.operands, state.begin)) return false;
    if (info.hasSegments()) op.operandSegments.push_back(static_cast<uint32_t>(state.uses[i].size()));
  }
  for (size_t i = 0; i < info.results.size(); ++i) {
    if (!state.resultTypes[i]) {
      ir::Type only = ir::onlyType(context_, info.results[i]);
      if (!only || info.results[i].arity != Arity::One)
        return error(state.begin, fmt::format("'{}': the type of {} is not known", info.name, info.results[i].name));
      state.resultTypes[i] = std::vector<ir::Type>{only};
    }
    addResults(op, *state.resultTypes[i]);
  }
  return true;
}

}  // namespace tilesight::text
