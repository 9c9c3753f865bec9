// One read-modify-write of memory, shared by atomics through pointers and through descriptors.
#pragma once

#include "exec/kernels/kernels.h"
#include "plan/classify.h"

namespace tilesight::exec {

/// Whether a kind of update exists for elements of this kind.
bool canUpdate(plan::RmwKind kind, ElementKind element);
/// out = memory `kind` operand, one element. `out` may be `memory`.
void update(plan::RmwKind kind, ElementKind element, void* out, const void* memory, const void* operand);

}  // namespace tilesight::exec
