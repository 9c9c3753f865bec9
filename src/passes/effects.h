// What operations do besides computing their results.
#pragma once

#include "ir/operation.h"

namespace tilesight::passes {

/// No effect, and the same results for the same operands; what is in its regions, too. Loops of known
/// steps (scf.for) and scf.if are pure if their contents are; scf.while may not end, so it is not.
bool isPure(const ir::Operation& op);

/// Nothing would miss it if its results are unused: pure, or only reads memory (and is not volatile).
bool isRemovable(const ir::Operation& op);

/// Pure, and may be executed where it was not before: not a division that could be by zero.
bool isSpeculatable(const ir::Operation& op);

}  // namespace tilesight::passes
