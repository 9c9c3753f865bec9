#include "dialects/added.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <fmt/format.h>

namespace tilesight::dialects {

namespace {

struct Added {
  std::shared_mutex mutex;
  std::atomic<bool> any = false;  // most processes have none: no lock for them
  std::vector<std::shared_ptr<const Dialect>> all;  // also those that newer ones of the same library took the place of
  std::unordered_map<std::string_view, const Dialect*> dialects;
  std::unordered_map<std::string_view, const OpInfo*> operations;
};

Added& added() {
  static Added* const it = new Added;  // never destroyed: other threads may read while the process ends
  return *it;
}

bool ofCore(std::string_view dialect) {
  const auto& all = allOperations();
  return std::any_of(all.begin(), all.end(), [&](const OpInfo& info) { return info.dialect == dialect; });
}

std::string clash(const Added& it, const Dialect& dialect) {
  if (ofCore(dialect.name)) return fmt::format("has a dialect '{}', as Tilesight itself", dialect.name);
  const auto found = it.dialects.find(dialect.name);
  if (found == it.dialects.end() || found->second->origin == dialect.origin) return {};
  return fmt::format("has a dialect '{}', as {}", dialect.name, found->second->origin);
}

bool isWord(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// "blk.tile.load": words with dots between them.
bool isDotted(std::string_view text) {
  for (size_t dot; (dot = text.find('.')) != std::string_view::npos; text = text.substr(dot + 1))
    if (!isWord(text.substr(0, dot))) return false;
  return isWord(text);
}

}  // namespace

std::string addEnum(Dialect& dialect, const EnumRow& row) {
  const auto wrong = [&](std::string what) { return fmt::format("enum '{}': {}", row.name, what); };
  if (!isWord(row.name)) return wrong("is no name");
  for (const EnumInfo& other : dialect.enums)
    if (other.name == row.name) return wrong("is there twice");
  if (row.width != 8 && row.width != 16 && row.width != 32 && row.width != 64) return wrong(fmt::format("integers of {} bits, not 8, 16, 32 or 64", row.width));
  EnumInfo info;
  if (std::string mistake = readEnum(row, info); !mistake.empty()) return wrong(std::move(mistake));
  if (info.cases.empty()) return wrong("has no cases");
  for (size_t i = 0; i < info.cases.size(); ++i) {
    if (!isWord(info.cases[i].first)) return wrong(fmt::format("'{}' is no keyword", info.cases[i].first));
    for (size_t j = 0; j < i; ++j)
      if (info.cases[i].first == info.cases[j].first || info.cases[i].second == info.cases[j].second)
        return wrong(fmt::format("'{}' is there twice", info.cases[i].first));
  }
  dialect.enums.push_back(std::move(info));
  return {};
}

std::string addRow(Dialect& dialect, const Row& row) {
  const std::string_view name = row.name;
  const auto wrong = [&](const std::string& what) { return fmt::format("{}: {}", name, what); };
  if (!isDotted(name) || name.size() <= dialect.name.size() + 1 || !name.starts_with(dialect.name + ".")) return fmt::format("'{}' is no name of an operation of '{}'", name, dialect.name);
  for (const OpInfo& other : dialect.operations)
    if (other.name == name) return wrong("is there twice");
  OpInfo info;
  const auto enumOf = [&](std::string_view wanted) -> const EnumInfo* {
    for (const EnumInfo& own : dialect.enums)
      if (own.name == wanted) return &own;
    return findEnum(wanted);
  };
  std::string mistake = readRow(row, enumOf, info);
  if (mistake.empty()) mistake = mistakeIn(info);
  if (!mistake.empty()) return wrong(mistake);
  info.added = true;
  dialect.operations.push_back(std::move(info));
  return {};
}

std::string clashOf(const Dialect& dialect) {
  std::shared_lock lock(added().mutex);
  return clash(added(), dialect);
}

std::string add(std::shared_ptr<const Dialect> dialect) {
  Added& it = added();
  std::unique_lock lock(it.mutex);
  if (std::string why = clash(it, *dialect); !why.empty()) return why;
  if (const auto found = it.dialects.find(dialect->name); found != it.dialects.end()) {
    if (found->second->table == dialect->table) return {};
    // The library was built anew and loaded again. Operations that are there keep their rows.
    for (const OpInfo& info : found->second->operations) it.operations.erase(info.name);
    it.dialects.erase(found);
  }
  it.dialects.emplace(dialect->name, dialect.get());
  for (const OpInfo& info : dialect->operations) it.operations.emplace(info.name, &info);
  it.all.push_back(std::move(dialect));
  it.any = true;
  return {};
}

const OpInfo* findAdded(std::string_view name) {
  Added& it = added();
  if (!it.any) return nullptr;
  std::shared_lock lock(it.mutex);
  const auto found = it.operations.find(name);
  return found == it.operations.end() ? nullptr : found->second;
}

}  // namespace tilesight::dialects
