// What one program accessed and computed, in order: it runs again, alone, for that.
#pragma once

#include <string>

#include "server/loaded.h"

namespace tilesight::server {

/// Packed: op, kind, argument, active, faults, pattern, m, n of the first kMaxRecords; `total`, and the patterns of their tiles.
/// Errors: as those of Loaded::values.
Result<std::string> records(const Loaded& loaded, int64_t program);

}  // namespace tilesight::server
