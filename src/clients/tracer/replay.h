// What a trace does not store: the addresses and the mask of one recorded access, computed again by
// running the launch up to that program.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/run.h"
#include "support/result.h"

namespace tilesight::clients {

struct AccessElements {
  std::vector<int64_t> addresses;  // virtual byte addresses, row-major
  std::vector<uint8_t> mask;       // 1: active
};

/// Runs programs 0 to `program` of `launch` in order, in place on its storages (give a copy of the
/// inputs), and returns access number `ordinal` (from 0) of the last one. Errors: arguments that do not
/// fit, or a program with fewer accesses.
Result<AccessElements> replayAccess(const exec::Kernel& kernel, const launch::Launch& launch, int64_t program,
                                    int64_t ordinal);

}  // namespace tilesight::clients
