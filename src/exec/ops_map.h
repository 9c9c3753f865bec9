// Running combine functions.
#pragma once

#include "exec/machine.h"

namespace tilesight::exec {

/// Runs a region whose argument slots hold tiles of `shape`: at once, or element by element if it
/// branches. Its result slots hold tiles (or scalars that stand for every element) afterwards.
void runOnTiles(Machine& machine, const plan::RegionCode& region, const Shape* shape);

}  // namespace tilesight::exec
