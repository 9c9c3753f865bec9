// Source text and sizes that findings show.
#pragma once

#include <cstdint>
#include <string>

#include "launch/launch.h"

namespace tilesight::exec {

/// Line `line` (from 1) of a source file that came with the launch, or "".
std::string sourceLine(const launch::Launch& launch, const std::string& file, uint32_t line);

/// Bytes from the first to past the last element of a view; 0 if it is empty.
int64_t viewBytes(const launch::View& view);

}  // namespace tilesight::exec
