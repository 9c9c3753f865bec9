#include "trace/names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tilesight::trace {

namespace {

using ir::Location;
using ir::LocationKind;
using ir::Operation;
using ir::Value;

std::string outerName(Location location) {
  switch (location.kind()) {
    case LocationKind::Name: return location->text;
    case LocationKind::CallSite: return outerName(location->child);
    case LocationKind::Fused: return location->fused.empty() ? std::string() : outerName(location->fused.front());
    default: return {};
  }
}

bool allDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The printer numbers clashes: `x_3` is one more x. Names that it made up itself are none.
std::string written(const std::string& name) {
  std::string_view stem = name;
  if (const size_t bar = stem.rfind('_'); bar != std::string_view::npos && bar > 0 && allDigits(stem.substr(bar + 1)))
    stem = stem.substr(0, bar);
  if (stem.empty() || std::isdigit(static_cast<unsigned char>(stem[0]))) return {};
  if (stem.starts_with("arg") && allDigits(stem.substr(3))) return {};
  if (stem == "cst" || stem == "true" || stem == "false") return {};
  // %c16_i32 is a constant without a name.
  if (stem[0] == 'c' && stem.size() > 1 && (std::isdigit(static_cast<unsigned char>(stem[1])) || stem[1] == '-')) return {};
  return std::string(stem);
}

}  // namespace

std::string variableName(const Value& value) {
  if (!value.owner) {
    if (std::string name = outerName(value.location); !name.empty()) return name;
    return written(value.name);
  }
  const Operation& op = *value.owner;
  if (op.name == "scf.for" && op.regions.size() == 1 && !op.regions[0]->empty())
    return variableName(*op.regions[0]->blocks[0]->arguments[value.index + 1]);
  if (op.name == "scf.while" && op.regions.size() == 2 && !op.regions[1]->empty())
    return variableName(*op.regions[1]->blocks[0]->arguments[value.index]);
  if (op.name == "scf.if") {
    // What both sides call it.
    std::string common;
    for (auto& region : op.regions) {
      if (region->empty()) return {};
      std::string name = variableName(*region->blocks[0]->operations.back()->operands[value.index]);
      if (!common.empty() && name != common) return {};
      common = std::move(name);
    }
    return common;
  }
  if (std::string name = outerName(op.location); !name.empty()) return name;
  return op.location.file() ? std::string() : written(value.name);  // a text without locations has its own names only
}

bool isPartOfVariable(const Value& value) {
  const Operation* owner = value.owner;
  if (!owner || !owner->parent || !owner->regions.empty() || !owner->location.file()) return false;
  const std::string name = variableName(value);
  if (name.empty()) return false;
  const uint32_t line = owner->location.file()->line;
  return std::any_of(owner->parent->operations.begin(), owner->parent->operations.end(), [&](const auto& op) {
    return op->results.size() == 1 && op->location.file() && op->location.file()->line == line &&
           std::find(op->operands.begin(), op->operands.end(), &value) != op->operands.end() && variableName(*op->results[0]) == name;
  });
}

std::string ssaName(const Value& value) { return value.name.empty() ? std::string() : "%" + value.name; }

SourceLine placeOf(const Operation& op, const std::string& textName) {
  if (const ir::LocationStorage* file = op.location.file()) return {file->text, file->line, file->column};
  return {textName, op.sourceLine, op.sourceColumn};
}

SourceLine placeOf(const Value& value, const Operation& holder, const std::string& textName) {
  if (!value.owner)
    if (const ir::LocationStorage* file = value.location.file()) return {file->text, file->line, file->column};
  return placeOf(value.owner ? *value.owner : holder, textName);
}

}  // namespace tilesight::trace
