// Copies of what a launch was given.
#pragma once

#include <memory>

#include "exec/run.h"
#include "launch/launch.h"

namespace tilesight::trace {

/// A copy of a launch that may run: storages that the kernel may write have memory of their own.
std::shared_ptr<launch::Launch> copyForRun(const exec::Kernel& kernel, const launch::Launch& launch);

/// What values can be computed from when the launch is over: storages that programs may read and may write have memory
/// of their own. No value depends on what a storage held that is only written, so that is shared, as are the others.
std::shared_ptr<launch::Launch> copyForLater(const exec::Kernel& kernel, const launch::Launch& launch);

}  // namespace tilesight::trace
