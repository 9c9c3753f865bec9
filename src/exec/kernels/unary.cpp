// Unary operations: the exact ones for every kind, the elementary functions of the narrow kinds.
#include "exec/kernels/float_ops.h"
#include "exec/kernels/narrow.h"
#include "exec/kernels/sets.h"
#include "exec/kernels/unary_math.h"

TS_ISA_BEGIN
namespace {

struct AbsI { template <class T> TS_INLINE static T apply(T x) { return Signed<T>(x) < 0 ? T(0 - Wide<T>(x)) : x; } };
struct IsZero { template <class T> TS_INLINE static uint8_t apply(T x) { return x == 0; } };

template <class T>
UnaryFn forInt(UnaryOp op) {
  if (op == UnaryOp::AbsI) return unaryLoop<AbsI, T, T>;
  if (op == UnaryOp::IsZero) return unaryLoop<IsZero, T, uint8_t>;
  return nullptr;
}

void copyBytes(void* out, const void* a, size_t n) { __builtin_memmove(out, a, n); }

// Sign changes are bit moves: they keep NaNs as they are.
template <class F> struct Negate {
  using S = typename F::Storage;
  TS_INLINE static S apply(S x) {
    if constexpr (F::kSpecials == Specials::Fnuz) return (x & (F::kSign - 1)) == 0 ? x : S(x ^ F::kSign);
    else return S(x ^ F::kSign);
  }
};
template <class F> struct Absolute {
  using S = typename F::Storage;
  TS_INLINE static S apply(S x) {
    if constexpr (F::kSpecials == Specials::Fnuz) return x == F::kNaN ? x : S(x & (F::kSign - 1));
    else return S(x & (F::kSign - 1));
  }
};

template <ElementKind K>
UnaryFn forNarrow(UnaryOp op) {
  using F = typename FormatOf<K>::Type;
  using S = typename F::Storage;
  using N = NarrowLoops<K>;
  switch (op) {
    case UnaryOp::NegF: return unaryLoop<Negate<F>, S, S>;
    case UnaryOp::AbsF: return unaryLoop<Absolute<F>, S, S>;
    case UnaryOp::Exp: return N::template unary<math::expF32>;
    case UnaryOp::Exp2: return N::template unary<math::exp2F32>;
    case UnaryOp::Log: return N::template unary<math::logF32>;
    case UnaryOp::Log2: return N::template unary<math::log2F32>;
    case UnaryOp::Sin: return N::template unary<math::sinF32>;
    case UnaryOp::Cos: return N::template unary<math::cosF32>;
    case UnaryOp::Tanh: return N::template unary<math::tanhF32>;
    case UnaryOp::Sqrt: return N::template unary<math::sqrtF32>;
    case UnaryOp::Rsqrt: return N::template unary<math::rsqrtF32>;
    case UnaryOp::Erf: return N::template unary<math::erfF32>;
    case UnaryOp::Floor: return N::template unary<math::floorF32>;
    case UnaryOp::Ceil: return N::template unary<math::ceilF32>;
    default: return nullptr;
  }
}

}  // namespace

UnaryFn unaryInt(UnaryOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::I1:  // |-1| is 1, which i1 spells as -1 again
      if (op == UnaryOp::IsZero) return unaryLoop<IsZero, uint8_t, uint8_t>;
      return op == UnaryOp::AbsI ? copyBytes : nullptr;
    case ElementKind::I8: return forInt<uint8_t>(op);
    case ElementKind::I16: return forInt<uint16_t>(op);
    case ElementKind::I32: return forInt<uint32_t>(op);
    case ElementKind::I64: case ElementKind::Pointer: return forInt<uint64_t>(op);
    default: return nullptr;
  }
}

UnaryFn unaryNarrow(UnaryOp op, ElementKind kind) {
  switch (kind) {
#define TS_CASE(K) case ElementKind::K: return forNarrow<ElementKind::K>(op);
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

TS_ISA_END
