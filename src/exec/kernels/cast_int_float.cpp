// Integers to floats, rounded once to nearest even.
#include "exec/kernels/narrow.h"
#include "exec/kernels/round_to_odd.h"
#include "exec/kernels/int_ops.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <class From, class To> struct Convert { TS_INLINE static To apply(From x) { return To(x); } };
/// i1: signed true is -1.
template <class To> struct SignedBit { TS_INLINE static To apply(uint8_t x) { return To(-int32_t(x)); } };

/// An f32 from which every narrow kind is rounded correctly.
template <class From> struct ToF32Odd {
  TS_INLINE static float apply(From x) {
    if constexpr (sizeof(From) <= 2) {
      return float(x);
    } else if constexpr (sizeof(From) == 4) {
      return f64ToF32Odd(double(x));
    } else if constexpr (From(-1) < From(0)) {
      const uint64_t magnitude = x < 0 ? 0 - uint64_t(x) : uint64_t(x);
      const float rounded = f64ToF32Odd(u64ToF64Odd(magnitude));
      return x < 0 ? -rounded : rounded;
    } else {
      return f64ToF32Odd(u64ToF64Odd(x));
    }
  }
};

template <ElementKind K, class Op, class From>
void toNarrow(void* out, const void* a, size_t n) {
  float x[kBlock];
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t m = smaller(kBlock, n - i);
    unaryLoop<Op, From, float>(x, static_cast<const From*>(a) + i, m);
    fromF32<K>(static_cast<typename FormatOf<K>::Type::Storage*>(out) + i, x, m);
  }
}

template <class From>
UnaryFn from(ElementKind to) {
  switch (to) {
    case ElementKind::F32: return unaryLoop<Convert<From, float>, From, float>;
    case ElementKind::F64: return unaryLoop<Convert<From, double>, From, double>;
#define TS_CASE(K) case ElementKind::K: return toNarrow<ElementKind::K, ToF32Odd<From>, From>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

UnaryFn fromSignedBit(ElementKind to) {
  switch (to) {
    case ElementKind::F32: return unaryLoop<SignedBit<float>, uint8_t, float>;
    case ElementKind::F64: return unaryLoop<SignedBit<double>, uint8_t, double>;
#define TS_CASE(K) case ElementKind::K: return toNarrow<ElementKind::K, SignedBit<float>, uint8_t>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

}  // namespace

UnaryFn castIntToFloat(CastOp op, ElementKind kind, ElementKind to) {
  const bool isSigned = op == CastOp::SIToFP;
  switch (kind) {
    case ElementKind::I1: return isSigned ? fromSignedBit(to) : from<uint8_t>(to);
    case ElementKind::I8: return isSigned ? from<int8_t>(to) : from<uint8_t>(to);
    case ElementKind::I16: return isSigned ? from<int16_t>(to) : from<uint16_t>(to);
    case ElementKind::I32: return isSigned ? from<int32_t>(to) : from<uint32_t>(to);
    case ElementKind::I64: return isSigned ? from<int64_t>(to) : from<uint64_t>(to);
    default: return nullptr;
  }
}

TS_ISA_END
