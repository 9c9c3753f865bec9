// Instances of the matrix tiles.
#include "exec/kernels/matrix.h"

TS_ISA_BEGIN

template void multiplyPanel<float, 1>(const float*, int64_t, int64_t, const float*, int64_t, const float*, float*, int64_t, int64_t, int64_t);
template void multiplyPanel<float, 2>(const float*, int64_t, int64_t, const float*, int64_t, const float*, float*, int64_t, int64_t, int64_t);
template void multiplyPanel<double, 1>(const double*, int64_t, int64_t, const double*, int64_t, const double*, double*, int64_t, int64_t, int64_t);
template void multiplyPanel<double, 2>(const double*, int64_t, int64_t, const double*, int64_t, const double*, double*, int64_t, int64_t, int64_t);
template void multiplyPanel<uint32_t, 1>(const uint32_t*, int64_t, int64_t, const uint32_t*, int64_t, const uint32_t*, uint32_t*, int64_t, int64_t, int64_t);
template void multiplyPanel<uint32_t, 2>(const uint32_t*, int64_t, int64_t, const uint32_t*, int64_t, const uint32_t*, uint32_t*, int64_t, int64_t, int64_t);

TS_ISA_END
