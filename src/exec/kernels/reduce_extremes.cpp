#include "exec/kernels/reduce_extremes.h"

TS_ISA_BEGIN
namespace {

/// Which integer operation it is, and whether NaN is the largest key (else the smallest).
template <class Op> struct Keyed;
template <> struct Keyed<MinimumF> { using Integer = MinSI; static constexpr bool kNaNIsLargest = false; };
template <> struct Keyed<MaximumF> { using Integer = MaxSI; static constexpr bool kNaNIsLargest = true; };
template <> struct Keyed<MinNumF> { using Integer = MinSI; static constexpr bool kNaNIsLargest = true; };
template <> struct Keyed<MaxNumF> { using Integer = MaxSI; static constexpr bool kNaNIsLargest = false; };

/// Between a float's bits and an integer that orders like it; it undoes itself.
template <class B>
TS_INLINE B turnNegatives(B bits) {
  constexpr int kShift = 8 * sizeof(B) - 1;
  return B(bits ^ (B(Signed<B>(bits) >> kShift) & ~(B(1) << kShift)));
}

}  // namespace

template <class Op, class T>
void reduceExtremes(void* out, const void* in, size_t outer, size_t length, size_t inner) {
  using B = Bits<T>;
  constexpr B kNaN = Keyed<Op>::kNaNIsLargest ? B(~BitsOf<T>::kSign) : BitsOf<T>::kSign;  // no number has these keys
  const T* x = static_cast<const T*>(in);
  T* o = static_cast<T*>(out);
  const size_t slab = length * inner;
  if (slab == 0) return;
  if (length == 1) {  // nothing is combined: NaNs stay as they are
    __builtin_memcpy(out, in, outer * inner * sizeof(T));
    return;
  }
  const size_t group = slab < 4096 ? smaller(outer, 4096 / slab) : 1;
  B* keys = static_cast<B*>(threadScratch(ScratchUse::ReduceKeys, group * (slab + inner) * sizeof(B)));
  B* found = keys + group * slab;
  for (size_t at = 0; at < outer; at += group) {
    const size_t count = smaller(group, outer - at);
    const T* from = x + at * slab;
    TS_VECTOR_LOOP
    for (size_t i = 0; i < count * slab; ++i) keys[i] = from[i] == from[i] ? turnNegatives(bitCast<B>(from[i])) : kNaN;
    reduceLoop<typename Keyed<Op>::Integer, B>(found, keys, count, length, inner);
    T* to = o + at * inner;
    TS_VECTOR_LOOP
    for (size_t i = 0; i < count * inner; ++i) to[i] = canonical(bitCast<T>(turnNegatives(found[i])));
  }
}

#define TS_EXTREMES(Op)                                                                  \
  template void reduceExtremes<Op, float>(void*, const void*, size_t, size_t, size_t);   \
  template void reduceExtremes<Op, double>(void*, const void*, size_t, size_t, size_t);
TS_FLOAT_EXTREMES(TS_EXTREMES)
#undef TS_EXTREMES

TS_ISA_END
