// Which storages a launch may write, known before it runs.
#pragma once

#include <vector>

#include "exec/run.h"

namespace tilesight::exec {

/// One flag a storage of `launch`; errs towards true. True for all where the kernel writes through
/// pointers from integers or memory.
std::vector<bool> mayWrite(const Kernel& kernel, const launch::Launch& launch);

}  // namespace tilesight::exec
