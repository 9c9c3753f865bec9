// Finds elementwise operations that can be done together, strip by strip.
#pragma once

#include "plan/need.h"
#include "plan/plan.h"

namespace tilesight::plan {

/// Marks the groups of a finished program. `explained`: the values that a finding may be explained by (what a run
/// without outputs computes); they stay whole tiles.
void fuse(Program& program, const Need& explained);

}  // namespace tilesight::plan
