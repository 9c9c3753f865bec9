// Reduction by the fixed tree: x[i] = x[i] op x[i + half], half = length/2, length/4, .. 1.
#pragma once

#include "exec/kernels/scratch.h"

TS_ISA_BEGIN

// Rows of a power of two up to kTailLength: level by level over many rows, so that the loops have
// fixed inner lengths; the last two levels by groups of elements, which vectorise over the rows.

inline constexpr size_t kTailLength = 64;

template <class Op, class T, size_t kHalf>
TS_INLINE void halveRows(T* out, const T* in, size_t rows) {
  for (size_t r = 0; r < rows; ++r) {
    T half[kHalf];
    // Unrolled before it is vectorised, it would not be vectorised.
    TS_VECTOR_LOOP
    TS_NO_UNROLL
    for (size_t j = 0; j < kHalf; ++j) half[j] = Op::apply(in[r * 2 * kHalf + j], in[r * 2 * kHalf + kHalf + j]);
    __builtin_memcpy(out + r * kHalf, half, sizeof(half));
  }
}

/// Reduces rows of `length` (1 .. kTailLength) elements. `in` may be `work`, which has room for
/// rows * length / 2 elements; `out` is neither.
template <class Op, class T>
[[gnu::noinline]] void reduceTails(T* out, const T* in, size_t rows, size_t length, T* work) {
  switch (length) {
    case 1: __builtin_memcpy(out, in, rows * sizeof(T)); return;
    case 2:
      TS_VECTOR_LOOP
      for (size_t r = 0; r < rows; ++r) out[r] = Op::apply(in[2 * r], in[2 * r + 1]);
      return;
    case 64: halveRows<Op, T, 32>(work, in, rows); in = work; [[fallthrough]];
    case 32: halveRows<Op, T, 16>(work, in, rows); in = work; [[fallthrough]];
    case 16: halveRows<Op, T, 8>(work, in, rows); in = work; [[fallthrough]];
    case 8: halveRows<Op, T, 4>(work, in, rows); in = work; [[fallthrough]];
    default:
      TS_VECTOR_LOOP
      for (size_t r = 0; r < rows; ++r)
        out[r] = Op::apply(Op::apply(in[4 * r], in[4 * r + 2]), Op::apply(in[4 * r + 1], in[4 * r + 3]));
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
  const bool contiguous = rowStride == width;
  const size_t runs = contiguous ? 1 : half, run = contiguous ? half * width : width;
  for (size_t i = 0; i < runs; ++i) {
    const T* x = in + i * rowStride;
    const T* y = in + (i + half) * rowStride;
    T* o = to + i * width;
    TS_VECTOR_LOOP
    for (size_t j = 0; j < run; ++j) o[j] = Op::apply(x[j], y[j]);
  }
  while (half > 1) {
    half /= 2;
    to = half == 1 ? out : scratch;
    const T* y = scratch + half * width;
    TS_VECTOR_LOOP
    for (size_t j = 0; j < half * width; ++j) to[j] = Op::apply(scratch[j], y[j]);
  }
}

/// What a slice of columns may take, to stay in the cache.
inline constexpr size_t kReduceScratchBytes = 1 << 16;

template <class Op, class T>
[[gnu::noinline]] void reduceInner(T* out, const T* in, size_t outer, size_t length) {
  constexpr size_t kRows = 32;  // at a time
  alignas(64) T tails[kRows * kTailLength];
  if (length <= kTailLength) {
    for (size_t o = 0; o < outer; o += kRows)
      reduceTails<Op, T>(out + o, in + o * length, smaller(kRows, outer - o), length, tails);
    return;
  }
  // The first levels row by row, until the tail is left. They are the same tree as that of the first
  // axis of [length/kTailLength, kTailLength].
  T* scratch = static_cast<T*>(threadScratch(ScratchUse::ReduceTree, length / 2 * sizeof(T)));
  for (size_t o = 0; o < outer; o += kRows) {
    const size_t rows = smaller(kRows, outer - o);
    for (size_t r = 0; r < rows; ++r)
      reduceRows<Op, T>(tails + r * kTailLength, in + (o + r) * length, length / kTailLength, kTailLength, kTailLength, scratch);
    reduceTails<Op, T>(out + o, tails, rows, kTailLength, tails);
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
  const size_t half = length > 1 ? length / 2 : 1;
  const size_t fitting = kElements / half;
  const size_t slice = smaller(inner, fitting > 16 ? fitting : 16);
  T* scratch = static_cast<T*>(threadScratch(ScratchUse::ReduceTree, half * slice * sizeof(T)));
  for (size_t i = 0; i < outer; ++i)
    for (size_t j = 0; j < inner; j += slice)
      reduceRows<Op>(o + i * inner + j, x + i * length * inner + j, length, inner, smaller(slice, inner - j), scratch);
}

TS_ISA_END
