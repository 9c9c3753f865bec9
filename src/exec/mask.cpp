// Masks: conjunctions of per-axis intervals and byte vectors stay in that form.
#include <algorithm>
#include <cstring>

#include "exec/elementwise.h"
#include "exec/nary.h"

namespace tilesight::exec {

namespace {

bool emptyBox(const Tile& box) {
  for (int d = 0; d < box.rank(); ++d)
    if (box.stride[d] >= box.hi[d]) return true;
  return false;
}

bool fullBox(const Tile& box) {
  for (int d = 0; d < box.rank(); ++d)
    if (box.axis[d] || box.stride[d] > 0 || box.hi[d] < box.shape->dims[d]) return false;
  return true;
}

Tile normalizeBox(Tile box) {
  if (emptyBox(box)) return maskSplat(false, box.shape);
  if (fullBox(box)) return maskSplat(true, box.shape);
  return box;
}

Tile denseLogic(BufferPool& pool, BinaryOp op, const Tile& a, const Tile& b) {
  const Tile* operands[2] = {&a, &b};
  BinaryForms forms = kernels().binary(op, ElementKind::I1);
  return applyDense(pool, ElementKind::I1, operands, 2, 0,
                    [&](uint8_t* out, const uint8_t* const* in, uint32_t scalar, size_t n) {
                      if (scalar == 3) forms.vv(out, in[0], in[1], 1), std::memset(out, out[0], n);
                      else if (scalar & 1) forms.sv(out, in[0], in[1], n);
                      else if (scalar & 2) forms.vs(out, in[0], in[1], n);
                      else forms.vv(out, in[0], in[1], n);
                    });
}

const Shape* larger(const Tile& a, const Tile& b) {
  const Tile* operands[2] = {&a, &b};
  return resultShape(operands, 2);
}

Tile withShape(Tile tile, const Shape* shape) {
  tile.shape = shape;
  return tile;
}

}  // namespace

bool toBox(BufferPool& pool, const Tile& mask, Tile* box) {
  if (mask.form == Form::Box) {
    *box = mask;
    return true;
  }
  if (!mask.shape->symbolic()) return false;
  Tile result;
  result.form = Form::Box;
  result.kind = ElementKind::I1;
  result.shape = mask.shape;
  for (int d = 0; d < mask.rank(); ++d) result.hi[d] = mask.shape->dims[d];
  if (mask.form == Form::Splat) {
    if (!mask.base)
      for (int d = 0; d < mask.rank(); ++d) result.hi[d] = 0;
    if (!mask.base && mask.rank() == 0) return false;
    *box = std::move(result);
    return true;
  }
  if (mask.form != Form::Dense) return false;
  uint32_t axes = dependence(mask);
  if (axes == 0) return toBox(pool, maskSplat(elementBits(mask, 0), mask.shape), box);
  if (axes & (axes - 1)) return false;
  int d = __builtin_ctz(axes);
  if (mask.stride[d] == 1) {
    result.axisBuffers[0] = mask.buffer;
    result.axis[d] = mask.data();
  } else {
    int64_t n = mask.shape->dims[d];
    result.axisBuffers[0] = BufferRef(pool.take(n));
    kernels().gatherStrided(1, result.axisBuffers[0].bytes(), mask.data(), mask.stride[d], n);
    result.axis[d] = result.axisBuffers[0].bytes();
  }
  *box = std::move(result);
  return true;
}

Tile maskAnd(BufferPool& pool, const Tile& a, const Tile& b) {
  const Shape* shape = larger(a, b);
  if (a.isSplat()) return a.base ? withShape(b, shape) : maskSplat(false, shape);
  if (b.isSplat()) return b.base ? withShape(a, shape) : maskSplat(false, shape);
  Tile x, y;
  if (a.shape == b.shape && toBox(pool, a, &x) && toBox(pool, b, &y)) {
    Tile result = x;
    int used = 0;
    result.axisBuffers = {};
    bool fits = true;
    for (int d = 0; d < shape->rank() && fits; ++d) {
      result.stride[d] = std::max(x.stride[d], y.stride[d]);
      result.hi[d] = std::min(x.hi[d], y.hi[d]);
      if (!x.axis[d] && !y.axis[d]) {
        result.axis[d] = nullptr;
        continue;
      }
      if (used == 2) {
        fits = false;
        break;
      }
      int64_t n = shape->dims[d];
      BufferRef bytes(pool.take(n));
      if (x.axis[d] && y.axis[d])
        kernels().binary(BinaryOp::And, ElementKind::I1).vv(bytes.bytes(), x.axis[d], y.axis[d], n);
      else
        std::memcpy(bytes.bytes(), x.axis[d] ? x.axis[d] : y.axis[d], n);
      result.axis[d] = bytes.bytes();
      result.axisBuffers[used++] = std::move(bytes);
    }
    if (fits) return normalizeBox(std::move(result));
  }
  return denseLogic(pool, BinaryOp::And, a, b);
}

Tile maskOr(BufferPool& pool, const Tile& a, const Tile& b) {
  const Shape* shape = larger(a, b);
  if (a.isSplat()) return a.base ? maskSplat(true, shape) : withShape(b, shape);
  if (b.isSplat()) return b.base ? maskSplat(true, shape) : withShape(a, shape);
  return denseLogic(pool, BinaryOp::Or, a, b);
}

Tile maskXor(BufferPool& pool, const Tile& a, const Tile& b) {
  const Shape* shape = larger(a, b);
  if (a.isSplat() && b.isSplat()) return maskSplat(a.base != b.base, shape);
  if (a.isSplat() && !a.base) return withShape(b, shape);
  if (b.isSplat() && !b.base) return withShape(a, shape);
  // not(box): an interval on one axis may stay one
  const Tile& other = a.isSplat() ? b : a;
  if ((a.isSplat() || b.isSplat()) && other.form == Form::Box) {
    uint32_t axes = dependence(other);
    if (axes && !(axes & (axes - 1))) {
      int d = __builtin_ctz(axes);
      if (!other.axis[d] && (other.stride[d] <= 0 || other.hi[d] >= shape->dims[d])) {
        Tile result = other;
        result.shape = shape;
        bool low = other.stride[d] <= 0;
        result.stride[d] = low ? other.hi[d] : 0;
        result.hi[d] = low ? shape->dims[d] : other.stride[d];
        return normalizeBox(std::move(result));
      }
    }
  }
  return denseLogic(pool, BinaryOp::Xor, a, b);
}

int64_t countTrue(BufferPool& pool, const Tile& mask) {
  if (mask.isSplat()) return mask.base ? mask.numel() : 0;
  if (mask.form == Form::Box) {
    int64_t count = 1;
    for (int d = 0; d < mask.rank(); ++d) {
      int64_t lo = std::max<int64_t>(mask.stride[d], 0), hi = std::min(mask.hi[d], mask.shape->dims[d]);
      if (lo >= hi) return 0;
      count *= mask.axis[d] ? static_cast<int64_t>(kernels().countNonZero(mask.axisMask(d) + lo, hi - lo))
                            : hi - lo;
    }
    return count;
  }
  if (isContiguous(mask)) return kernels().countNonZero(mask.data(), mask.numel());
  Tile dense = contiguous(pool, mask);
  return kernels().countNonZero(dense.data(), dense.numel());
}

}  // namespace tilesight::exec
