// Binary operations on integers and pointers.
#include "exec/kernels/elementwise.h"
#include "exec/kernels/int_ops.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <class T>
BinaryForms forms(BinaryOp op) {
  switch (op) {
    case BinaryOp::AddI: return Loops<AddI, T, T>::forms();
    case BinaryOp::SubI: return Loops<SubI, T, T>::forms();
    case BinaryOp::MulI: return Loops<MulI, T, T>::forms();
    case BinaryOp::DivS: return Loops<DivSI, T, T>::forms();
    case BinaryOp::DivU: return Loops<DivUI, T, T>::forms();
    case BinaryOp::RemS: return Loops<RemSI, T, T>::forms();
    case BinaryOp::RemU: return Loops<RemUI, T, T>::forms();
    case BinaryOp::And: return Loops<AndI, T, T>::forms();
    case BinaryOp::Or: return Loops<OrI, T, T>::forms();
    case BinaryOp::Xor: return Loops<XorI, T, T>::forms();
    case BinaryOp::Shl: return Loops<ShlI, T, T>::forms();
    case BinaryOp::ShrS: return Loops<ShrSI, T, T>::forms();
    case BinaryOp::ShrU: return Loops<ShrUI, T, T>::forms();
    case BinaryOp::MinS: return Loops<MinSI, T, T>::forms();
    case BinaryOp::MinU: return Loops<MinUI, T, T>::forms();
    case BinaryOp::MaxS: return Loops<MaxSI, T, T>::forms();
    case BinaryOp::MaxU: return Loops<MaxUI, T, T>::forms();
    case BinaryOp::MulHiU: return Loops<MulHiUI, T, T>::forms();
    default: return {};
  }
}

BinaryForms bitForms(BinaryOp op) {
  switch (op) {
    case BinaryOp::AddI: case BinaryOp::SubI: case BinaryOp::Xor:
      return Loops<XorI, uint8_t, uint8_t>::forms();
    case BinaryOp::MulI: case BinaryOp::DivS: case BinaryOp::DivU: case BinaryOp::And:
    case BinaryOp::MinU: case BinaryOp::MaxS:
      return Loops<AndI, uint8_t, uint8_t>::forms();
    case BinaryOp::Or: case BinaryOp::MaxU: case BinaryOp::MinS:
      return Loops<OrI, uint8_t, uint8_t>::forms();
    case BinaryOp::RemS: case BinaryOp::RemU: case BinaryOp::MulHiU:
      return Loops<ZeroBit, uint8_t, uint8_t>::forms();
    case BinaryOp::Shl: case BinaryOp::ShrU: return Loops<AndNotBit, uint8_t, uint8_t>::forms();
    case BinaryOp::ShrS: return Loops<FirstBit, uint8_t, uint8_t>::forms();
    default: return {};
  }
}

}  // namespace

BinaryForms binaryInt(BinaryOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::I1: return bitForms(op);
    case ElementKind::I8: return forms<uint8_t>(op);
    case ElementKind::I16: return forms<uint16_t>(op);
    case ElementKind::I32: return forms<uint32_t>(op);
    case ElementKind::I64: case ElementKind::Pointer: return forms<uint64_t>(op);
    default: return {};
  }
}

TS_ISA_END
