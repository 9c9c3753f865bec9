// Reductions of the fp8 kinds.
#include "exec/kernels/reduce_narrow.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN

ReduceFn reduceFp8(BinaryOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::F8E4M3FN: return reduceNarrowKind<ElementKind::F8E4M3FN>(op);
    case ElementKind::F8E5M2: return reduceNarrowKind<ElementKind::F8E5M2>(op);
    case ElementKind::F8E4M3FNUZ: return reduceNarrowKind<ElementKind::F8E4M3FNUZ>(op);
    case ElementKind::F8E5M2FNUZ: return reduceNarrowKind<ElementKind::F8E5M2FNUZ>(op);
    case ElementKind::F8E4M3B11FNUZ: return reduceNarrowKind<ElementKind::F8E4M3B11FNUZ>(op);
    default: return nullptr;
  }
}

TS_ISA_END
