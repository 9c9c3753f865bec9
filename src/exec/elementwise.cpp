#include "exec/elementwise.h"

#include <algorithm>
#include <cstring>

#include "exec/nary.h"
#include "exec/symbolic.h"

namespace tilesight::exec {

namespace {

const Shape* shapeOf(const Tile& a, const Tile& b) {
  const Tile* operands[2] = {&a, &b};
  return resultShape(operands, 2);
}

Tile applyBinary(BufferPool& pool, const BinaryForms& forms, ElementKind outKind, const Tile& a,
                 const Tile& b, unsigned dying) {
  if (!forms.vv) return {};
  if (a.isSplat() && b.isSplat()) {
    int64_t bits = 0;
    forms.vv(&bits, &a.base, &b.base, 1);
    return splatTile(outKind, bits, shapeOf(a, b));
  }
  const Tile* operands[2] = {&a, &b};
  uint32_t bytes = ir::elementBytes(outKind);
  return applyDense(pool, outKind, operands, 2, dying,
                    [&](uint8_t* out, const uint8_t* const* in, uint32_t scalar, size_t n) {
                      switch (scalar) {
                        case 0: forms.vv(out, in[0], in[1], n); break;
                        case 1: forms.sv(out, in[0], in[1], n); break;
                        case 2: forms.vs(out, in[0], in[1], n); break;
                        default: {
                          int64_t bits = 0;
                          forms.vv(&bits, in[0], in[1], 1);
                          kernels().fillSplat(bytes, out, &bits, n);
                        }
                      }
                    });
}

bool symbolicKind(ElementKind kind) {
  return kind == ElementKind::I8 || kind == ElementKind::I16 || kind == ElementKind::I32 ||
         kind == ElementKind::I64 || kind == ElementKind::Pointer;
}

}  // namespace

Tile binary(BufferPool& pool, BinaryOp op, const Tile& a, const Tile& b, unsigned dying) {
  if (a.kind == ElementKind::I1) {
    if (op == BinaryOp::And || op == BinaryOp::MulI || op == BinaryOp::MinU) return maskAnd(pool, a, b);
    if (op == BinaryOp::Or || op == BinaryOp::MaxU) return maskOr(pool, a, b);
    if (op == BinaryOp::Xor || op == BinaryOp::AddI || op == BinaryOp::SubI) return maskXor(pool, a, b);
  }
  if (symbolicKind(a.kind) && !(a.isSplat() && b.isSplat())) {
    Tile result;
    if (symbolicBinary(pool, op, a, b, &result)) {
      result.shape = shapeOf(a, b);
      return result;
    }
  }
  return applyBinary(pool, kernels().binary(op, a.kind), a.kind, a, b, dying);
}

Tile unary(BufferPool& pool, UnaryOp op, const Tile& a, unsigned dying) {
  UnaryFn fn = kernels().unary(op, a.kind);
  if (!fn) return {};
  ElementKind outKind = op == UnaryOp::IsZero ? ElementKind::I1 : a.kind;
  if (a.isSplat()) {
    int64_t bits = 0;
    fn(&bits, &a.base, 1);
    return splatTile(outKind, bits, a.shape);
  }
  const Tile* operands[1] = {&a};
  return applyDense(pool, outKind, operands, 1, dying,
                    [&](uint8_t* out, const uint8_t* const* in, uint32_t scalar, size_t n) {
                      fn(out, in[0], scalar ? 1 : n);
                    });
}

Tile compareI(BufferPool& pool, CmpIOp op, const Tile& a, const Tile& b) {
  if (symbolicKind(a.kind) && !(a.isSplat() && b.isSplat())) {
    Tile result;
    if (symbolicCompare(op, a, b, &result)) {
      result.shape = shapeOf(a, b);
      return result;
    }
  }
  return applyBinary(pool, kernels().compareI(op, a.kind), ElementKind::I1, a, b, 0);
}

Tile compareF(BufferPool& pool, CmpFOp op, const Tile& a, const Tile& b) {
  return applyBinary(pool, kernels().compareF(op, a.kind), ElementKind::I1, a, b, 0);
}

Tile select(BufferPool& pool, const Tile& condition, const Tile& a, const Tile& b) {
  const Tile* operands[3] = {&condition, &a, &b};
  const Shape* shape = resultShape(operands, 3);
  if (condition.isSplat()) {
    Tile chosen = condition.base ? a : b;
    chosen.shape = shape;
    chosen.taint = nullptr;
    // What lies in memory may be written before this is read.
    return chosen.form == Form::Dense && !chosen.buffer ? owned(pool, chosen) : chosen;
  }
  if (a.isSplat() && b.isSplat() && a.base == b.base && a.origin == b.origin) {
    Tile same = a;
    same.shape = shape;
    same.taint = nullptr;
    return same;
  }
  SelectForms forms = kernels().select(a.elementBytes());
  if (!forms.vv) return {};
  uint32_t bytes = a.elementBytes();
  Tile result = applyDense(
      pool, a.kind, operands, 3, 0,
      [&](uint8_t* out, const uint8_t* const* in, uint32_t scalar, size_t n) {
        if (scalar & 1) {  // the condition does not vary here: copy one side
          int side = *in[0] ? 1 : 2;
          if (scalar & (1u << side)) kernels().fillSplat(bytes, out, in[side], n);
          else std::memcpy(out, in[side], n * bytes);
          return;
        }
        TernaryFn fn = (scalar & 6) == 6   ? forms.ss
                       : (scalar & 2) != 0 ? forms.sv
                       : (scalar & 4) != 0 ? forms.vs
                                           : forms.vv;
        fn(out, in[0], in[1], in[2], n);
      });
  if (a.kind != ElementKind::Pointer) return result;
  if (a.origin == b.origin && a.origin != kOriginMixed) {
    result.origin = a.origin;
    return result;
  }
  // Pointers into different tensors: remember which element came from which.
  result = contiguous(pool, result);
  Tile mask = contiguous(pool, condition);
  Tile origins;
  origins.buffer = BufferRef(pool.take(static_cast<size_t>(shape->numel) * sizeof(int32_t)));
  auto* out = reinterpret_cast<int32_t*>(origins.buffer.bytes());
  auto of = [](const Tile& t, int64_t i) {
    return t.origin == kOriginMixed ? reinterpret_cast<const int32_t*>(t.origins.bytes())[i] : t.origin;
  };
  for (int64_t i = 0; i < shape->numel; ++i) out[i] = of(elementBits(mask, i) ? a : b, i);
  result = contiguous(pool, result);
  result.origin = kOriginMixed;
  result.origins = origins.buffer;
  return result;
}

Tile cast(BufferPool& pool, CastOp op, ElementKind to, const Tile& a) {
  bool integers = op == CastOp::SExt || op == CastOp::ZExt || op == CastOp::Trunc;
  if (integers && symbolicKind(a.kind) && symbolicKind(to) &&
      (a.form == Form::Affine || a.form == Form::Separable)) {
    Range range;
    if (symbolicRange(a, &range) && fitsKind(to, range.min) && fitsKind(to, range.max) &&
        (op != CastOp::ZExt || range.min >= 0)) {
      Tile result = a;
      result.kind = to;
      result.taint = nullptr;
      return result;
    }
  }
  UnaryFn fn = kernels().cast(op, a.kind, to);
  if (!fn) return {};
  if (a.isSplat()) {
    int64_t bits = 0;
    fn(&bits, &a.base, 1);
    return splatTile(to, bits, a.shape);
  }
  const Tile* operands[1] = {&a};
  return applyDense(pool, to, operands, 1, 0,
                    [&](uint8_t* out, const uint8_t* const* in, uint32_t scalar, size_t n) {
                      fn(out, in[0], scalar ? 1 : n);
                    });
}

namespace {

// Kernels that take spans only: operands that do not vary in a run are filled out.
Tile ternarySpans(BufferPool& pool, TernaryFn fn, const Tile& a, const Tile& b, const Tile& c) {
  if (!fn) return {};
  const Tile* operands[3] = {&a, &b, &c};
  uint32_t bytes = a.elementBytes();
  return applyDense(pool, a.kind, operands, 3, 0,
                    [&](uint8_t* out, const uint8_t* const* in, uint32_t scalar, size_t n) {
                      constexpr size_t kChunk = 512;
                      alignas(64) uint8_t filled[3][kChunk * 8];
                      for (size_t at = 0; at < n; at += kChunk) {
                        size_t m = std::min(kChunk, n - at);
                        const void* spans[3];
                        for (int i = 0; i < 3; ++i) {
                          if ((scalar >> i) & 1) {
                            kernels().fillSplat(bytes, filled[i], in[i], m);
                            spans[i] = filled[i];
                          } else {
                            spans[i] = in[i] + at * bytes;
                          }
                        }
                        fn(out + at * bytes, spans[0], spans[1], spans[2], m);
                      }
                    });
}

}  // namespace

Tile fma(BufferPool& pool, const Tile& a, const Tile& b, const Tile& c) {
  return ternarySpans(pool, kernels().fma(a.kind), a, b, c);
}

Tile clampF(BufferPool& pool, const Tile& x, const Tile& low, const Tile& high, bool propagateNan) {
  return ternarySpans(pool, kernels().clampF(x.kind, propagateNan), x, low, high);
}

namespace {

// The common case: both sides are affine and nothing leaves 64 bits.
bool affinePointerAdd(const Tile& pointer, const Tile& offset, int64_t bytes, Tile* out) {
  auto affine = [](const Tile& t) { return t.form == Form::Splat || t.form == Form::Affine; };
  if (!affine(pointer) || !affine(offset) || pointer.origin == kOriginMixed || pointer.rank() != offset.rank()) return false;
  Tile result = splatTile(ElementKind::Pointer, 0, pointer.shape);
  result.origin = pointer.origin;
  int64_t scaled;
  if (__builtin_mul_overflow(offset.base, bytes, &scaled) || __builtin_add_overflow(pointer.base, scaled, &result.base))
    return false;
  if (pointer.form == Form::Affine || offset.form == Form::Affine) {
    result.form = Form::Affine;
    for (int d = 0; d < pointer.rank(); ++d) {
      int64_t step = pointer.form == Form::Affine ? pointer.stride[d] : 0;
      int64_t more = offset.form == Form::Affine ? offset.stride[d] : 0;
      if (__builtin_mul_overflow(more, bytes, &scaled) || __builtin_add_overflow(step, scaled, &result.stride[d])) return false;
    }
  }
  *out = std::move(result);
  return true;
}

}  // namespace

Tile pointerAdd(BufferPool& pool, const Tile& pointer, const Tile& offset, int64_t bytes) {
  Tile quick;
  if (affinePointerAdd(pointer, offset, bytes, &quick)) return quick;
  // Offsets as 64-bit byte counts, sign-extended.
  Tile wide = offset;
  if (offset.kind != ElementKind::I64) {
    wide = cast(pool, CastOp::SExt, ElementKind::I64, offset);
    if (wide.form == Form::Empty) return {};
  }
  const Shape* shape = shapeOf(pointer, offset);
  Tile scaled = bytes == 1 ? wide
                           : binary(pool, BinaryOp::MulI, wide,
                                    splatTile(ElementKind::I64, bytes, shape));
  Tile base = pointer;
  base.kind = ElementKind::I64;
  Tile result = binary(pool, BinaryOp::AddI, base, scaled);
  result.kind = ElementKind::Pointer;
  result.shape = shape;
  result.taint = nullptr;
  result.origin = pointer.origin;
  if (pointer.origin == kOriginMixed) {
    result = contiguous(pool, result);
    result.origin = kOriginMixed;
    result.origins = pointer.origins;
  }
  return result;
}

Tile reinterpret(BufferPool& pool, const Tile& a, ElementKind to) {
  if (a.kind == to) return a;
  bool fromInteger = symbolicKind(a.kind), toInteger = symbolicKind(to);
  Tile result = a;
  if (a.form == Form::Box) result = strided(pool, a);
  if ((a.form == Form::Affine || a.form == Form::Separable) && !(fromInteger && toInteger))
    result = strided(pool, a);
  result.kind = to;
  if (result.isSplat()) result.base = normalizeBits(to, result.base);
  return result;
}

}  // namespace tilesight::exec
