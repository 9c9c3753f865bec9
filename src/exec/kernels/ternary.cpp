// fma, clamp and select.
#include "exec/kernels/float_ops.h"
#include "exec/kernels/narrow.h"
#include "exec/kernels/round_to_odd.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

struct Fma { template <class T> TS_INLINE static T apply(T a, T b, T c) { return canonical(fusedMultiplyAdd(a, b, c)); } };
/// For narrow kinds: an f32 from which they are rounded as from the exact result.
struct FmaToOdd {
  TS_INLINE static float apply(float a, float b, float c) { return f64ToF32Odd(fusedToOdd(a, b, c)); }
};
struct ClampPropagating {
  template <class T> TS_INLINE static T apply(T x, T low, T high) { return MinimumF::apply(MaximumF::apply(x, low), high); }
};
struct ClampIgnoring {
  template <class T> TS_INLINE static T apply(T x, T low, T high) { return MinNumF::apply(MaxNumF::apply(x, low), high); }
};

template <class Op, class T>
void ternaryLoop(void* out, const void* a, const void* b, const void* c, size_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) o[i] = Op::apply(x[i], y[i], z[i]);
}

template <class Op, ElementKind K>
void narrowTernary(void* out, const void* a, const void* b, const void* c, size_t n) {
  using Storage = typename FormatOf<K>::Type::Storage;
  float x[kBlock], y[kBlock], z[kBlock];
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t m = smaller(kBlock, n - i);
    toF32<K>(x, static_cast<const Storage*>(a) + i, m);
    toF32<K>(y, static_cast<const Storage*>(b) + i, m);
    toF32<K>(z, static_cast<const Storage*>(c) + i, m);
    ternaryLoop<Op, float>(x, x, y, z, m);
    fromF32<K>(static_cast<Storage*>(out) + i, x, m);
  }
}

template <class Op, class NarrowOp = Op>
TernaryFn ternary(ElementKind kind) {
  switch (kind) {
    case ElementKind::F32: return ternaryLoop<Op, float>;
    case ElementKind::F64: return ternaryLoop<Op, double>;
#define TS_CASE(K) case ElementKind::K: return narrowTernary<NarrowOp, ElementKind::K>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

template <class T>
struct Select {
  template <bool kVectorA, bool kVectorB>
  static void loop(void* out, const void* condition, const void* a, const void* b, size_t n) {
    T* o = static_cast<T*>(out);
    const uint8_t* c = static_cast<const uint8_t*>(condition);
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
    const T x0 = kVectorA ? T(0) : *x;
    const T y0 = kVectorB ? T(0) : *y;
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) {
      const T whenTrue = kVectorA ? x[i] : x0;
      const T whenFalse = kVectorB ? y[i] : y0;
      o[i] = c[i] ? whenTrue : whenFalse;
    }
  }
  static SelectForms forms() {
    return {loop<true, true>, loop<true, false>, loop<false, true>, loop<false, false>};
  }
};

}  // namespace

TernaryFn fma(ElementKind kind) { return ternary<Fma, FmaToOdd>(kind); }

TernaryFn clampFloat(ElementKind kind, bool propagateNan) {
  return propagateNan ? ternary<ClampPropagating>(kind) : ternary<ClampIgnoring>(kind);
}

SelectForms select(uint32_t elementBytes) {
  switch (elementBytes) {
    case 1: return Select<uint8_t>::forms();
    case 2: return Select<uint16_t>::forms();
    case 4: return Select<uint32_t>::forms();
    case 8: return Select<uint64_t>::forms();
    default: return {};
  }
}

TS_ISA_END
