#include "exec/symbolic.h"

#include <algorithm>

namespace tilesight::exec {

namespace {

constexpr int64_t kFar = int64_t{1} << 61;  // beyond it, differences are left to the dense path

bool isSymbolic(const Tile& tile) {
  return tile.form == Form::Splat || tile.form == Form::Affine || tile.form == Form::Separable;
}

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b != a && ((a < 0) != (b < 0)) ? q - 1 : q;
}
int64_t ceilDiv(int64_t a, int64_t b) { return -floorDiv(-a, b); }

// a + sign * b, axis by axis. False if more than two axes need vectors.
bool addForms(BufferPool& pool, const Tile& a, const Tile& b, int64_t sign, Tile* out) {
  int rank = std::max(a.rank(), b.rank());
  if (a.rank() != b.rank() && !a.isSplat() && !b.isSplat()) return false;
  const Shape& shape = a.rank() == rank ? *a.shape : *b.shape;
  Tile result;
  result.form = Form::Affine;
  result.kind = a.kind;
  result.shape = &shape;
  result.base = static_cast<int64_t>(static_cast<uint64_t>(a.base) +
                                     static_cast<uint64_t>(sign) * static_cast<uint64_t>(b.base));
  int used = 0;
  for (int d = 0; d < rank; ++d) {
    auto values = [d](const Tile& t) {
      return t.form == Form::Separable ? t.axisValues(d) : nullptr;
    };
    auto step = [d](const Tile& t) { return t.isSplat() ? int64_t{0} : t.stride[d]; };
    const int64_t *va = values(a), *vb = values(b);
    if (!va && !vb) {
      if (__builtin_mul_overflow(sign, step(b), &result.stride[d]) ||
          __builtin_add_overflow(step(a), result.stride[d], &result.stride[d]))
        return false;
      continue;
    }
    if (used == 2) return false;
    result.form = Form::Separable;
    int64_t n = shape.dims[d];
    if (sign == 1 && ((va && !vb && step(b) == 0) || (vb && !va && step(a) == 0))) {
      // One side alone: share its vector.
      const Tile& owner = va ? a : b;
      result.axis[d] = owner.axis[d];
      for (const BufferRef& ref : owner.axisBuffers)
        if (ref && ref.bytes() == owner.axis[d]) result.axisBuffers[used] = ref;
      if (!result.axisBuffers[used]) return false;
      ++used;
      continue;
    }
    BufferRef buffer(pool.take(n * sizeof(int64_t)));
    auto* to = reinterpret_cast<uint64_t*>(buffer.bytes());
    uint64_t sa = step(a), sb = step(b), s = sign;
    for (int64_t i = 0; i < n; ++i) {
      uint64_t left = va ? static_cast<uint64_t>(va[i]) : sa * i;
      uint64_t right = vb ? static_cast<uint64_t>(vb[i]) : sb * i;
      to[i] = left + s * right;
    }
    result.axis[d] = to;
    result.axisBuffers[used++] = std::move(buffer);
  }
  *out = std::move(result);
  return true;
}

bool scaleForm(BufferPool& pool, const Tile& a, int64_t factor, Tile* out) {
  Tile result = a;
  result.taint = nullptr;
  if (__builtin_mul_overflow(a.base, factor, &result.base)) return false;
  int used = 0;
  result.axisBuffers = {};
  for (int d = 0; d < a.rank(); ++d) {
    if (a.form == Form::Separable && a.axis[d]) {
      int64_t n = a.shape->dims[d];
      BufferRef buffer(pool.take(n * sizeof(int64_t)));
      auto* to = reinterpret_cast<int64_t*>(buffer.bytes());
      const int64_t* from = a.axisValues(d);
      for (int64_t i = 0; i < n; ++i)
        if (__builtin_mul_overflow(from[i], factor, &to[i])) return false;
      result.axis[d] = to;
      result.axisBuffers[used++] = std::move(buffer);
    } else if (__builtin_mul_overflow(a.stride[d], factor, &result.stride[d])) {
      return false;
    }
  }
  *out = std::move(result);
  return true;
}

bool resultFits(const Tile& tile) {
  if (tile.kind == ElementKind::Pointer) return true;
  Range range;
  if (!symbolicRange(tile, &range)) return false;
  return fitsKind(tile.kind, range.min) && fitsKind(tile.kind, range.max);
}

// x op m for a splat m, where the range of x settles it.
bool divideForm(BinaryOp op, const Tile& x, int64_t m, Tile* out) {
  Range range;
  if (m <= 0 || !symbolicRange(x, &range)) return false;
  bool unsignedOp = op == BinaryOp::DivU || op == BinaryOp::RemU;
  if (unsignedOp && range.min < 0) return false;
  bool remainder = op == BinaryOp::RemS || op == BinaryOp::RemU;
  bool onePeriod = range.min / m == range.max / m &&
                   ((range.min >= 0) == (range.max >= 0) || range.min > -m);
  if (remainder) {
    if (range.min > -m && range.max < m) {  // truncation keeps the sign
      *out = x;
      out->taint = nullptr;
      return true;
    }
    if (range.min >= 0 && range.min / m == range.max / m) {
      *out = x;
      out->taint = nullptr;
      out->base -= range.min / m * m;
      return true;
    }
    if (x.form != Form::Affine) return false;
    for (int d = 0; d < x.rank(); ++d)
      if (x.stride[d] % m) return false;
    if (range.min < 0) return false;
    *out = splatTile(x.kind, x.base % m, x.shape);
    return true;
  }
  if (onePeriod) {
    *out = splatTile(x.kind, range.min / m, x.shape);
    return true;
  }
  if (x.form != Form::Affine || x.base % m) return false;
  for (int d = 0; d < x.rank(); ++d)
    if (x.stride[d] % m) return false;
  *out = x;
  out->taint = nullptr;
  out->base /= m;
  for (int d = 0; d < x.rank(); ++d) out->stride[d] /= m;
  return true;
}

}  // namespace

