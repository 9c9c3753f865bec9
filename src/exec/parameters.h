// The parameters of a kernel's entry function and the arguments of a launch.
#pragma once

#include <vector>

#include "exec/run.h"

namespace tilesight::exec {

/// Entry parameters in order, each with the index in Launch::arguments that it comes from; a descriptor has
/// several. Errors: another number of parameters than the launch has arguments for.
Result<std::vector<int32_t>> matchParameters(const Kernel& kernel, const launch::Launch& launch);

/// Which storages of a launch the kernel may read and write; errs towards true. True for all where it goes
/// through pointers from integers or memory, and through those that were given as addresses. What is done to a storage
/// is done to all that lie in the same memory.
struct TouchedStorages {
  std::vector<bool> read, written;
  bool shared = false;  // one that is written lies in the same memory as another
};
TouchedStorages touchedStorages(const Kernel& kernel, const launch::Launch& launch,
                                const std::vector<int32_t>& argumentOfParameter);

/// The same of a launch that has not been matched; true for all if it does not fit the kernel.
TouchedStorages mayTouch(const Kernel& kernel, const launch::Launch& launch);
std::vector<bool> mayWrite(const Kernel& kernel, const launch::Launch& launch);

}  // namespace tilesight::exec
