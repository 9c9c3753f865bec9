// Puts one instruction set's tables together.
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

bool isNarrow(ElementKind kind) {
  switch (kind) {
    case ElementKind::F16: case ElementKind::BF16: case ElementKind::F8E4M3FN: case ElementKind::F8E5M2:
    case ElementKind::F8E4M3FNUZ: case ElementKind::F8E5M2FNUZ: case ElementKind::F8E4M3B11FNUZ:
      return true;
    default:
      return false;
  }
}

BinaryForms binary(BinaryOp op, ElementKind kind) {
  if (kind == ElementKind::F32) return binaryF32(op);
  if (kind == ElementKind::F64) return binaryF64(op);
  return isNarrow(kind) ? binaryNarrow(op, kind) : binaryInt(op, kind);
}

UnaryFn unary(UnaryOp op, ElementKind kind) {
  if (kind == ElementKind::F32) return unaryF32(op);
  if (kind == ElementKind::F64) return unaryF64(op);
  return isNarrow(kind) ? unaryNarrow(op, kind) : unaryInt(op, kind);
}

UnaryFn cast(CastOp op, ElementKind from, ElementKind to) {
  switch (op) {
    case CastOp::SExt: case CastOp::ZExt: case CastOp::Trunc: return castInt(op, from, to);
    case CastOp::SIToFP: case CastOp::UIToFP: return castIntToFloat(op, from, to);
    case CastOp::FPToSI: case CastOp::FPToUI: return castFloatToInt(op, from, to);
    case CastOp::FPExt: case CastOp::FPTruncRtne: case CastOp::FPTruncRtz: return castFloat(op, from, to);
  }
  return nullptr;
}

ReduceFn reduce(BinaryOp op, ElementKind kind) {
  if (kind == ElementKind::F32) return reduceF32(op);
  if (kind == ElementKind::F64) return reduceF64(op);
  return isNarrow(kind) ? reduceNarrow(op, kind) : reduceInt(op, kind);
}

DotFn dot(ElementKind a, ElementKind b, ElementKind acc, DotPrecision precision) {
  if (acc == ElementKind::I32) return dotInt(a, b, acc);
  return dotFloat(a, b, acc, precision);
}

#define TS_STRING2(x) #x
#define TS_STRING(x) TS_STRING2(x)
constexpr std::string_view isaName() {
  constexpr std::string_view space = TS_STRING(TS_ISA);
  return space == "v3" ? "x86-64-v3" : space == "v4" ? "x86-64-v4" : "aarch64";
}

constexpr KernelSet kSet = {
    .name = isaName(),
    .unary = unary,
    .binary = binary,
    .compareI = compareInt,
    .compareF = compareFloat,
    .fma = fma,
    .clampF = clampFloat,
    .select = select,
    .cast = cast,
    .reduce = reduce,
    .dot = dot,
    .fillAffine = fillAffine,
    .fillSplat = fillSplat,
    .spreadRows = spreadRows,
    .widen = widen,
    .gatherStrided = gatherStrided,
    .scatterStrided = scatterStrided,
    .gatherOffsets = gatherOffsets,
    .minMaxI64 = minMaxI64,
    .countNonZero = countNonZero,
};

}  // namespace

const KernelSet& kernelSet() { return kSet; }

TS_ISA_END
