// What the engine relies on in every plan, whatever kernel it is of.
#pragma once

#include "plan/plan.h"
#include "support/result.h"

namespace tilesight::plan {

/// An error names the instruction and the rule that it breaks: the planner is wrong then, not the kernel. The rules:
/// - What may be overwritten (Instr::dying) is a float tile that the program computes. Integers, pointers and masks never
///   die: findings are explained by them, and sweeps take them as they were left by another program.
/// - What follows the program's number (Instr::even), and what may move from trip to trip of a loop, is of those kinds.
/// - Jumps, groups, loops and regions lie in the code, and slots are slots.
Status verify(const Program& program);

}  // namespace tilesight::plan
