#include "dialects/table.h"

#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

#include "dialects/added.h"
#include "dialects/row.h"

namespace tilesight::dialects {

namespace {

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
    for (const EnumRow& row : kEnums)
      if (const std::string error = readEnum(row, list.emplace_back()); !error.empty()) tableError(row.name, error);
    return list;
  }();
  return enums;
}

const EnumInfo* findEnum(std::string_view name) {
  for (const EnumInfo& info : allEnums())
    if (info.name == name) return &info;
  return nullptr;
}

const std::vector<OpInfo>& allOperations() {
  static const std::vector<OpInfo> operations = [] {
    std::vector<OpInfo> list;
    for (const Row& row : kRows)
      if (const std::string error = readRow(row, findEnum, list.emplace_back()); !error.empty()) tableError(row.name, error);
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
  return found == index.end() ? findAdded(name) : found->second;
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
