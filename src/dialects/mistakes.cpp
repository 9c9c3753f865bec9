// What is wrong with rows of plugins. Their formats must be such that what is written can be read back, and that every type
// follows from what is written.
#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "dialects/added.h"

namespace tilesight::dialects {

namespace {

using Kind = FormatElement::Kind;

/// Whether the lexer of src/text reads it as one token.
bool isToken(std::string_view text) {
  if (text == "->" || text == "::") return true;
  if (text.size() == 1 && std::string_view("()[]{}<>,=:+*?|/-").find(text[0]) != std::string_view::npos) return true;
  if (text.empty() || !(isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_')) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return isalnum(c) || c == '_' || c == '$' || c == '.'; });
}

bool isIntegerText(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end && !text.empty();
}

class Checker {
 public:
  explicit Checker(const OpInfo& info) : info_(info) {}

  std::string check() {
    if (info_.isCustom()) return "the format 'custom' is for the core: it has a function of its own there";
    for (auto [trait, name] : {std::pair(Trait::Function, "function"), {Trait::Call, "call"}, {Trait::ImplicitYield, "implicit-yield"}})
      if (info_.has(trait)) return fmt::format("the trait '{}' is for operations of the core", name);
    if (!info_.successors.empty()) return "only operations of the core can have successors";
    if (info_.has(Trait::Pure) && (info_.has(Trait::Reads) || info_.has(Trait::Writes))) return "it is pure, and reads or writes";
    names();
    attributes();
    if (error_.empty() && !info_.isGeneric()) {
      if (!info_.regions.empty()) fail("no format can write regions: use 'generic'");
      elements(info_.elements, false);
      everythingIsThere();
      typesAreKnown();
    }
    return error_;
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  void name(const std::string& name) {
    const bool good = !name.empty() && !isdigit(static_cast<unsigned char>(name[0])) &&
                      std::all_of(name.begin(), name.end(), [](unsigned char c) { return isalnum(c) || c == '_'; });
    if (!good) return fail(fmt::format("'{}' is no name", name));
    const bool isAll = (name == "operands" && info_.operands.size() == 1) || (name == "results" && info_.results.size() == 1);
    if ((name == "operands" || name == "results") && !isAll) return fail(fmt::format("'{}' is no name of one group: it means all", name));
    if (!names_.insert(name).second) fail(fmt::format("'{}' is there twice", name));
  }

  void names() {
    size_t several = 0;
    for (const ValueGroup& group : info_.operands) name(group.name), several += group.arity != Arity::One;
    if (several > 1 && !info_.has(Trait::SegmentSizes) && !info_.has(Trait::EqualVariadics))
      fail("several operands that may be absent, or be any number, need the trait 'segments' (or 'equal-variadics')");
    several = 0;
    for (const ValueGroup& group : info_.results) {
      name(group.name);
      if (group.arity == Arity::Optional) fail(fmt::format("result '{}' cannot be optional; it can be any number", group.name));
      several += group.arity == Arity::Variadic;
    }
    if (several > 1) fail("several groups of any number of results cannot be told apart");
  }

  void attributes() {
    for (const AttributeInfo& info : info_.attributes) {
      name(info.name);
      if (!info.hasDefault) continue;
      const std::string& text = info.defaultText;
      bool good = false;
      switch (info.form) {
        case AttributeForm::Bool: good = text == "true" || text == "false"; break;
        case AttributeForm::I32:
        case AttributeForm::I64: good = isIntegerText(text); break;
        case AttributeForm::Enum: good = info.enumeration->value(text); break;
        case AttributeForm::I32Array:
        case AttributeForm::I64Array: good = text == "[]"; break;
        case AttributeForm::Flags: good = text == "none"; break;
        default: break;
      }
      if (!good) fail(fmt::format("attribute '{}' cannot have the default '{}'", info.name, text));
    }
  }

  void seen(std::set<std::string>& there, const std::string& name, const char* what) {
    if (!there.insert(name).second) fail(fmt::format("{} '{}' is in the format twice", what, name));
  }

  /// Whether the parser can see that a group begins with it.
  bool canBegin(const FormatElement& element) const {
    if (element.kind == Kind::Literal || element.kind == Kind::Operand || element.kind == Kind::AllOperands) return true;
    if (element.kind != Kind::Attribute) return false;
    const AttributeForm form = info_.attributes[static_cast<size_t>(element.index)].form;
    return form == AttributeForm::Enum || form == AttributeForm::String || form == AttributeForm::Symbol;
  }

  void elements(const std::vector<FormatElement>& list, bool optional) {
    for (size_t i = 0; i < list.size(); ++i) {
      const FormatElement& element = list[i];
      const FormatElement* next = i + 1 < list.size() ? &list[i + 1] : nullptr;
      switch (element.kind) {
        case Kind::Literal:
          if (!isToken(element.text)) fail(fmt::format("the literal `{}` is not one word or sign", element.text));
          break;
        case Kind::Operand: {
          seen(operands_, element.text, "operand");
          const Arity arity = info_.operands[static_cast<size_t>(element.index)].arity;
          if (arity != Arity::One && next && (next->kind == Kind::Operand || next->kind == Kind::AllOperands))
            fail(fmt::format("where '{}' ends and '{}' begins cannot be read", element.text, next->text));
          if (arity == Arity::Variadic && next && next->kind == Kind::Literal && next->text == ",")
            fail(fmt::format("the `,` after '{}' would be read as one of its own", element.text));
          break;
        }
        case Kind::AllOperands:
          for (const ValueGroup& group : info_.operands) seen(operands_, group.name, "operand");
          break;
        case Kind::Attribute: {
          seen(attributes_, element.text, "attribute");
          const AttributeInfo& attribute = info_.attributes[static_cast<size_t>(element.index)];
          if (!optional && (attribute.optional || attribute.form == AttributeForm::Unit)) fail(fmt::format("attribute '{}' may be absent: it needs an optional group", attribute.name));
          break;
        }
        case Kind::AttrDict: ++dictionaries_; break;
        case Kind::Type: type(element.text); break;
        case Kind::FunctionalType: type(element.text), type(element.second); break;
        case Kind::Optional:
          if (element.children.empty() || !canBegin(element.children[0])) fail("an optional group must begin with a literal, an operand, or an attribute that is an enum, a string or a symbol");
          elements(element.children, true);
          break;
        case Kind::OrList:
          for (const auto& clause : element.clauses) {
            if (clause.empty() || clause[0].kind != Kind::Literal) fail("a clause of an oilist must begin with a literal");
            elements(clause, true);
          }
          break;
      }
    }
  }

  void type(const std::string& name) {
    const auto all = [&](const std::vector<ValueGroup>& groups) {
      for (const ValueGroup& group : groups) known_.insert(group.name);
    };
    if (name == "operands") return all(info_.operands);
    if (name == "results") return all(info_.results);
    if (info_.operandGroup(name) < 0 && info_.resultGroup(name) < 0) fail(fmt::format("type of unknown value '{}'", name));
    seen(known_, name, "the type of");
  }

  void everythingIsThere() {
    if (dictionaries_ != 1) fail("the format needs attr-dict, once");
    for (const ValueGroup& group : info_.operands)
      if (!operands_.count(group.name)) fail(fmt::format("operand '{}' is not in the format", group.name));
  }

  const ValueGroup& groupOf(const std::string& name) const {
    const int operand = info_.operandGroup(name);
    return operand >= 0 ? info_.operands[static_cast<size_t>(operand)] : info_.results[static_cast<size_t>(info_.resultGroup(name))];
  }

  /// As the parser infers them.
  void typesAreKnown() {
    if (!error_.empty()) return;
    const auto isOne = [](const ValueGroup& group) {
      const bool only = group.type == TypeClass::I1 || group.type == TypeClass::I32 || group.type == TypeClass::I64 || group.type == TypeClass::Index || group.type == TypeClass::Token;
      return only && !group.like;
    };
    for (const ValueGroup& group : info_.operands)
      if (isOne(group)) known_.insert(group.name);
    for (const ValueGroup& group : info_.results)
      if (isOne(group) && group.arity == Arity::One) known_.insert(group.name);
    for (bool changed = true; changed;) {
      changed = false;
      const auto derive = [&](const std::string& from, const std::string& to) {
        if (!known_.count(from) || groupOf(from).arity != Arity::One || groupOf(to).arity == Arity::Variadic) return;
        changed |= known_.insert(to).second;
      };
      for (const TypeRule& rule : info_.rules) {
        if (rule.kind >= RuleKind::SameShape) continue;
        derive(rule.source, rule.target);
        if (rule.kind == RuleKind::Same) derive(rule.target, rule.source);
      }
    }
    for (const auto* groups : {&info_.operands, &info_.results})
      for (const ValueGroup& group : *groups)
        if (!known_.count(group.name)) fail(fmt::format("the type of '{}' follows neither from the format nor from a type rule", group.name));
  }

  const OpInfo& info_;
  std::string error_;
  std::set<std::string> names_, operands_, attributes_, known_;
  int dictionaries_ = 0;
};

}  // namespace

std::string mistakeIn(const OpInfo& info) { return Checker(info).check(); }

}  // namespace tilesight::dialects
