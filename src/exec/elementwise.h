// Elementwise operations on tiles: symbolic where the operands' forms allow it and the result is
// exact in the element's width, dense on the axes that matter otherwise. A result of form Empty means
// that there is no kernel for this operation and kind. Taint is the caller's business.
#pragma once

#include "exec/kernels/kernels.h"
#include "exec/tile.h"

namespace tilesight::exec {

/// `dying`: bit i set if operand i's buffer may be overwritten.
Tile binary(BufferPool& pool, BinaryOp op, const Tile& a, const Tile& b, unsigned dying = 0);
Tile unary(BufferPool& pool, UnaryOp op, const Tile& a, unsigned dying = 0);
Tile compareI(BufferPool& pool, CmpIOp op, const Tile& a, const Tile& b);
Tile compareF(BufferPool& pool, CmpFOp op, const Tile& a, const Tile& b);
Tile select(BufferPool& pool, const Tile& condition, const Tile& a, const Tile& b);
Tile cast(BufferPool& pool, CastOp op, ElementKind to, const Tile& a);
Tile fma(BufferPool& pool, const Tile& a, const Tile& b, const Tile& c);
Tile clampF(BufferPool& pool, const Tile& x, const Tile& low, const Tile& high, bool propagateNan);
/// pointer + offset * bytes, offsets sign-extended. Keeps the pointer's origin.
Tile pointerAdd(BufferPool& pool, const Tile& pointer, const Tile& offset, int64_t bytes);
/// The same bits as another kind of the same width.
Tile reinterpret(BufferPool& pool, const Tile& a, ElementKind to);

// Masks (i1). Boxes stay boxes where they can.
Tile maskAnd(BufferPool& pool, const Tile& a, const Tile& b);
Tile maskOr(BufferPool& pool, const Tile& a, const Tile& b);
Tile maskXor(BufferPool& pool, const Tile& a, const Tile& b);
/// As a Box (Splat included: full or empty box). False if the mask depends on more than one axis and
/// is not a conjunction per axis.
bool toBox(BufferPool& pool, const Tile& mask, Tile* box);
/// Number of true elements.
int64_t countTrue(BufferPool& pool, const Tile& mask);

}  // namespace tilesight::exec
