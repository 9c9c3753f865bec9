// Operations that rearrange tiles. All but join, split and concat are free for the symbolic and
// strided forms.
#pragma once

#include "exec/tile.h"

namespace tilesight::exec {

/// Row-major reshape. Unit axes come and go for free; other reshapes keep affine and contiguous
/// tiles without copying where their layout allows.
Tile reshape(BufferPool& pool, const Tile& tile, const Shape* to);
/// Size-1 axes grow to the sizes of `to` (same rank), or a scalar becomes a tile.
Tile broadcast(BufferPool& pool, const Tile& tile, const Shape* to);
/// Result axis d is source axis order[d].
Tile permute(BufferPool& pool, const Tile& tile, const std::vector<int64_t>& order, const Shape* to);
/// A new last axis of size 2.
Tile join(BufferPool& pool, const Tile& a, const Tile& b, const Shape* to);
/// Part 0 or 1 of a last axis of size 2.
Tile split(BufferPool& pool, const Tile& tile, int part, const Shape* to);
/// b after a along axis 0.
Tile concat(BufferPool& pool, const Tile& a, const Tile& b, const Shape* to);
/// Elements [start, start + length) of `axis`, as a tile of shape `to` (same rank).
Tile slice(BufferPool& pool, const Tile& tile, int axis, int64_t start, const Shape* to);

}  // namespace tilesight::exec