bool symbolicBinary(BufferPool& pool, BinaryOp op, const Tile& a, const Tile& b, Tile* out) {
  const Shape* shape = a.rank() >= b.rank() ? a.shape : b.shape;
  if (!shape->symbolic()) return false;
  uint32_t axes = dependence(a) | dependence(b);
  bool anyDense = a.form == Form::Dense || b.form == Form::Dense;
  if (anyDense && !(axes & (axes - 1))) return false;  // one axis: the dense path is as cheap
  switch (op) {
    case BinaryOp::AddI:
    case BinaryOp::SubI: {
      Tile x, y;  // filled only where a form has to change
      if (!isSymbolic(a) && !toSeparable(pool, a, &x)) return false;
      if (!isSymbolic(b) && !toSeparable(pool, b, &y)) return false;
      if (!addForms(pool, isSymbolic(a) ? a : x, isSymbolic(b) ? b : y, op == BinaryOp::AddI ? 1 : -1, out)) return false;
      return resultFits(*out);
    }
    case BinaryOp::MulI:
    case BinaryOp::Shl: {
      bool left = op == BinaryOp::MulI && a.isSplat();
      const Tile& factor = left ? a : b;
      const Tile& other = left ? b : a;
      if (!factor.isSplat() || !isSymbolic(other)) return false;
      int64_t by = factor.base;
      if (op == BinaryOp::Shl) {
        if (by < 0 || by > 40) return false;
        by = int64_t{1} << by;
      }
      return scaleForm(pool, other, by, out) && resultFits(*out);
    }
    case BinaryOp::DivS:
    case BinaryOp::DivU:
    case BinaryOp::RemS:
    case BinaryOp::RemU:
      return b.isSplat() && isSymbolic(a) && divideForm(op, a, b.base, out);
    case BinaryOp::MinS:
    case BinaryOp::MaxS: {
      Range x, y;
      if (!symbolicRange(a, &x) || !symbolicRange(b, &y)) return false;
      bool low = op == BinaryOp::MinS;
      if (low ? x.max <= y.min : x.min >= y.max) *out = a;
      else if (low ? y.max <= x.min : y.min >= x.max) *out = b;
      else return false;
      out->taint = nullptr;
      return true;
    }
    default: return false;
  }
}

