// Reduction by the fixed tree: x[i] = x[i] op x[i + half], half = length/2, length/4, .. 1.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

/// The last levels of one row, of kLength elements, without loops.
template <class Op, class T, size_t kLength>
TS_INLINE T reduceShort(const T* in) {
  if constexpr (kLength == 1) {
    return in[0];
  } else {
    constexpr size_t kHalf = kLength / 2;
    T x[kHalf];
    TS_UNROLL
    for (size_t i = 0; i < kHalf; ++i) x[i] = Op::apply(in[i], in[i + kHalf]);
    return reduceShort<Op, T, kHalf>(x);
  }
}

/// The tree over rows of `width` elements, each `rowStride` elements after the one before. The first
/// level reads `in`, the others work in `scratch` (length/2 rows of `width`), the last writes `out`.
template <class Op, class T>
[[gnu::noinline]] void reduceRows(T* out, const T* in, size_t length, size_t rowStride, size_t width, T* scratch) {
  if (length == 1) {
    __builtin_memcpy(out, in, width * sizeof(T));
    return;
  }
  size_t half = length / 2;
  T* to = half == 1 ? out : scratch;
  for (size_t i = 0; i < half; ++i) {
    const T* x = in + i * rowStride;
    const T* y = in + (i + half) * rowStride;
    T* o = to + i * width;
    TS_VECTOR_LOOP
    for (size_t j = 0; j < width; ++j) o[j] = Op::apply(x[j], y[j]);
  }
  while (half > 1) {
    half /= 2;
    to = half == 1 ? out : scratch;
    const T* y = scratch + half * width;
    TS_VECTOR_LOOP
    for (size_t j = 0; j < half * width; ++j) to[j] = Op::apply(scratch[j], y[j]);
  }
}

inline constexpr size_t kReduceScratchBytes = 1 << 16;

template <class Op, class T>
[[gnu::noinline]] void reduceInner(T* out, const T* in, size_t outer, size_t length) {
  constexpr size_t kShort = 16;
  alignas(64) T scratch[kReduceScratchBytes / sizeof(T)];
  for (size_t o = 0; o < outer; ++o, in += length) {
    switch (length) {
      case 1: out[o] = in[0]; continue;
      case 2: out[o] = reduceShort<Op, T, 2>(in); continue;
      case 4: out[o] = reduceShort<Op, T, 4>(in); continue;
      case 8: out[o] = reduceShort<Op, T, 8>(in); continue;
      case 16: out[o] = reduceShort<Op, T, 16>(in); continue;
      default: break;
    }
    // Levels of more than kShort elements. Rows too long for the scratch are cut into columns of the
    // first levels: what is left of column c after them is row c's element of the next level.
    const T* level = in;
    size_t rest = length;
    if (length / 2 <= sizeof(scratch) / sizeof(T)) {
      while (rest > kShort) {
        rest /= 2;
        const T* y = level + rest;
        TS_VECTOR_LOOP
        for (size_t j = 0; j < rest; ++j) scratch[j] = Op::apply(level[j], y[j]);
        level = scratch;
      }
    } else {
      // [length/w, w]: reducing the first axis is the same tree as the first log2(length/w) levels.
      constexpr size_t kWidth = kShort;
      T* columns = static_cast<T*>(__builtin_malloc(length / 2 * sizeof(T)));
      reduceRows<Op>(scratch, in, length / kWidth, kWidth, kWidth, columns);
      __builtin_free(columns);
      level = scratch;
    }
    out[o] = reduceShort<Op, T, kShort>(level);
  }
}

/// ReduceFn over elements of type T. See kernels.h.
template <class Op, class T>
[[gnu::noinline]] void reduceLoop(void* out, const void* in, size_t outer, size_t length, size_t inner) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in);
  if (length == 0) return;
  if (inner == 1) return reduceInner<Op, T>(o, x, outer, length);
  // Columns in slices whose scratch stays in the cache.
  constexpr size_t kElements = kReduceScratchBytes / sizeof(T);
  alignas(64) T local[kElements];
  const size_t half = length > 1 ? length / 2 : 1;
  const size_t fitting = kElements / half;
  const bool fits = fitting > 0;
  const size_t slice = fits ? smaller(inner, fitting) : inner;
  T* scratch = fits ? local : static_cast<T*>(__builtin_malloc(half * inner * sizeof(T)));
  for (size_t i = 0; i < outer; ++i)
    for (size_t j = 0; j < inner; j += slice)
      reduceRows<Op>(o + i * inner + j, x + i * length * inner + j, length, inner, smaller(slice, inner - j), scratch);
  if (!fits) __builtin_free(scratch);
}

TS_ISA_END
