// Branches, and what is executed because of them.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/machine.h"

namespace tilesight::trace {

/// Does the instruction decide what is executed next? `LoopBegin` and `LoopNext` decide whether there is a turn.
bool isBranch(const exec::Instr& instr);

/// By position in `program.code`: where the ways from a branch meet again, whatever it decides (its immediate
/// postdominator). All that is executed until then depends on what it decided. The code's size: they do not meet.
std::vector<uint32_t> meetingPoints(const plan::Program& program);

/// The loop that a branch may end; null if it ends none.
const ir::Operation* loopOf(const exec::Instr& branch);

}  // namespace tilesight::trace
