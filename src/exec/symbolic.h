// Integer operations on affine and separable tiles: exact or refused.
#pragma once

#include "exec/kernels/kernels.h"
#include "exec/tile.h"

namespace tilesight::exec {

/// Computes `op` without materialising, if the result has a symbolic form and no element wraps in
/// the operands' width. False: do it densely. At least one operand is not a splat.
bool symbolicBinary(BufferPool& pool, BinaryOp op, const Tile& a, const Tile& b, Tile* out);

/// The mask of a comparison, if it is uniform or an interval on one axis.
bool symbolicCompare(CmpIOp op, const Tile& a, const Tile& b, Tile* out);

}  // namespace tilesight::exec
