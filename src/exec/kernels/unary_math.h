// Spans through the elementary functions.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN
namespace math {

#define TS_MATH(X) X(exp) X(exp2) X(log) X(log2) X(sin) X(cos) X(tanh) X(sqrt) X(rsqrt) X(erf) X(floor) X(ceil) X(neg) X(abs)

#define TS_DECLARE(name)                                     \
  void name##F32(void* out, const void* a, size_t n);        \
  void name##F64(void* out, const void* a, size_t n);
TS_MATH(TS_DECLARE)
#undef TS_DECLARE

}  // namespace math
TS_ISA_END
