// Reductions of integers: sums, products and bit operations.
#include "exec/kernels/int_ops.h"
#include "exec/kernels/reduce.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <class T>
ReduceFn forInt(BinaryOp op) {
  switch (op) {
    case BinaryOp::AddI: return reduceLoop<AddI, T>;
    case BinaryOp::MulI: return reduceLoop<MulI, T>;
    case BinaryOp::And: return reduceLoop<AndI, T>;
    case BinaryOp::Or: return reduceLoop<OrI, T>;
    case BinaryOp::Xor: return reduceLoop<XorI, T>;
    default: return reduceIntExtremes(op, sizeof(T));
  }
}

ReduceFn forBits(BinaryOp op) {
  switch (op) {
    case BinaryOp::AddI: case BinaryOp::Xor: return reduceLoop<XorI, uint8_t>;
    case BinaryOp::MulI: case BinaryOp::And: case BinaryOp::MinU: case BinaryOp::MaxS:
      return reduceLoop<AndI, uint8_t>;
    case BinaryOp::Or: case BinaryOp::MaxU: case BinaryOp::MinS: return reduceLoop<OrI, uint8_t>;
    default: return nullptr;
  }
}

}  // namespace

ReduceFn reduceInt(BinaryOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::I1: return forBits(op);
    case ElementKind::I8: return forInt<uint8_t>(op);
    case ElementKind::I16: return forInt<uint16_t>(op);
    case ElementKind::I32: return forInt<uint32_t>(op);
    case ElementKind::I64: case ElementKind::Pointer: return forInt<uint64_t>(op);
    default: return nullptr;
  }
}

TS_ISA_END
