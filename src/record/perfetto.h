// A trace as a file for the Perfetto UI (ui.perfetto.dev), in Chrome's JSON format.
#pragma once

#include <string>

#include "record/reader.h"

namespace tilesight::record {

struct PerfettoTotals {
  int64_t written = 0, all = 0;  // accesses
};

/// Launches are processes; on their one track, programs, turns of loops and accesses lie inside each other, in the order of
/// the programs: an access takes a microsecond there, which says nothing of time. At most `limit` accesses are written, the
/// first ones. Errors: the trace is broken, or the file cannot be written; it is there when it is whole.
Result<PerfettoTotals> writePerfetto(const Trace& trace, const std::string& path, int64_t limit);

}  // namespace tilesight::record
