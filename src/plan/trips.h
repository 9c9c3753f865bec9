// Loops of which addresses and masks may move evenly from trip to trip.
#pragma once

#include "plan/plan.h"

namespace tilesight::plan {

/// Fills in Program::loops.
void findLoops(Program& program);

}  // namespace tilesight::plan
