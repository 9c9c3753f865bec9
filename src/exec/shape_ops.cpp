#include "exec/shape_ops.h"

#include <algorithm>
#include <cstring>

#include "exec/kernels/kernels.h"

namespace tilesight::exec {

namespace {

Tile scalarLike(const Tile& tile, int64_t bits, const Shape* to) {
  Tile result = splatTile(tile.kind, bits, to);
  result.origin = tile.origin;
  result.view = tile.view;
  return result;
}

// A contiguous tile seen in another shape.
Tile relabel(const Tile& dense, const Shape* to) {
  Tile result = dense;
  result.taint = nullptr;
  result.shape = to;
  result.stride = {};
  if (to->symbolic()) {
    int64_t step = 1;
    for (int d = to->rank() - 1; d >= 0; --d) {
      result.stride[d] = to->dims[d] == 1 ? 0 : step;
      step *= to->dims[d];
    }
  }
  return result;
}

// Moves axis d of `tile` to axis e of `result`.
void moveAxis(const Tile& tile, int d, Tile& result, int e) {
  result.stride[e] = tile.stride[d];
  result.hi[e] = tile.hi[d];
  if (tile.form == Form::Separable || tile.form == Form::Box) result.axis[e] = tile.axis[d];
}

Tile emptyLike(const Tile& tile, const Shape* to) {
  Tile result = tile;
  result.taint = nullptr;
  result.shape = to;
  result.stride = {};
  result.hi = {};
  if (tile.form != Form::Dense) result.axis = {};
  if (tile.form == Form::Box)
    for (int d = 0; d < to->rank(); ++d) result.hi[d] = to->dims[d];
  return result;
}

// Element [i0, i1, ..] of the result is element sum(step[d] * i[d]) of the tile written out.
Tile gatherElements(BufferPool& pool, const Tile& tile, const Shape* to, const std::vector<int64_t>& step) {
  Tile dense = contiguous(pool, tile);
  Tile result = denseTile(pool, tile.kind, to);
  uint32_t bytes = tile.elementBytes();
  int rank = to->rank();
  std::vector<int64_t> index(rank, 0), source(to->numel);
  int64_t from = 0;
  for (int64_t i = 0; i < to->numel; ++i) {
    source[i] = from;
    std::memcpy(denseData(result) + i * bytes, dense.data() + from * bytes, bytes);
    for (int d = rank - 1; d >= 0; --d) {
      from += step[d];
      if (++index[d] < to->dims[d]) break;
      from -= step[d] * to->dims[d];
      index[d] = 0;
    }
  }
  if (tile.kind == ElementKind::Pointer)
    assignOrigins(pool, result, [&](int64_t i) { return originAt(tile, source[i]); });
  return result;
}

}  // namespace

Tile reshape(BufferPool& pool, const Tile& tile, const Shape* to) {
  if (tile.isSplat()) return scalarLike(tile, tile.base, to);
  const Shape& from = *tile.shape;
  if (from.symbolic() && to->symbolic() && tile.origin != kOriginMixed) {
    // Only unit axes added or dropped: axes move as they are.
    Tile result = emptyLike(tile, to);
    int d = 0, e = 0;
    bool units = true;
    while (true) {
      while (d < from.rank() && from.dims[d] == 1) ++d;
      while (e < to->rank() && to->dims[e] == 1) ++e;
      if (d == from.rank() || e == to->rank()) break;
      if (from.dims[d] != to->dims[e]) {
        units = false;
        break;
      }
      moveAxis(tile, d++, result, e++);
    }
    if (units && d == from.rank() && e == to->rank()) return result;
    // Affine and regular over the flat index: stays affine.
    if (tile.form == Form::Affine) {
      int64_t step = 0;
      int64_t size = 1;
      bool regular = true;
      for (int k = from.rank() - 1; k >= 0 && regular; --k) {
        if (from.dims[k] == 1) continue;
        if (size == 1) step = tile.stride[k];
        else regular = tile.stride[k] == step * size;
        size *= from.dims[k];
      }
      if (regular) {
        Tile flat = emptyLike(tile, to);
        int64_t along = step;
        for (int k = to->rank() - 1; k >= 0; --k) {
          flat.stride[k] = to->dims[k] == 1 ? 0 : along;
          along *= to->dims[k];
        }
        return flat;
      }
    }
  }
  Tile result = relabel(contiguous(pool, tile), to);
  result.origin = tile.origin;
  result.origins = tile.origins;
  return result;
}

Tile broadcast(BufferPool& pool, const Tile& tile, const Shape* to) {
  if (tile.numel() == 1) {
    Tile result = scalarLike(tile, tile.form == Form::View ? 0 : elementBits(tile, 0), to);
    if (tile.origin == kOriginMixed) result.origin = reinterpret_cast<const int32_t*>(tile.origins.bytes())[0];
    return result;
  }
  if (tile.isSplat()) return scalarLike(tile, tile.base, to);
  if (tile.shape == to) return tile;
  if (to->symbolic() && tile.origin != kOriginMixed) {
    Tile result = emptyLike(tile, to);
    for (int d = 0; d < to->rank(); ++d)
      if (tile.shape->dims[d] != 1) moveAxis(tile, d, result, d);
    return result;
  }
  // High rank or per-element origins: expand element by element.
  std::vector<int64_t> step(to->rank());
  int64_t along = 1;
  for (int d = to->rank() - 1; d >= 0; --d) {
    step[d] = tile.shape->dims[d] == 1 ? 0 : along;
    along *= tile.shape->dims[d];
  }
  return gatherElements(pool, tile, to, step);
}

Tile permute(BufferPool& pool, const Tile& tile, const std::vector<int64_t>& order, const Shape* to) {
  if (tile.isSplat()) return scalarLike(tile, tile.base, to);
  int rank = to->rank();
  if (to->symbolic() && tile.origin != kOriginMixed) {
    Tile result = emptyLike(tile, to);
    for (int d = 0; d < rank; ++d) moveAxis(tile, static_cast<int>(order[d]), result, d);
    return result;
  }
  std::vector<int64_t> stride(rank), step(rank);
  int64_t along = 1;
  for (int d = rank - 1; d >= 0; --d) {
    stride[d] = along;
    along *= tile.shape->dims[d];
  }
  for (int d = 0; d < rank; ++d) step[d] = stride[order[d]];
  return gatherElements(pool, tile, to, step);
}

Tile join(BufferPool& pool, const Tile& a, const Tile& b, const Shape* to) {
  if (a.isSplat() && b.isSplat() && a.base == b.base && a.origin == b.origin)
    return scalarLike(a, a.base, to);
  Tile x = contiguous(pool, a), y = contiguous(pool, b);
  Tile result = denseTile(pool, a.kind, to);
  if (a.kind == ElementKind::Pointer)
    assignOrigins(pool, result, [&](int64_t i) { return originAt(i % 2 ? b : a, i / 2); });
  uint32_t bytes = a.elementBytes();
  kernels().scatterStrided(bytes, denseData(result), 2 * bytes, x.data(), x.numel());
  kernels().scatterStrided(bytes, denseData(result) + bytes, 2 * bytes, y.data(), y.numel());
  return result;
}

Tile split(BufferPool& pool, const Tile& tile, int part, const Shape* to) {
  if (tile.isSplat()) return scalarLike(tile, tile.base, to);
  Tile dense = contiguous(pool, tile);
  Tile result = denseTile(pool, tile.kind, to);
  if (tile.kind == ElementKind::Pointer)
    assignOrigins(pool, result, [&](int64_t i) { return originAt(tile, 2 * i + part); });
  uint32_t bytes = tile.elementBytes();
  kernels().gatherStrided(bytes, denseData(result), dense.data() + part * bytes, 2 * bytes, to->numel);
  return result;
}

Tile concat(BufferPool& pool, const Tile& a, const Tile& b, const Shape* to) {
  Tile x = contiguous(pool, a), y = contiguous(pool, b);
  Tile result = denseTile(pool, a.kind, to);
  if (a.kind == ElementKind::Pointer)
    assignOrigins(pool, result, [&](int64_t i) { return i < a.numel() ? originAt(a, i) : originAt(b, i - a.numel()); });
  size_t bytes = a.elementBytes();
  std::memcpy(denseData(result), x.data(), x.numel() * bytes);
  std::memcpy(denseData(result) + x.numel() * bytes, y.data(), y.numel() * bytes);
  return result;
}

Tile slice(BufferPool& pool, const Tile& tile, int axis, int64_t start, const Shape* to) {
  if (tile.isSplat()) return scalarLike(tile, tile.base, to);
  if (tile.form == Form::Box) return slice(pool, strided(pool, tile), axis, start, to);
  if (to->symbolic() && tile.origin != kOriginMixed) {
    Tile result = tile;
    result.taint = nullptr;
    result.shape = to;
    if (tile.form == Form::Dense) {
      result.axis[0] = tile.data() + start * tile.stride[axis] * tile.elementBytes();
    } else if (tile.form == Form::Separable && tile.axis[axis]) {
      result.axis[axis] = tile.axisValues(axis) + start;
      // The vector no longer starts its buffer: own a copy of the values to keep sharing simple.
      int64_t n = to->dims[axis];
      BufferRef buffer(pool.take(n * sizeof(int64_t)));
      std::memcpy(buffer.bytes(), tile.axisValues(axis) + start, n * sizeof(int64_t));
      for (BufferRef& ref : result.axisBuffers)
        if (ref && ref.bytes() == static_cast<const void*>(tile.axis[axis])) ref = buffer;
      result.axis[axis] = buffer.bytes();
    } else {
      result.base += start * tile.stride[axis];
    }
    if (to->dims[axis] == 1) result.stride[axis] = 0;
    if (to->dims[axis] == 1 && result.form == Form::Separable && result.axis[axis]) {
      result.base += result.axisValues(axis)[0];
      result.axis[axis] = nullptr;
    }
    return result;
  }
  Tile dense = contiguous(pool, tile);
  Tile result = denseTile(pool, tile.kind, to);
  size_t bytes = tile.elementBytes();
  int64_t inner = 1, outer = 1;
  for (int d = axis + 1; d < to->rank(); ++d) inner *= to->dims[d];
  for (int d = 0; d < axis; ++d) outer *= to->dims[d];
  int64_t length = to->dims[axis], full = tile.shape->dims[axis];
  for (int64_t o = 0; o < outer; ++o)
    std::memcpy(denseData(result) + o * length * inner * bytes,
                dense.data() + (o * full + start) * inner * bytes, length * inner * bytes);
  if (tile.kind == ElementKind::Pointer)
    assignOrigins(pool, result, [&](int64_t i) {
      int64_t o = i / (length * inner), rest = i % (length * inner);
      return originAt(tile, (o * full + start) * inner + rest);
    });
  return result;
}

}  // namespace tilesight::exec
