// Binary operations on f16, bf16 and fp8: in f32, rounded once more. f32 has more than twice their
// precision and two bits, so + - * / are rounded correctly.
#include "exec/kernels/float_loops.h"
#include "exec/kernels/narrow.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <ElementKind K, class Op>
BinaryForms forms() {
  using L = Loops<Op, float, float>;
  using N = NarrowLoops<K>;
  if constexpr (Op::kCommutes) {
    struct Swapped {
      static void sv(void* out, const void* a, const void* b, size_t n) { N::template vs<L::vs>(out, b, a, n); }
    };
    return {N::template vv<L::vv>, N::template vs<L::vs>, Swapped::sv};
  } else {
    return {N::template vv<L::vv>, N::template vs<L::vs>, N::template sv<L::sv>};
  }
}

template <ElementKind K>
BinaryForms forms(BinaryOp op) {
  switch (op) {
#define TS_CASE(Op) case BinaryOp::Op: return forms<K, Op>();
    TS_FLOAT_BINARY(TS_CASE)
#undef TS_CASE
    default: return {};
  }
}

}  // namespace

BinaryForms binaryNarrow(BinaryOp op, ElementKind kind) {
  switch (kind) {
#define TS_CASE(K) case ElementKind::K: return forms<ElementKind::K>(op);
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return {};
  }
}

TS_ISA_END
