// Reductions of integers: minima and maxima.
#include "exec/kernels/int_ops.h"
#include "exec/kernels/reduce.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <class T>
ReduceFn extremes(BinaryOp op) {
  switch (op) {
    case BinaryOp::MinS: return reduceLoop<MinSI, T>;
    case BinaryOp::MinU: return reduceLoop<MinUI, T>;
    case BinaryOp::MaxS: return reduceLoop<MaxSI, T>;
    case BinaryOp::MaxU: return reduceLoop<MaxUI, T>;
    default: return nullptr;
  }
}

}  // namespace

ReduceFn reduceIntExtremes(BinaryOp op, size_t elementBytes) {
  switch (elementBytes) {
    case 1: return extremes<uint8_t>(op);
    case 2: return extremes<uint16_t>(op);
    case 4: return extremes<uint32_t>(op);
    case 8: return extremes<uint64_t>(op);
    default: return nullptr;
  }
}

TS_ISA_END
