#include "exec/tile.h"

#include <algorithm>
#include <cstring>

#include "exec/kernels/kernels.h"

namespace tilesight::exec {

namespace {

// Integer limits of a kind in bits, 64 for pointers.
int bitsOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::I1: return 1;
    case ElementKind::I8: return 8;
    case ElementKind::I16: return 16;
    case ElementKind::I32: return 32;
    default: return 64;
  }
}

// Walks the rows (last axis) of a shape of rank <= kMaxRank in row-major order; visit gets the
// index of the row's first element.
template <typename Visit>
void forRows(const Shape& shape, Visit&& visit) {
  int rank = shape.rank();
  std::array<int64_t, kMaxRank> index{};
  if (rank <= 1) {
    visit(index);
    return;
  }
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; ++d) rows *= shape.dims[d];
  for (int64_t row = 0; row < rows; ++row) {
    visit(index);
    for (int d = rank - 2; d >= 0; --d) {
      if (++index[d] < shape.dims[d]) break;
      index[d] = 0;
    }
  }
}

int64_t readElement(ElementKind kind, const uint8_t* data, int64_t index) {
  uint32_t bytes = ir::elementBytes(kind);
  uint64_t bits = 0;
  std::memcpy(&bits, data + index * bytes, std::min(bytes, 8u));
  return normalizeBits(kind, static_cast<int64_t>(bits));
}

}  // namespace

int64_t normalizeBits(ElementKind kind, int64_t bits) {
  switch (kind) {
    case ElementKind::I1: return bits & 1;
    case ElementKind::I8: return static_cast<int8_t>(bits);
    case ElementKind::I16: return static_cast<int16_t>(bits);
    case ElementKind::I32: return static_cast<int32_t>(bits);
    case ElementKind::I64:
    case ElementKind::F64:
    case ElementKind::Pointer: return bits;
    default: {
      uint32_t bytes = ir::elementBytes(kind);
      if (bytes == 0 || bytes >= 8) return bits;
      return static_cast<int64_t>(static_cast<uint64_t>(bits) & ((uint64_t{1} << (8 * bytes)) - 1));
    }
  }
}

bool fitsKind(ElementKind kind, int64_t value) {
  int bits = bitsOf(kind);
  if (bits == 64) return true;
  if (bits == 1) return value == 0 || value == 1;
  int64_t limit = int64_t{1} << (bits - 1);
  return value >= -limit && value < limit;
}

Tile splatTile(ElementKind kind, int64_t bits, const Shape* shape) {
  Tile tile;
  tile.form = Form::Splat;
  tile.kind = kind;
  tile.shape = shape;
  tile.base = normalizeBits(kind, bits);
  return tile;
}

Tile maskSplat(bool value, const Shape* shape) { return splatTile(ElementKind::I1, value, shape); }

Tile denseTile(BufferPool& pool, ElementKind kind, const Shape* shape) {
  Tile tile;
  tile.form = Form::Dense;
  tile.kind = kind;
  tile.shape = shape;
  tile.buffer = BufferRef(pool.take(static_cast<size_t>(shape->numel) * ir::elementBytes(kind)));
  tile.axis[0] = tile.buffer.bytes();
  tile.stride = rowMajor(*shape);
  return tile;
}

std::array<int64_t, kMaxRank> rowMajor(const Shape& shape) {
  std::array<int64_t, kMaxRank> stride{};
  int64_t step = 1;
  for (int d = shape.symbolic() ? shape.rank() - 1 : -1; d >= 0; --d) {
    stride[d] = shape.dims[d] == 1 ? 0 : step;
    step *= shape.dims[d];
  }
  return stride;
}

bool symbolicRange(const Tile& tile, Range* range) {
  if (tile.form == Form::Splat) {
    range->min = range->max = tile.base;
    return true;
  }
  if (tile.form != Form::Affine && tile.form != Form::Separable) return false;
  int64_t low = tile.base, high = tile.base;
  for (int d = 0; d < tile.rank(); ++d) {
    int64_t size = tile.shape->dims[d];
    int64_t axisMin = 0, axisMax = 0;
    if (tile.form == Form::Separable && tile.axis[d]) {
      kernels().minMaxI64(tile.axisValues(d), size, &axisMin, &axisMax);
    } else {
      int64_t last;
      if (__builtin_mul_overflow(tile.stride[d], size - 1, &last)) return false;
      axisMin = std::min<int64_t>(0, last);
      axisMax = std::max<int64_t>(0, last);
    }
    if (__builtin_add_overflow(low, axisMin, &low) || __builtin_add_overflow(high, axisMax, &high))
      return false;
  }
  range->min = low;
  range->max = high;
  return true;
}

