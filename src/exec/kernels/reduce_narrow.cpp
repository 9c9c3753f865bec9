// Reductions of f16 and bf16.
#include "exec/kernels/reduce_narrow.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN

ReduceFn reduceNarrow(BinaryOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::F16: return reduceNarrowKind<ElementKind::F16>(op);
    case ElementKind::BF16: return reduceNarrowKind<ElementKind::BF16>(op);
    default: return reduceFp8(op, kind);
  }
}

TS_ISA_END
