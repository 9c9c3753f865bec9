// Minima and maxima of f32 and f64 along an axis, as those of integers: numbers in the order of their values, -0 below
// +0, and NaN at the end that wins or loses. No order of the steps gives other bits.
#pragma once

#include "exec/kernels/float_ops.h"
#include "exec/kernels/reduce.h"

TS_ISA_BEGIN

/// ReduceFn for MinimumF, MaximumF, MinNumF or MaxNumF over elements of type T.
template <class Op, class T> void reduceExtremes(void* out, const void* in, size_t outer, size_t length, size_t inner);

#define TS_FLOAT_EXTREMES(X) X(MinimumF) X(MaximumF) X(MinNumF) X(MaxNumF)
#define TS_EXTERN_EXTREMES(Op)                                                                 \
  extern template void reduceExtremes<Op, float>(void*, const void*, size_t, size_t, size_t);  \
  extern template void reduceExtremes<Op, double>(void*, const void*, size_t, size_t, size_t);
TS_FLOAT_EXTREMES(TS_EXTERN_EXTREMES)
#undef TS_EXTERN_EXTREMES

TS_ISA_END
