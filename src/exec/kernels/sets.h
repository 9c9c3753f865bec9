// The tables that one instruction set's files contribute to its KernelSet.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

// One file each, by the name of the function.
BinaryForms binaryInt(BinaryOp op, ElementKind kind);
BinaryForms binaryF32(BinaryOp op);
BinaryForms binaryF64(BinaryOp op);
BinaryForms binaryNarrow(BinaryOp op, ElementKind kind);  // f16, bf16, fp8
BinaryForms compareInt(CmpIOp op, ElementKind kind);
BinaryForms compareFloat(CmpFOp op, ElementKind kind);
TernaryFn fma(ElementKind kind);
TernaryFn clampFloat(ElementKind kind, bool propagateNan);
SelectForms select(uint32_t elementBytes);
UnaryFn unaryInt(UnaryOp op, ElementKind kind);
UnaryFn unaryF32(UnaryOp op);
UnaryFn unaryF64(UnaryOp op);
UnaryFn unaryNarrow(UnaryOp op, ElementKind kind);
UnaryFn castInt(CastOp op, ElementKind from, ElementKind to);
UnaryFn castIntToFloat(CastOp op, ElementKind from, ElementKind to);
UnaryFn castFloatToInt(CastOp op, ElementKind from, ElementKind to);
UnaryFn castFloat(CastOp op, ElementKind from, ElementKind to);
ReduceFn reduceInt(BinaryOp op, ElementKind kind);
ReduceFn reduceIntExtremes(BinaryOp op, size_t elementBytes);
ReduceFn reduceF32(BinaryOp op);
ReduceFn reduceF64(BinaryOp op);
ReduceFn reduceNarrow(BinaryOp op, ElementKind kind);
ReduceFn reduceFp8(BinaryOp op, ElementKind kind);
DotFn dotFloat(ElementKind a, ElementKind b, ElementKind acc, DotPrecision precision);
DotFn dotInt(ElementKind a, ElementKind b, ElementKind acc);

void fillAffine(ElementKind kind, void* out, int64_t base, int64_t stride, size_t n);
void fillSplat(uint32_t elementBytes, void* out, const void* element, size_t n);
void spreadRows(uint32_t elementBytes, void* out, const void* in, int64_t strideBytes, size_t rows, size_t n);
void widen(ElementKind kind, int64_t* out, const void* in, size_t n);
void gatherStrided(uint32_t elementBytes, void* out, const void* in, int64_t strideBytes, size_t n);
void scatterStrided(uint32_t elementBytes, void* out, int64_t strideBytes, const void* in, size_t n);
void gatherOffsets(uint32_t elementBytes, void* out, const uint8_t* base, const int64_t* offsets, size_t n);
void minMaxI64(const int64_t* in, size_t n, int64_t* min, int64_t* max);
size_t countNonZero(const uint8_t* in, size_t n);

/// This instruction set's kernels.
const KernelSet& kernelSet();

TS_ISA_END