bool symbolicCompare(CmpIOp op, const Tile& a, const Tile& b, Tile* out) {
  const Shape* shape = a.rank() >= b.rank() ? a.shape : b.shape;
  if (!shape->symbolic() || !isSymbolic(a) || !isSymbolic(b)) return false;
  Range x, y;
  if (!symbolicRange(a, &x) || !symbolicRange(b, &y)) return false;
  if (x.min < -kFar || x.max > kFar || y.min < -kFar || y.max > kFar) return false;
  bool unsignedOp = op >= CmpIOp::Ult;
  if (unsignedOp) {
    if (x.min < 0 || y.min < 0) return false;
    op = static_cast<CmpIOp>(static_cast<int>(op) - static_cast<int>(CmpIOp::Ult) +
                             static_cast<int>(CmpIOp::Slt));
  }
  auto uniform = [&](bool value) {
    *out = maskSplat(value, shape);
    return true;
  };
  switch (op) {
    case CmpIOp::Slt:
      if (x.max < y.min) return uniform(true);
      if (x.min >= y.max) return uniform(false);
      break;
    case CmpIOp::Sle:
      if (x.max <= y.min) return uniform(true);
      if (x.min > y.max) return uniform(false);
      break;
    case CmpIOp::Sgt:
      if (x.min > y.max) return uniform(true);
      if (x.max <= y.min) return uniform(false);
      break;
    case CmpIOp::Sge:
      if (x.min >= y.max) return uniform(true);
      if (x.max < y.min) return uniform(false);
      break;
    case CmpIOp::Eq:
    case CmpIOp::Ne:
      if (x.max < y.min || x.min > y.max) return uniform(op == CmpIOp::Ne);
      break;
    default: break;
  }
  if (a.form == Form::Separable || b.form == Form::Separable) return false;
  // The difference, affine: base + sum stride * i, against 0.
  int64_t base = a.base - b.base;
  std::array<int64_t, kMaxRank> stride{};
  int axis = -1;
  for (int d = 0; d < shape->rank(); ++d) {
    stride[d] = (a.isSplat() ? 0 : a.stride[d]) - (b.isSplat() ? 0 : b.stride[d]);
    if (stride[d] == 0) continue;
    if (axis >= 0) return false;
    axis = d;
  }
  auto holds = [&](int64_t value) {
    switch (op) {
      case CmpIOp::Eq: return value == 0;
      case CmpIOp::Ne: return value != 0;
      case CmpIOp::Slt: return value < 0;
      case CmpIOp::Sle: return value <= 0;
      case CmpIOp::Sgt: return value > 0;
      default: return value >= 0;
    }
  };
  if (axis < 0) return uniform(holds(base));
  int64_t size = shape->dims[axis], s = stride[axis];
  int64_t lo = 0, hi = size;
  if (op == CmpIOp::Eq || op == CmpIOp::Ne) {
    bool hit = base % s == 0 && -base / s >= 0 && -base / s < size;
    int64_t at = hit ? -base / s : 0;
    if (op == CmpIOp::Eq) {
      if (!hit) return uniform(false);
      lo = at;
      hi = at + 1;
    } else {
      if (!hit) return uniform(true);
      if (at == 0) lo = 1;
      else if (at == size - 1) hi = size - 1;
      else return false;
    }
  } else {
    // Bring to c + t*i < 0.
    int64_t c = base, t = s;
    if (op == CmpIOp::Sgt || op == CmpIOp::Sge) c = -c, t = -t;
    if (op == CmpIOp::Sle || op == CmpIOp::Sge) c -= 1;
    if (t > 0) hi = std::clamp<int64_t>(ceilDiv(-c, t), 0, size);
    else lo = std::clamp<int64_t>(floorDiv(c, -t) + 1, 0, size);
  }
  if (lo >= hi) return uniform(false);
  if (lo == 0 && hi == size) return uniform(true);
  Tile box;
  box.form = Form::Box;
  box.kind = ElementKind::I1;
  box.shape = shape;
  for (int d = 0; d < shape->rank(); ++d) box.hi[d] = shape->dims[d];
  box.stride[axis] = lo;
  box.hi[axis] = hi;
  *out = std::move(box);
  return true;
}

}  // namespace tilesight::exec
