// Values out of a machine that runs.
#pragma once

#include "exec/machine.h"
#include "trace/values.h"

namespace tilesight::trace {

/// The elements of a tile, and what is known of its pointers.
void fill(exec::Machine& machine, const exec::Tile& tile, Value& value);

}  // namespace tilesight::trace
