// Which memory launches have written, so that what an earlier one was given is known to be gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launch/launch.h"

namespace tilesight::binding {

/// Counts the launches of the process.
uint64_t launchesSoFar();
/// A launch of `kernel` begins that may write this storage.
void noteWrite(const launch::Storage& storage, const std::string& kernel);
/// The kernel of a launch that may have written some of the storage since launchesSoFar() was `then`.
std::optional<std::string> writtenSince(const launch::Storage& storage, uint64_t then);
/// The next launch.
void countLaunch();

}  // namespace tilesight::binding
