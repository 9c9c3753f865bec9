// Which programs write some bytes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "exec/run.h"
#include "launch/launch.h"
#include "support/result.h"

namespace tilesight::trace {

struct WritersOf {
  int64_t last = -1;     // the program that wrote last, by its linear number; -1: none
  int64_t programs = 0;  // how many did
};

/// Runs the launch on a copy. `address`: virtual (exec::LaunchMemory). `addressOnly`: no values are computed.
Result<WritersOf> writersOf(const exec::Kernel& kernel, const launch::Launch& launch, int64_t address, int64_t bytes, bool addressOnly);

/// Who writes an element of memory.
struct CellWriters {
  std::vector<int64_t> programs;  // in the order in which they ran, by their linear numbers
  bool unclear = false;           // there are writes of some of its bytes, or of more than them
};

/// The same for many elements: `cells` gives the bytes of each address.
Result<std::map<int64_t, CellWriters>> writersOfCells(const exec::Kernel& kernel, const launch::Launch& launch, const std::map<int64_t, uint32_t>& cells,
                                                      bool addressOnly);

}  // namespace tilesight::trace
