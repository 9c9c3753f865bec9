// Binary operations in f32 and f64.
#include "exec/kernels/float_loops.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN

#define TS_LOOPS(Op)                       \
  template struct Loops<Op, float, float>; \
  template struct Loops<Op, double, double>;
TS_FLOAT_BINARY(TS_LOOPS)
#undef TS_LOOPS

namespace {
template <class T>
BinaryForms forms(BinaryOp op) {
  switch (op) {
#define TS_CASE(Op) case BinaryOp::Op: return Loops<Op, T, T>::forms();
    TS_FLOAT_BINARY(TS_CASE)
#undef TS_CASE
    default: return {};
  }
}
}  // namespace

BinaryForms binaryF32(BinaryOp op) { return forms<float>(op); }
BinaryForms binaryF64(BinaryOp op) { return forms<double>(op); }

TS_ISA_END
