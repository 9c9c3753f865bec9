// Spans of the narrow float kinds to and from f32, and operations on them done in f32 by blocks.
#pragma once

#include "exec/kernels/elementwise.h"
#include "exec/kernels/formats.h"

TS_ISA_BEGIN

/// Exact; NaNs become canonical. `out` and `in` do not overlap.
template <ElementKind K> void toF32(float* out, const void* in, size_t n);
/// Rounded to nearest even, see Format::encode.
template <ElementKind K> void fromF32(void* out, const float* in, size_t n);
/// Rounded toward zero.
template <ElementKind K> void fromF32TowardZero(void* out, const float* in, size_t n);

#define TS_EXTERN_NARROW(K)                                                                       \
  extern template void toF32<ElementKind::K>(float*, const void*, size_t);                        \
  extern template void fromF32<ElementKind::K>(void*, const float*, size_t);                      \
  extern template void fromF32TowardZero<ElementKind::K>(void*, const float*, size_t);
TS_NARROW_KINDS(TS_EXTERN_NARROW)
#undef TS_EXTERN_NARROW

using ToF32Fn = void (*)(float*, const void*, size_t);
using FromF32Fn = void (*)(void*, const float*, size_t);
/// The functions above by kind; null for kinds that are not narrow floats.
ToF32Fn toF32Of(ElementKind kind);
FromF32Fn fromF32Of(ElementKind kind);

inline constexpr size_t kBlock = 512;

template <ElementKind K>
struct NarrowLoops {
  using F = typename FormatOf<K>::Type;
  using Storage = typename F::Storage;

  template <UnaryFn kOp>
  static void unary(void* out, const void* a, size_t n) {
    float x[kBlock];
    for (size_t i = 0; i < n; i += kBlock) {
      const size_t m = smaller(kBlock, n - i);
      toF32<K>(x, static_cast<const Storage*>(a) + i, m);
      kOp(x, x, m);
      fromF32<K>(static_cast<Storage*>(out) + i, x, m);
    }
  }
  template <BinaryFn kOp>
  static void vv(void* out, const void* a, const void* b, size_t n) {
    float x[kBlock], y[kBlock];
    for (size_t i = 0; i < n; i += kBlock) {
      const size_t m = smaller(kBlock, n - i);
      toF32<K>(x, static_cast<const Storage*>(a) + i, m);
      toF32<K>(y, static_cast<const Storage*>(b) + i, m);
      kOp(x, x, y, m);
      fromF32<K>(static_cast<Storage*>(out) + i, x, m);
    }
  }
  template <BinaryFn kOp>
  static void vs(void* out, const void* a, const void* b, size_t n) {
    float x[kBlock];
    const float y = F::decode(*static_cast<const Storage*>(b));
    for (size_t i = 0; i < n; i += kBlock) {
      const size_t m = smaller(kBlock, n - i);
      toF32<K>(x, static_cast<const Storage*>(a) + i, m);
      kOp(x, x, &y, m);
      fromF32<K>(static_cast<Storage*>(out) + i, x, m);
    }
  }
  template <BinaryFn kOp>
  static void sv(void* out, const void* a, const void* b, size_t n) {
    const float x = F::decode(*static_cast<const Storage*>(a));
    float y[kBlock];
    for (size_t i = 0; i < n; i += kBlock) {
      const size_t m = smaller(kBlock, n - i);
      toF32<K>(y, static_cast<const Storage*>(b) + i, m);
      kOp(y, &x, y, m);
      fromF32<K>(static_cast<Storage*>(out) + i, y, m);
    }
  }
  /// Comparisons: the result is a span of bytes.
  template <class L>
  struct Compare {
    static void vv(void* out, const void* a, const void* b, size_t n) {
      float x[kBlock], y[kBlock];
      for (size_t i = 0; i < n; i += kBlock) {
        const size_t m = smaller(kBlock, n - i);
        toF32<K>(x, static_cast<const Storage*>(a) + i, m);
        toF32<K>(y, static_cast<const Storage*>(b) + i, m);
        L::vv(static_cast<uint8_t*>(out) + i, x, y, m);
      }
    }
    static void vs(void* out, const void* a, const void* b, size_t n) {
      float x[kBlock];
      const float y = F::decode(*static_cast<const Storage*>(b));
      for (size_t i = 0; i < n; i += kBlock) {
        const size_t m = smaller(kBlock, n - i);
        toF32<K>(x, static_cast<const Storage*>(a) + i, m);
        L::vs(static_cast<uint8_t*>(out) + i, x, &y, m);
      }
    }
    static void sv(void* out, const void* a, const void* b, size_t n) {
      const float x = F::decode(*static_cast<const Storage*>(a));
      float y[kBlock];
      for (size_t i = 0; i < n; i += kBlock) {
        const size_t m = smaller(kBlock, n - i);
        toF32<K>(y, static_cast<const Storage*>(b) + i, m);
        L::sv(static_cast<uint8_t*>(out) + i, &x, y, m);
      }
    }
  };
};

TS_ISA_END
