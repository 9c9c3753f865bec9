// Rows as they are written, of the core's tables and of plugins, and what they say.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dialects/table.h"

namespace tilesight::dialects {

/// The columns of TS_OP; see builtin.def.
struct Row {
  const char *name, *operands, *attributes, *results, *format, *rules, *traits, *versions;
};

/// The columns of TS_ENUM; see enums.def.
struct EnumRow {
  const char* name;
  uint32_t width;
  const char* cases;
};

/// The parts of `text` between separators, without spaces around them.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Reads a row. Returns its mistake, or an empty string.
std::string readEnum(const EnumRow& row, EnumInfo& out);
/// `enumOf` finds an enumeration by name, or null.
std::string readRow(const Row& row, const std::function<const EnumInfo*(std::string_view)>& enumOf, OpInfo& out);

}  // namespace tilesight::dialects
