// Sums and products in f32 and f64, compiled in reduce_float.cpp; narrow kinds use the f32 ones.
#pragma once

#include "exec/kernels/float_ops.h"
#include "exec/kernels/reduce.h"

TS_ISA_BEGIN

#define TS_FLOAT_REDUCE(X) X(AddF) X(MulF)

#define TS_EXTERN_REDUCE(Op)                                                               \
  extern template void reduceLoop<Op, float>(void*, const void*, size_t, size_t, size_t);  \
  extern template void reduceLoop<Op, double>(void*, const void*, size_t, size_t, size_t);
TS_FLOAT_REDUCE(TS_EXTERN_REDUCE)
#undef TS_EXTERN_REDUCE

TS_ISA_END
