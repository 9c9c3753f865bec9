#include "dialects/row.h"

#include <charconv>
#include <unordered_map>

#include <fmt/format.h>

namespace tilesight::dialects {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Value, size_t size>
const Value* named(const std::pair<std::string_view, Value> (&list)[size], std::string_view name) {
  for (const auto& [word, value] : list)
    if (word == name) return &value;
  return nullptr;
}

constexpr std::pair<std::string_view, TypeClass> kClasses[] = {
    {"Any", TypeClass::Any},         {"Int", TypeClass::Int},
    {"Float", TypeClass::Float},     {"Numeric", TypeClass::Numeric},
    {"IntOrIndex", TypeClass::IntOrIndex}, {"Ptr", TypeClass::Pointer},
    {"I1", TypeClass::I1},           {"I32", TypeClass::I32},
    {"I64", TypeClass::I64},         {"Index", TypeClass::Index},
    {"Tensor", TypeClass::Tensor},   {"IntTensor", TypeClass::IntTensor},
    {"FloatTensor", TypeClass::FloatTensor}, {"Desc", TypeClass::Descriptor},
    {"View", TypeClass::View},       {"Token", TypeClass::Token}};

constexpr std::pair<std::string_view, AttributeForm> kForms[] = {
    {"any", AttributeForm::Any},       {"i32", AttributeForm::I32},
    {"i64", AttributeForm::I64},       {"bool", AttributeForm::Bool},
    {"unit", AttributeForm::Unit},     {"str", AttributeForm::String},
    {"symbol", AttributeForm::Symbol}, {"type", AttributeForm::Type},
    {"i32array", AttributeForm::I32Array}, {"i64array", AttributeForm::I64Array},
    {"flags", AttributeForm::Flags},   {"dicts", AttributeForm::Dictionaries}};

constexpr std::pair<std::string_view, RuleKind> kTargetRules[] = {
    {"same", RuleKind::Same}, {"pointee", RuleKind::Pointee}, {"i1", RuleKind::I1Like},
    {"element", RuleKind::Element}, {"elementptr", RuleKind::ElementPointer}};
constexpr std::pair<std::string_view, RuleKind> kPairRules[] = {
    {"shape", RuleKind::SameShape}, {"elements", RuleKind::SameElement}, {"count", RuleKind::SameCount}};

constexpr std::pair<std::string_view, Trait> kTraits[] = {
    {"pure", Trait::Pure},           {"terminator", Trait::Terminator},
    {"commutative", Trait::Commutative}, {"isolated", Trait::Isolated},
    {"function", Trait::Function},   {"call", Trait::Call},
    {"reads", Trait::Reads},         {"writes", Trait::Writes},
    {"elementwise", Trait::Elementwise}, {"single-block", Trait::SingleBlock},
    {"segments", Trait::SegmentSizes},   {"equal-variadics", Trait::EqualVariadics},
    {"implicit-yield", Trait::ImplicitYield}, {"no-terminator", Trait::NoTerminator},
    {"synchronizes", Trait::Synchronizes}};

/// Reads one row; the first mistake counts.
class RowReader {
 public:
  using EnumOf = std::function<const EnumInfo*(std::string_view)>;
  RowReader(const EnumOf& enumOf, OpInfo& info) : enumOf_(enumOf), info_(info) {}

