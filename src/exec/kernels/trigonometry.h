// sin and cos of arguments too large for a reduction in a few fused steps. One element at a time.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

/// sin(x + quarterTurns * pi/2) in f64 within 1 ulp, for |x| >= 2^16. Infinities and NaN give NaN.
double sinOrCosOfLarge(double x, uint32_t quarterTurns);

TS_ISA_END
