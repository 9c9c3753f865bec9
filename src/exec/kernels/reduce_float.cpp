// Reductions in f32 and f64.
#include "exec/kernels/reduce_float.h"
#include "exec/kernels/reduce_extremes.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN

#define TS_REDUCE(Op)                                                                   \
  template void reduceLoop<Op, float>(void*, const void*, size_t, size_t, size_t);      \
  template void reduceLoop<Op, double>(void*, const void*, size_t, size_t, size_t);
TS_FLOAT_REDUCE(TS_REDUCE)
#undef TS_REDUCE

namespace {

template <class T>
ReduceFn forFloat(BinaryOp op) {
  switch (op) {
#define TS_CASE(Op) case BinaryOp::Op: return reduceLoop<Op, T>;
    TS_FLOAT_REDUCE(TS_CASE)
#undef TS_CASE
#define TS_CASE(Op) case BinaryOp::Op: return reduceExtremes<Op, T>;
    TS_FLOAT_EXTREMES(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

}  // namespace

ReduceFn reduceF32(BinaryOp op) { return forFloat<float>(op); }
ReduceFn reduceF64(BinaryOp op) { return forFloat<double>(op); }

TS_ISA_END
