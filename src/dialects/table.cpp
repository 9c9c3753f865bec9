#include "dialects/table.h"

#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

namespace tilesight::dialects {

namespace {

struct Row {
  const char *name, *operands, *attributes, *results, *format, *rules, *traits, *versions;
};

constexpr Row kRows[] = {
#define TS_OP(name, operands, attributes, results, format, rules, traits, versions) \
  {name, operands, attributes, results, format, rules, traits, versions},
#include "dialects/builtin.def"
#include "dialects/tt.def"
#include "dialects/arith.def"
#include "dialects/math.def"
#include "dialects/scf.def"
#include "dialects/cf.def"
#include "dialects/ub.def"
#include "dialects/llvm.def"
#include "dialects/gpu.def"
#include "dialects/ttg.def"
#include "dialects/tile.def"
#undef TS_OP
};

struct EnumRow {
  const char* name;
  uint32_t width;
  const char* cases;
};

constexpr EnumRow kEnums[] = {
#define TS_ENUM(name, width, cases) {name, width, cases},
#include "dialects/enums.def"
#undef TS_ENUM
};

/// A mistake in a table is a mistake in this program: say where and stop.
[[noreturn]] void tableError(std::string_view where, std::string_view what) {
  fmt::print(stderr, "operation table: {}: {}\n", where, what);
  std::abort();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

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

TypeClass typeClass(std::string_view name, std::string_view where) {
  static const std::unordered_map<std::string_view, TypeClass> names = {
      {"Any", TypeClass::Any},         {"Int", TypeClass::Int},
      {"Float", TypeClass::Float},     {"Numeric", TypeClass::Numeric},
      {"IntOrIndex", TypeClass::IntOrIndex}, {"Ptr", TypeClass::Pointer},
      {"I1", TypeClass::I1},           {"I32", TypeClass::I32},
      {"I64", TypeClass::I64},         {"Index", TypeClass::Index},
      {"Tensor", TypeClass::Tensor},   {"IntTensor", TypeClass::IntTensor},
      {"FloatTensor", TypeClass::FloatTensor}, {"Desc", TypeClass::Descriptor},
      {"View", TypeClass::View},       {"Token", TypeClass::Token}};
  auto found = names.find(name);
  if (found == names.end()) tableError(where, fmt::format("unknown type class '{}'", name));
  return found->second;
}

/// "ptr: Ptr~, mask?: I1~, values*: Any"
std::vector<ValueGroup> valueGroups(std::string_view text, std::string_view where) {
  std::vector<ValueGroup> groups;
  for (std::string_view part : split(text, ',')) {
    size_t colon = part.find(':');
    if (colon == std::string_view::npos) tableError(where, "expected 'name: Type'");
    ValueGroup group;
    std::string_view name = trim(part.substr(0, colon)), type = trim(part.substr(colon + 1));
    if (name.ends_with('?')) group.arity = Arity::Optional, name.remove_suffix(1);
    if (name.ends_with('*')) group.arity = Arity::Variadic, name.remove_suffix(1);
    if (type.ends_with('~')) group.like = true, type.remove_suffix(1);
    group.name = name;
    group.type = typeClass(type, where);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// "axis: i32, padding?: enum:padding, reverse: bool = false"
std::vector<AttributeInfo> attributeInfos(std::string_view text, std::string_view where) {
  static const std::unordered_map<std::string_view, AttributeForm> forms = {
      {"any", AttributeForm::Any},       {"i32", AttributeForm::I32},
      {"i64", AttributeForm::I64},       {"bool", AttributeForm::Bool},
      {"unit", AttributeForm::Unit},     {"str", AttributeForm::String},
      {"symbol", AttributeForm::Symbol}, {"type", AttributeForm::Type},
      {"i32array", AttributeForm::I32Array}, {"i64array", AttributeForm::I64Array},
      {"flags", AttributeForm::Flags},   {"dicts", AttributeForm::Dictionaries}};
  std::vector<AttributeInfo> infos;
  for (std::string_view part : split(text, ',')) {
    AttributeInfo info;
    if (size_t equal = part.find('='); equal != std::string_view::npos) {
      info.hasDefault = true;
      info.defaultText = trim(part.substr(equal + 1));
      part = trim(part.substr(0, equal));
    }
    size_t colon = part.find(':');
    if (colon == std::string_view::npos) tableError(where, "expected 'attribute: form'");
    std::string_view name = trim(part.substr(0, colon)), form = trim(part.substr(colon + 1));
    if (name.ends_with('?')) info.optional = true, name.remove_suffix(1);
    info.name = name;
    if (form.starts_with("enum:") || form.starts_with("bits:")) {
      info.form = form[0] == 'e' ? AttributeForm::Enum : AttributeForm::Bits;
      for (const EnumInfo& e : allEnums())
        if (e.name == form.substr(5)) info.enumeration = &e;
      if (!info.enumeration) tableError(where, fmt::format("unknown enum '{}'", form));
    } else if (auto found = forms.find(form); found != forms.end()) {
      info.form = found->second;
    } else {
      tableError(where, fmt::format("unknown attribute form '{}'", form));
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

/// "result = pointee(ptr), mask = i1(ptr), shape(src, result)"
std::vector<TypeRule> typeRules(std::string_view text, std::string_view where) {
  std::vector<TypeRule> rules;
  for (std::string_view part : split(text, ';')) {
    TypeRule rule{};
    size_t open = part.find('('), close = part.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos)
      tableError(where, "expected 'target = rule(source)'");
    std::string_view head = trim(part.substr(0, open)), inner = part.substr(open + 1, close - open - 1);
    if (size_t equal = head.find('='); equal != std::string_view::npos) {
      rule.target = trim(head.substr(0, equal));
      rule.source = trim(inner);
      head = trim(head.substr(equal + 1));
      if (head == "same") rule.kind = RuleKind::Same;
      else if (head == "pointee") rule.kind = RuleKind::Pointee;
      else if (head == "i1") rule.kind = RuleKind::I1Like;
      else if (head == "element") rule.kind = RuleKind::Element;
      else if (head == "elementptr") rule.kind = RuleKind::ElementPointer;
      else tableError(where, fmt::format("unknown type rule '{}'", head));
    } else {
      auto names = split(inner, ',');
      if (names.size() != 2) tableError(where, "expected two names");
      rule.target = names[1];
      rule.source = names[0];
      if (head == "shape") rule.kind = RuleKind::SameShape;
      else if (head == "elements") rule.kind = RuleKind::SameElement;
      else if (head == "count") rule.kind = RuleKind::SameCount;
      else tableError(where, fmt::format("unknown type rule '{}'", head));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

void traits(std::string_view text, OpInfo& info) {
  static const std::unordered_map<std::string_view, Trait> names = {
      {"pure", Trait::Pure},           {"terminator", Trait::Terminator},
      {"commutative", Trait::Commutative}, {"isolated", Trait::Isolated},
      {"function", Trait::Function},   {"call", Trait::Call},
      {"reads", Trait::Reads},         {"writes", Trait::Writes},
      {"elementwise", Trait::Elementwise}, {"single-block", Trait::SingleBlock},
      {"segments", Trait::SegmentSizes},   {"equal-variadics", Trait::EqualVariadics},
      {"implicit-yield", Trait::ImplicitYield}, {"no-terminator", Trait::NoTerminator},
      {"synchronizes", Trait::Synchronizes}};
  for (std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (word.starts_with("parent:")) {
      info.parents.emplace_back(word.substr(7));
    } else if (word.starts_with("region:")) {
      info.regions.emplace_back(word.substr(7));
    } else if (word.starts_with("successor:")) {
      info.successors.emplace_back(word.substr(10));
    } else if (auto found = names.find(word); found != names.end()) {
      info.traits |= static_cast<uint32_t>(found->second);
    } else {
      tableError(info.name, fmt::format("unknown trait '{}'", word));
    }
  }
}

OpInfo makeOperation(const Row& row) {
  OpInfo info;
  info.name = row.name;
  info.dialect = info.name.substr(0, info.name.find('.'));
  info.format = row.format;
  info.versions = row.versions;
  info.operands = valueGroups(row.operands, row.name);
  info.results = valueGroups(row.results, row.name);
  info.attributes = attributeInfos(row.attributes, row.name);
  info.rules = typeRules(row.rules, row.name);
  traits(row.traits, info);
  for (const TypeRule& rule : info.rules)
    for (const std::string& name : {rule.target, rule.source})
      if (info.operandGroup(name) < 0 && info.resultGroup(name) < 0)
        tableError(info.name, fmt::format("type rule names unknown value '{}'", name));
  if (!info.isCustom() && !info.isGeneric()) {
    std::string error = compileFormat(row.format, info, info.elements);
    if (!error.empty()) tableError(info.name, error);
  }
  return info;
}

}  // namespace

const int64_t* EnumInfo::value(std::string_view keyword) const {
  for (const auto& [name, number] : cases)
    if (name == keyword) return &number;
  return nullptr;
}

const std::string* EnumInfo::keyword(int64_t value) const {
  for (const auto& [name, number] : cases)
    if (number == value) return &name;
  return nullptr;
}

std::optional<int64_t> EnumInfo::bits(std::string_view keywords) const {
  int64_t all = 0;
  for (std::string_view word : split(keywords, '|')) {
    const int64_t* bit = value(word);
    if (!bit) return std::nullopt;
    all |= *bit;
  }
  return all;
}

std::string EnumInfo::keywords(int64_t bits) const {
  if (const std::string* one = keyword(bits)) return *one;
  std::string words;
  for (const auto& [name, number] : cases) {
    // Single bits only: a case of several is an abbreviation.
    if (!number || (number & (number - 1)) || !(bits & number)) continue;
    words += (words.empty() ? "" : "|") + name;
    bits &= ~number;
  }
  return bits ? "" : words;
}

const AttributeInfo* OpInfo::attribute(std::string_view key) const {
  for (const AttributeInfo& info : attributes)
    if (info.name == key) return &info;
  return nullptr;
}

int OpInfo::operandGroup(std::string_view group) const {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].name == group) return static_cast<int>(i);
  return -1;
}

int OpInfo::resultGroup(std::string_view group) const {
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].name == group) return static_cast<int>(i);
  return -1;
}

bool OpInfo::hasSegments() const {
  for (const ValueGroup& group : operands)
    if (group.arity != Arity::One) return true;
  return false;
}

const std::vector<EnumInfo>& allEnums() {
  static const std::vector<EnumInfo> enums = [] {
    std::vector<EnumInfo> list;
    for (const EnumRow& row : kEnums) {
      EnumInfo info{row.name, row.width, {}};
      for (std::string_view part : split(row.cases, ' ')) {
        if (part.empty()) continue;
        size_t equal = part.find('=');
        if (equal == std::string_view::npos) tableError(row.name, "expected name=value");
        info.cases.emplace_back(std::string(part.substr(0, equal)),
                                std::strtoll(part.data() + equal + 1, nullptr, 10));
      }
      list.push_back(std::move(info));
    }
    return list;
  }();
  return enums;
}

const std::vector<OpInfo>& allOperations() {
  static const std::vector<OpInfo> operations = [] {
    std::vector<OpInfo> list;
    for (const Row& row : kRows) list.push_back(makeOperation(row));
    return list;
  }();
  return operations;
}

const OpInfo* find(std::string_view name) {
  static const std::unordered_map<std::string_view, const OpInfo*> index = [] {
    std::unordered_map<std::string_view, const OpInfo*> map;
    for (const OpInfo& info : allOperations())
      if (!map.emplace(info.name, &info).second) tableError(info.name, "two rows");
    return map;
  }();
  auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

bool inferSegments(const OpInfo& info, size_t count, std::vector<uint32_t>& segments) {
  segments.clear();
  size_t fixed = 0, optional = 0, variadic = 0;
  for (const ValueGroup& group : info.operands) {
    fixed += group.arity == Arity::One;
    optional += group.arity == Arity::Optional;
    variadic += group.arity == Arity::Variadic;
  }
  if (count < fixed) return false;
  size_t rest = count - fixed;
  if (!optional && !variadic) return rest == 0;
  size_t each = 0;
  if (variadic > 1) {
    if (!info.has(Trait::EqualVariadics) || rest % variadic) return false;
    each = rest / variadic;
    rest = 0;
  }
  for (const ValueGroup& group : info.operands) {
    uint32_t size = 1;
    if (group.arity == Arity::Optional) {
      size = rest ? 1 : 0;
      rest -= size;
    } else if (group.arity == Arity::Variadic) {
      size = static_cast<uint32_t>(variadic > 1 ? each : rest);
      if (variadic == 1) rest = 0;
    }
    segments.push_back(size);
  }
  if (rest) segments.clear();
  return rest == 0;
}

}  // namespace tilesight::dialects
