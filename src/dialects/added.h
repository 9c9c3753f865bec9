// Dialects that are added while the program runs, by plugins. They stay until the process ends, since operations point to
// their rows.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/row.h"

namespace tilesight::dialects {

struct Dialect {
  std::string name, summary;
  std::string origin;         // the library it comes from
  const void* table = nullptr;  // the library's table: who comes again with the same one is the same dialect
  std::deque<EnumInfo> enums;   // its own; rows may name those of the core, too
  std::deque<OpInfo> operations;
};

/// Adds a row that has been read to `dialect`, if it may be there: rows of the core are trusted, those of plugins are not.
/// What text written by the format could not be read back, or would need code of the core, is refused. Returns why, or "".
std::string addEnum(Dialect& dialect, const EnumRow& row);
std::string addRow(Dialect& dialect, const Row& row);

/// What is wrong with a row that is no mistake of notation; see addRow.
std::string mistakeIn(const OpInfo& info);

/// Makes the dialect known to `find`. Returns why not ("has a dialect 'x', as ..."), or "". Thread-safe.
std::string add(std::shared_ptr<const Dialect> dialect);
/// Why a dialect of this name, of this origin, cannot be added; or "". Thread-safe.
std::string clashOf(const Dialect& dialect);

/// The row of an operation of a dialect that was added, or null. Thread-safe.
const OpInfo* findAdded(std::string_view name);

}  // namespace tilesight::dialects
