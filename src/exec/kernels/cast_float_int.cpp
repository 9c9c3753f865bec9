// Floats to integers: toward zero, NaN gives 0, what does not fit gives the nearest that does.
#include <type_traits>

#include "exec/kernels/narrow.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

/// 2^e as a T.
template <class T>
constexpr T powerOfTwo(int e) {
  if constexpr (sizeof(T) == 4) return bitCast<T>(uint32_t(e + 127) << 23);
  else return bitCast<T>(uint64_t(e + 1023) << 52);
}

template <class From, class To, int kBits = 8 * sizeof(To)>
struct ToInt {
  TS_INLINE static To apply(From x) {
    if constexpr (std::is_signed_v<To>) {
      constexpr From kLimit = powerOfTwo<From>(kBits - 1);
      constexpr To kMax = To((uint64_t(1) << (kBits - 1)) - 1), kMin = To(-kMax - 1);
      const From inside = absolute(x) < kLimit ? x : From(0);
      // Through 32 bits where they hold it: that conversion vectorises everywhere.
      const To value = To(std::conditional_t<(kBits <= 32), int32_t, int64_t>(inside));
      const To high = x >= kLimit ? kMax : value;
      return x <= -kLimit ? kMin : high;
    } else {
      constexpr From kLimit = powerOfTwo<From>(kBits), kHalf = powerOfTwo<From>(kBits - 1);
      using Int = std::conditional_t<(kBits <= 32), int32_t, int64_t>;
      const From inside = x > From(0) && x < kLimit ? x : From(0);
      To value;
      if constexpr (kBits < 32) {
        value = To(Int(inside));
      } else {
        // The upper half by way of the lower one: there are only signed conversions.
        const bool upper = inside >= kHalf;
        const To lowPart = To(Int(upper ? inside - kHalf : inside));
        value = To(lowPart ^ (upper ? To(To(1) << (kBits - 1)) : To(0)));
      }
      return x >= kLimit ? To(-1) : value;
    }
  }
};
/// i1 holds 0 and 1, signed 0 and -1.
template <class From> struct ToUnsignedBit { TS_INLINE static uint8_t apply(From x) { return x >= From(1); } };
template <class From> struct ToSignedBit { TS_INLINE static uint8_t apply(From x) { return x <= From(-1); } };

template <ElementKind K, class Op, class To>
void fromNarrow(void* out, const void* a, size_t n) {
  float x[kBlock];
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t m = smaller(kBlock, n - i);
    toF32<K>(x, static_cast<const typename FormatOf<K>::Type::Storage*>(a) + i, m);
    unaryLoop<Op, float, To>(static_cast<To*>(out) + i, x, m);
  }
}

template <template <class> class Op, class To>
UnaryFn from(ElementKind kind) {
  switch (kind) {
    case ElementKind::F32: return unaryLoop<Op<float>, float, To>;
    case ElementKind::F64: return unaryLoop<Op<double>, double, To>;
#define TS_CASE(K) case ElementKind::K: return fromNarrow<ElementKind::K, Op<float>, To>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

template <class To> struct Into { template <class From> using Op = ToInt<From, To>; };

template <class To>
UnaryFn into(ElementKind kind) { return from<Into<To>::template Op, To>(kind); }

}  // namespace

UnaryFn castFloatToInt(CastOp op, ElementKind kind, ElementKind to) {
  const bool isSigned = op == CastOp::FPToSI;
  switch (to) {
    case ElementKind::I1: return isSigned ? from<ToSignedBit, uint8_t>(kind) : from<ToUnsignedBit, uint8_t>(kind);
    case ElementKind::I8: return isSigned ? into<int8_t>(kind) : into<uint8_t>(kind);
    case ElementKind::I16: return isSigned ? into<int16_t>(kind) : into<uint16_t>(kind);
    case ElementKind::I32: return isSigned ? into<int32_t>(kind) : into<uint32_t>(kind);
    case ElementKind::I64: return isSigned ? into<int64_t>(kind) : into<uint64_t>(kind);
    default: return nullptr;
  }
}

TS_ISA_END
