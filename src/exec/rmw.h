// One read-modify-write of memory, shared by atomics through pointers and through descriptors.
#pragma once

#include "exec/kernels/kernels.h"
#include "exec/machine.h"
#include "plan/classify.h"

namespace tilesight::exec {

/// Whether a kind of update exists for elements of this kind.
bool canUpdate(plan::RmwKind kind, ElementKind element);
/// Updates the active cells of an access with the elements of `operand`, one after another. `old`, if it
/// is there, is dense and gets what they held before, and zeros where nothing was updated.
void updateCells(Machine& machine, plan::RmwKind kind, ElementKind element, const Resolved& access,
                 const Tile& operand, Tile* old);

}  // namespace tilesight::exec
