// The f32 and f64 loops, compiled in binary_float.cpp; the narrow kinds run the f32 ones block by block.
#pragma once

#include "exec/kernels/elementwise.h"
#include "exec/kernels/float_ops.h"

TS_ISA_BEGIN

#define TS_FLOAT_BINARY(X) X(AddF) X(SubF) X(MulF) X(DivF) X(RemF) X(MinimumF) X(MaximumF) X(MinNumF) X(MaxNumF)

#define TS_EXTERN_LOOPS(Op)                       \
  extern template struct Loops<Op, float, float>; \
  extern template struct Loops<Op, double, double>;
TS_FLOAT_BINARY(TS_EXTERN_LOOPS)
#undef TS_EXTERN_LOOPS

TS_ISA_END