bool valueRange(const Tile& tile, Range* range) {
  if (tile.form != Form::Dense) return symbolicRange(tile, range);
  if (!ir::isIntegerKind(tile.kind) && tile.kind != ElementKind::Pointer) return false;
  int64_t low = INT64_MAX, high = INT64_MIN;
  auto scan = [&](int64_t first, int64_t step, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t value = readElement(tile.kind, tile.data(), first + i * step);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  if (!tile.shape->symbolic()) {
    scan(0, 1, tile.numel());
  } else {
    int last = tile.rank() - 1;
    forRows(*tile.shape, [&](const auto& index) {
      int64_t first = 0;
      for (int d = 0; d < last; ++d) first += index[d] * tile.stride[d];
      if (last < 0) scan(0, 0, 1);
      else scan(first, tile.stride[last], tile.stride[last] ? tile.shape->dims[last] : 1);
    });
  }
  range->min = low;
  range->max = high;
  return true;
}

uint32_t dependence(const Tile& tile) {
  if (tile.form == Form::Splat || tile.form == Form::View) return 0;
  if (!tile.shape->symbolic()) return ~0u;
  uint32_t axes = 0;
  for (int d = 0; d < tile.rank(); ++d) {
    if (tile.shape->dims[d] == 1) continue;
    bool varies;
    if (tile.form == Form::Box)
      varies = tile.axis[d] || tile.stride[d] > 0 || tile.hi[d] < tile.shape->dims[d];
    else if (tile.form == Form::Dense)
      varies = tile.stride[d] != 0;
    else
      varies = tile.axis[d] || tile.stride[d] != 0;
    if (varies) axes |= 1u << d;
  }
  return axes;
}

bool isContiguous(const Tile& tile) {
  if (tile.form != Form::Dense) return false;
  if (!tile.shape->symbolic()) return true;
  int64_t step = 1;
  for (int d = tile.rank() - 1; d >= 0; --d) {
    if (tile.shape->dims[d] == 1) continue;
    if (tile.stride[d] != step) return false;
    step *= tile.shape->dims[d];
  }
  return true;
}

bool isPlain(const Tile& tile, ElementKind kind, const Shape* shape) {
  return tile.form == Form::Dense && tile.kind == kind && tile.shape == shape && !tile.taint && !tile.origins && isContiguous(tile);
}

int64_t elementBits(const Tile& tile, int64_t index) {
  if (tile.form == Form::Splat) return tile.base;
  if (tile.form == Form::Dense && !tile.shape->symbolic())
    return readElement(tile.kind, tile.data(), index);
  int64_t value = tile.form == Form::Dense ? 0 : tile.base;
  bool inside = true;
  for (int d = tile.rank() - 1; d >= 0; --d) {
    int64_t i = index % tile.shape->dims[d];
    index /= tile.shape->dims[d];
    switch (tile.form) {
      case Form::Affine:
      case Form::Dense: value += i * tile.stride[d]; break;
      case Form::Separable: value += tile.axis[d] ? tile.axisValues(d)[i] : i * tile.stride[d]; break;
      case Form::Box:
        inside = inside && i >= tile.stride[d] && i < tile.hi[d] && (!tile.axis[d] || tile.axisMask(d)[i]);
        break;
      default: break;
    }
  }
  if (tile.form == Form::Box) return inside;
  return tile.form == Form::Dense ? readElement(tile.kind, tile.data(), value) : value;
}

namespace {

// Dense over a shape in which axes outside `axes` are collapsed to one element.
Tile materializeOver(BufferPool& pool, const Tile& tile, uint32_t axes) {
  const Shape& shape = *tile.shape;
  const KernelSet& k = kernels();
  uint32_t bytes = tile.elementBytes();
  int rank = shape.rank();
  std::array<int64_t, kMaxRank> size{}, out{};
  int64_t count = 1;
  for (int d = rank - 1; d >= 0; --d) {
    size[d] = (axes >> d) & 1 ? shape.dims[d] : 1;
    out[d] = size[d] == 1 ? 0 : count;
    count *= size[d];
  }
  Tile result;
  result.form = Form::Dense;
  result.kind = tile.kind;
  result.shape = tile.shape;
  result.origin = tile.origin;
  result.origins = tile.origins;
  result.taint = tile.taint;
  result.buffer = BufferRef(pool.take(static_cast<size_t>(count) * bytes));
  result.axis[0] = result.buffer.bytes();
  result.stride = out;
  uint8_t* data = result.buffer.bytes();
  int inner = rank - 1;
  while (inner >= 0 && size[inner] == 1) --inner;
  int64_t n = inner < 0 ? 1 : size[inner];
  int64_t rows = count / n;
  std::array<int64_t, kMaxRank> index{};
  for (int64_t row = 0; row < rows; ++row) {
    uint8_t* to = data + row * n * bytes;
    int64_t value = tile.form == Form::Dense || tile.form == Form::Box ? 0 : tile.base;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      if (d == inner) continue;
      int64_t i = index[d];
      if (tile.form == Form::Separable && tile.axis[d]) value += tile.axisValues(d)[i];
      else if (tile.form == Form::Box)
        inside = inside && i >= tile.stride[d] && i < tile.hi[d] && (!tile.axis[d] || tile.axisMask(d)[i]);
      else value += i * tile.stride[d];
    }
    switch (tile.form) {
      case Form::Splat: k.fillSplat(bytes, to, &tile.base, n); break;
      case Form::Affine:
        k.fillAffine(tile.kind, to, value, inner < 0 ? 0 : tile.stride[inner], n);
        break;
      case Form::Separable:
        if (inner >= 0 && tile.axis[inner]) {
          const int64_t* values = tile.axisValues(inner);
          for (int64_t i = 0; i < n; ++i) {
            int64_t v = value + values[i];
            std::memcpy(to + i * bytes, &v, bytes);
          }
        } else {
          k.fillAffine(tile.kind, to, value, inner < 0 ? 0 : tile.stride[inner], n);
        }
        break;
      case Form::Dense: {
        int64_t step = inner < 0 ? 0 : tile.stride[inner];
        const uint8_t* from = tile.data() + value * bytes;
        if (step == 1) std::memcpy(to, from, static_cast<size_t>(n) * bytes);
        else if (step == 0) k.fillSplat(bytes, to, from, n);
        else k.gatherStrided(bytes, to, from, step * bytes, n);
        break;
      }
      case Form::Box: {
        std::memset(to, 0, n);
        if (!inside) break;
        if (inner < 0) {
          to[0] = 1;
          break;
        }
        int64_t lo = std::max<int64_t>(tile.stride[inner], 0), hi = std::min(tile.hi[inner], n);
        if (lo < hi) {
          if (tile.axis[inner]) std::memcpy(to + lo, tile.axisMask(inner) + lo, hi - lo);
          else std::memset(to + lo, 1, hi - lo);
        }
        break;
      }
      default: break;
    }
    for (int d = rank - 1; d >= 0; --d) {
      if (d == inner) continue;
      if (++index[d] < size[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

Tile contiguous(BufferPool& pool, const Tile& tile) {
  if (isContiguous(tile)) return tile;
  if (!tile.shape->symbolic()) {  // splat
    Tile result = denseTile(pool, tile.kind, tile.shape);
    kernels().fillSplat(tile.elementBytes(), denseData(result), &tile.base, tile.numel());
    result.origin = tile.origin;
    result.taint = tile.taint;
    return result;
  }
  return materializeOver(pool, tile, ~0u);
}

Tile owned(BufferPool& pool, const Tile& tile) {
  if (!isContiguous(tile)) return contiguous(pool, tile);
  Tile copy = denseTile(pool, tile.kind, tile.shape);
  std::memcpy(denseData(copy), tile.data(), static_cast<size_t>(tile.numel()) * tile.elementBytes());
  return copy;
}

Tile strided(BufferPool& pool, const Tile& tile) {
  if (tile.form == Form::Dense) return tile;
  if (!tile.shape->symbolic()) return contiguous(pool, tile);
  // A box whose emptiness hides in an axis it does not depend on must not lose it.
  uint32_t axes = dependence(tile);
  if (tile.form == Form::Box)
    for (int d = 0; d < tile.rank(); ++d)
      if (tile.shape->dims[d] == 1 && !(tile.stride[d] <= 0 && tile.hi[d] >= 1))
        return strided(pool, maskSplat(false, tile.shape));
  return materializeOver(pool, tile, axes);
}

bool toSeparable(BufferPool& pool, const Tile& tile, Tile* out) {
  if (tile.form == Form::Splat || tile.form == Form::Affine || tile.form == Form::Separable) {
    *out = tile;
    return true;
  }
  if (tile.form != Form::Dense || !tile.shape->symbolic() || tile.origin == kOriginMixed) return false;
  uint32_t axes = dependence(tile);
  if (axes == 0) {
    *out = splatTile(tile.kind, elementBits(tile, 0), tile.shape);
    out->origin = tile.origin;
    out->taint = tile.taint;
    return true;
  }
  if (axes & (axes - 1)) return false;
  int d = __builtin_ctz(axes);
  int64_t n = tile.shape->dims[d];
  Tile result;
  result.form = Form::Separable;
  result.kind = tile.kind;
  result.shape = tile.shape;
  result.origin = tile.origin;
  result.taint = tile.taint;
  result.axisBuffers[0] = BufferRef(pool.take(n * sizeof(int64_t)));
  auto* values = reinterpret_cast<int64_t*>(result.axisBuffers[0].bytes());
  if (tile.stride[d] == 1) {
    kernels().widen(tile.kind, values, tile.data(), n);
  } else {
    for (int64_t i = 0; i < n; ++i) values[i] = readElement(tile.kind, tile.data(), i * tile.stride[d]);
  }
  result.axis[d] = values;
  *out = std::move(result);
  return true;
}

}  // namespace tilesight::exec