  std::string read(const Row& row) {
    info_.name = row.name;
    info_.dialect = info_.name.substr(0, info_.name.find('.'));
    info_.format = row.format;
    info_.versions = row.versions;
    valueGroups(row.operands, info_.operands);
    valueGroups(row.results, info_.results);
    attributes(row.attributes);
    typeRules(row.rules);
    traits(row.traits);
    if (error_.empty() && !info_.isCustom() && !info_.isGeneric()) error_ = compileFormat(info_.format, info_, info_.elements);
    return error_;
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  /// "ptr: Ptr~, mask?: I1~, values*: Any"
  void valueGroups(std::string_view text, std::vector<ValueGroup>& groups) {
    for (std::string_view part : split(text, ',')) {
      const size_t colon = part.find(':');
      if (colon == std::string_view::npos) return fail(fmt::format("'{}' is not 'name: Class'", part));
      ValueGroup group;
      std::string_view name = trim(part.substr(0, colon)), type = trim(part.substr(colon + 1));
      if (name.ends_with('?')) group.arity = Arity::Optional, name.remove_suffix(1);
      if (name.ends_with('*')) group.arity = Arity::Variadic, name.remove_suffix(1);
      if (type.ends_with('~')) group.like = true, type.remove_suffix(1);
      group.name = name;
      const TypeClass* known = named(kClasses, type);
      if (!known) return fail(fmt::format("unknown type class '{}'", type));
      group.type = *known;
      groups.push_back(std::move(group));
    }
  }

  /// "axis: i32, padding?: enum:padding, reverse: bool = false"
  void attributes(std::string_view text) {
    for (std::string_view part : split(text, ',')) {
      AttributeInfo info;
      if (size_t equal = part.find('='); equal != std::string_view::npos) {
        info.hasDefault = true;
        info.defaultText = trim(part.substr(equal + 1));
        part = trim(part.substr(0, equal));
      }
      const size_t colon = part.find(':');
      if (colon == std::string_view::npos) return fail(fmt::format("'{}' is not 'attribute: form'", part));
      std::string_view name = trim(part.substr(0, colon)), form = trim(part.substr(colon + 1));
      if (name.ends_with('?')) info.optional = true, name.remove_suffix(1);
      info.name = name;
      if (form.starts_with("enum:") || form.starts_with("bits:")) {
        info.form = form[0] == 'e' ? AttributeForm::Enum : AttributeForm::Bits;
        info.enumeration = enumOf_(form.substr(5));
        if (!info.enumeration) return fail(fmt::format("unknown enum '{}'", form.substr(5)));
      } else if (const AttributeForm* known = named(kForms, form)) {
        info.form = *known;
      } else {
        return fail(fmt::format("unknown attribute form '{}'", form));
      }
      info_.attributes.push_back(std::move(info));
    }
  }

  /// "result = pointee(ptr); mask = i1(ptr); shape(src, result)"
  void typeRules(std::string_view text) {
    for (std::string_view part : split(text, ';')) {
      const size_t open = part.find('('), close = part.rfind(')');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return fail(fmt::format("'{}' is neither 'target = rule(source)' nor 'rule(a, b)'", part));
      TypeRule rule{};
      std::string_view head = trim(part.substr(0, open)), inner = part.substr(open + 1, close - open - 1);
      const RuleKind* kind = nullptr;
      if (size_t equal = head.find('='); equal != std::string_view::npos) {
        rule.target = trim(head.substr(0, equal));
        rule.source = trim(inner);
        head = trim(head.substr(equal + 1));
        kind = named(kTargetRules, head);
      } else {
        const auto names = split(inner, ',');
        if (names.size() != 2) return fail(fmt::format("'{}' needs two names", part));
        rule.target = names[1];
        rule.source = names[0];
        kind = named(kPairRules, head);
      }
      if (!kind) return fail(fmt::format("unknown type rule '{}'", head));
      rule.kind = *kind;
      for (const std::string& name : {rule.target, rule.source})
        if (info_.operandGroup(name) < 0 && info_.resultGroup(name) < 0)
          return fail(fmt::format("type rule names unknown value '{}'", name));
      info_.rules.push_back(std::move(rule));
    }
  }

  void traits(std::string_view text) {
    for (std::string_view word : split(text, ' ')) {
      if (word.empty()) continue;
      if (word.starts_with("parent:")) {
        info_.parents.emplace_back(word.substr(7));
      } else if (word.starts_with("region:")) {
        info_.regions.emplace_back(word.substr(7));
      } else if (word.starts_with("successor:")) {
        info_.successors.emplace_back(word.substr(10));
      } else if (const Trait* known = named(kTraits, word)) {
        info_.traits |= static_cast<uint32_t>(*known);
      } else {
        return fail(fmt::format("unknown trait '{}'", word));
      }
    }
  }

  const EnumOf& enumOf_;
  OpInfo& info_;
  std::string error_;
};

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  text = trim(text);
  while (!text.empty()) {
    size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text = trim(text.substr(end + 1));
  }
  return parts;
}

std::string readEnum(const EnumRow& row, EnumInfo& out) {
  out = {row.name, row.width, {}};
  for (std::string_view part : split(row.cases, ' ')) {
    if (part.empty()) continue;
    const size_t equal = part.find('=');
    int64_t number = 0;
    const char* end = part.data() + part.size();
    if (equal == std::string_view::npos || equal == 0 || std::from_chars(part.data() + equal + 1, end, number).ptr != end || equal + 1 == part.size())
      return fmt::format("'{}' is not 'keyword=integer'", part);
    out.cases.emplace_back(std::string(part.substr(0, equal)), number);
  }
  return {};
}

std::string readRow(const Row& row, const std::function<const EnumInfo*(std::string_view)>& enumOf, OpInfo& out) {
  return RowReader(enumOf, out).read(row);
}

}  // namespace tilesight::dialects
