// Casts between float kinds.
#include "exec/kernels/narrow.h"
#include "exec/kernels/round_to_odd.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

struct F32ToF64 { TS_INLINE static double apply(float x) { return canonical(double(x)); } };
struct F64ToF32 { TS_INLINE static float apply(double x) { return canonical(float(x)); } };
struct F64ToF32Rtz { TS_INLINE static float apply(double x) { return f64ToF32TowardZero(x); } };
struct F64ToF32Odd { TS_INLINE static float apply(double x) { return f64ToF32Odd(x); } };

// A narrow kind on one side or on both: through f32, which holds all of them exactly.

template <ElementKind K> using StorageOf = typename FormatOf<K>::Type::Storage;

template <ElementKind K>
void narrowToF32(void* out, const void* a, size_t n) { toF32<K>(static_cast<float*>(out), a, n); }

template <ElementKind K>
void narrowToF64(void* out, const void* a, size_t n) {
  float x[kBlock];
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t m = smaller(kBlock, n - i);
    toF32<K>(x, static_cast<const StorageOf<K>*>(a) + i, m);
    unaryLoop<F32ToF64, float, double>(static_cast<double*>(out) + i, x, m);
  }
}

template <ElementKind K, bool kToZero>
void f32ToNarrow(void* out, const void* a, size_t n) {
  if constexpr (kToZero) fromF32TowardZero<K>(out, static_cast<const float*>(a), n);
  else fromF32<K>(out, static_cast<const float*>(a), n);
}

template <ElementKind K, bool kToZero>
void f64ToNarrow(void* out, const void* a, size_t n) {
  float x[kBlock];
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t m = smaller(kBlock, n - i);
    unaryLoop<F64ToF32Odd, double, float>(x, static_cast<const double*>(a) + i, m);
    f32ToNarrow<K, kToZero>(static_cast<StorageOf<K>*>(out) + i, x, m);
  }
}

template <ElementKind From, ElementKind To, bool kToZero>
void narrowToNarrow(void* out, const void* a, size_t n) {
  float x[kBlock];
  for (size_t i = 0; i < n; i += kBlock) {
    const size_t m = smaller(kBlock, n - i);
    toF32<From>(x, static_cast<const StorageOf<From>*>(a) + i, m);
    f32ToNarrow<To, kToZero>(static_cast<StorageOf<To>*>(out) + i, x, m);
  }
}

template <ElementKind To, bool kToZero>
UnaryFn toNarrow(ElementKind from) {
  switch (from) {
    case ElementKind::F32: return f32ToNarrow<To, kToZero>;
    case ElementKind::F64: return f64ToNarrow<To, kToZero>;
#define TS_CASE(K) case ElementKind::K: return narrowToNarrow<ElementKind::K, To, kToZero>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

template <bool kToZero>
UnaryFn convert(ElementKind from, ElementKind to) {
  switch (to) {
    case ElementKind::F32:
      switch (from) {
        case ElementKind::F64:
          return kToZero ? unaryLoop<F64ToF32Rtz, double, float> : unaryLoop<F64ToF32, double, float>;
#define TS_CASE(K) case ElementKind::K: return narrowToF32<ElementKind::K>;
        TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
        default: return nullptr;
      }
    case ElementKind::F64:
      switch (from) {
        case ElementKind::F32: return unaryLoop<F32ToF64, float, double>;
#define TS_CASE(K) case ElementKind::K: return narrowToF64<ElementKind::K>;
        TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
        default: return nullptr;
      }
#define TS_CASE(K) case ElementKind::K: return toNarrow<ElementKind::K, kToZero>(from);
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

uint32_t bytes(ElementKind kind) {
  switch (kind) {
    case ElementKind::F64: return 8;
    case ElementKind::F32: return 4;
    case ElementKind::F16: case ElementKind::BF16: return 2;
    default: return 1;
  }
}

}  // namespace

UnaryFn castFloat(CastOp op, ElementKind from, ElementKind to) {
  if (from == to) return nullptr;
  if (op == CastOp::FPExt) return bytes(from) < bytes(to) ? convert<false>(from, to) : nullptr;
  return op == CastOp::FPTruncRtz ? convert<true>(from, to) : convert<false>(from, to);
}

TS_ISA_END
