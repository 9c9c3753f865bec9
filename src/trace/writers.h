// Which programs write some bytes.
#pragma once

#include <cstdint>

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

}  // namespace tilesight::trace
