#pragma once

#include "plan/plan.h"

namespace tilesight::plan {

/// Marks the loads whose result one operation reads: what they load may be left in memory, row by row, as nobody
/// gains from having it in one piece.
void markLoadsReadOnce(Program& program);

}  // namespace tilesight::plan
