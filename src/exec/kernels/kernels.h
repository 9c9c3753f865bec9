// The loops under the engine: contiguous spans in, contiguous spans out, chosen once at start-up for
// the machine's instruction set (x86-64-v3, x86-64-v4, aarch64). Every set gives the same bits.
//
// Conventions
// - i1 elements are one byte, 0 or 1. f16, bf16 and fp8 are their bit patterns.
// - Integer arithmetic wraps. f16, bf16, fp8 arithmetic is done in f32 and rounded once (to nearest
//   even) per operation. f32 operations round each; nothing is contracted but Fma.
// - `out` may equal an input pointer (in place) where the elements have the same size; otherwise spans
//   do not overlap.
// - A NaN that an operation or cast produces is the canonical one of its kind (positive, quiet, no
//   payload). NegF, AbsF, select and the memory functions move bits and keep NaNs.
// - A lookup that has no kernel returns a null function: the caller reports the operation as
//   not executable, it is never guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace tilesight::exec {

using ir::ElementKind;

enum class UnaryOp : uint8_t {
  NegF, AbsF, AbsI, Exp, Exp2, Log, Log2, Sin, Cos, Tanh, Sqrt, Rsqrt, Erf, Floor, Ceil,
  IsZero,  // integers: out is i1
};

enum class BinaryOp : uint8_t {
  AddI, SubI, MulI, DivS, DivU, RemS, RemU, And, Or, Xor, Shl, ShrS, ShrU,
  MinS, MinU, MaxS, MaxU, MulHiU,
  AddF, SubF, MulF, DivF, RemF,
  MinimumF, MaximumF,  // NaN if either is NaN; -0 < +0
  MinNumF, MaxNumF,    // the other one if one is NaN
};
// DivS/RemS truncate; x/0 and x%0 give 0, INT_MIN/-1 wraps to INT_MIN (rem 0); the executor finds
// and reports zero divisors itself. Shifts by >= width give 0 (ShrS: the sign).
// RemF is C fmod.

/// MLIR's predicates, same order: integers eq..uge, floats false..true.
enum class CmpIOp : uint8_t { Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge };
enum class CmpFOp : uint8_t { False, Oeq, Ogt, Oge, Olt, Ole, One, Ord, Ueq, Ugt, Uge, Ult, Ule, Une, Uno, True };

enum class CastOp : uint8_t {
  SExt, ZExt, Trunc,        // between integers (i1 included; SExt of i1 true gives -1)
  SIToFP, UIToFP,           // round to nearest even
  FPToSI, FPToUI,           // toward zero; NaN gives 0, out of range saturates (as PTX cvt.rzi)
  FPExt,                    // exact
  FPTruncRtne, FPTruncRtz,  // any two different float kinds, rounded once; overflow as the rounding
                            // has it (Rtz: the largest finite value); fp8 saturates, infinity included
};

using UnaryFn = void (*)(void* out, const void* a, size_t n);
using BinaryFn = void (*)(void* out, const void* a, const void* b, size_t n);
using TernaryFn = void (*)(void* out, const void* a, const void* b, const void* c, size_t n);

/// One function per operand form: v = a span of n elements, s = one element for all.
struct BinaryForms {
  BinaryFn vv = nullptr, vs = nullptr, sv = nullptr;
};
/// out[i] = condition[i] ? a[i] : b[i]; the condition (i1 bytes) is always a span.
struct SelectForms {
  TernaryFn vv = nullptr, vs = nullptr, sv = nullptr, ss = nullptr;
};

/// How a dot treats f32 inputs; see docs. Ieee: as they are. Tf32: inputs rounded to tf32
/// (nearest, ties away from zero, as cvt.rna.tf32.f32). The *x3/x6 modes: see issue of numerics; a
/// null dot for now.
enum class DotPrecision : uint8_t { Ieee, Tf32, Tf32x3, Bf16x3, Bf16x6 };

/// d[i][j] = fma chain over ascending k, starting from c[i][j]:
///   acc = c; for k: acc = fma(a[i][k], b[k][j], acc)   in the accumulator's kind (f32, f64, i32).
/// f16 accumulators: the chain runs in f32 and is rounded to f16 once at the end.
/// `a` is M x K with strides in elements (aRow, aCol), `b` is K x N (bRow, bCol): transposed operands
/// need no copy by the caller. `d` is M x N, contiguous, and holds c on entry; or all of c is the element at
/// `start`, and what d holds does not matter.
/// `scratch` comes from the kernel itself (thread-local).
struct DotArgs {
  const void* a; int64_t aRow, aCol;
  const void* b; int64_t bRow, bCol;
  void* d;
  int64_t m, n, k;
  const void* start = nullptr;
};
using DotFn = void (*)(const DotArgs& args);

/// Reduction along the middle axis of a contiguous [outer, length, inner] span, out is [outer, inner].
/// Fixed tree, independent of the vector width: while length > 1: half = length/2,
/// x[i] = x[i] op x[i + half] for i < half (length is a power of two). Scratch is the kernel's.
using ReduceFn = void (*)(void* out, const void* in, size_t outer, size_t length, size_t inner);

struct KernelSet {
  std::string_view name;  // "x86-64-v3", "x86-64-v4", "aarch64"

  UnaryFn (*unary)(UnaryOp op, ElementKind kind);
  BinaryForms (*binary)(BinaryOp op, ElementKind kind);
  BinaryForms (*compareI)(CmpIOp op, ElementKind kind);  // out: i1 bytes; Pointer compares as u64/i64
  BinaryForms (*compareF)(CmpFOp op, ElementKind kind);
  TernaryFn (*fma)(ElementKind kind);                    // all three are spans
  TernaryFn (*clampF)(ElementKind kind, bool propagateNan);  // x, min, max spans
  SelectForms (*select)(uint32_t elementBytes);
  UnaryFn (*cast)(CastOp op, ElementKind from, ElementKind to);
  ReduceFn (*reduce)(BinaryOp op, ElementKind kind);
  DotFn (*dot)(ElementKind a, ElementKind b, ElementKind acc, DotPrecision precision);

  /// out[i] = base + i*stride, truncated to an integer kind (or Pointer).
  void (*fillAffine)(ElementKind kind, void* out, int64_t base, int64_t stride, size_t n);
  /// out[i] = *element for all i.
  void (*fillSplat)(uint32_t elementBytes, void* out, const void* element, size_t n);
  /// out[r*n + i] = element at in + r*strideBytes, for r < rows and i < n.
  void (*spreadRows)(uint32_t elementBytes, void* out, const void* in, int64_t strideBytes, size_t rows, size_t n);
  /// Widening of integers to i64 (sign-extended; i1 zero-extended).
  void (*widen)(ElementKind kind, int64_t* out, const void* in, size_t n);
  /// out[i] = element at in + i*strideBytes (any sign, any alignment).
  void (*gatherStrided)(uint32_t elementBytes, void* out, const void* in, int64_t strideBytes, size_t n);
  /// element at out + i*strideBytes = in[i]
  void (*scatterStrided)(uint32_t elementBytes, void* out, int64_t strideBytes, const void* in, size_t n);
  /// out[i] = element at base + offsets[i]
  void (*gatherOffsets)(uint32_t elementBytes, void* out, const uint8_t* base, const int64_t* offsets, size_t n);
  void (*minMaxI64)(const int64_t* in, size_t n, int64_t* min, int64_t* max);
  size_t (*countNonZero)(const uint8_t* in, size_t n);
};

/// Whether this machine has the instructions of at least one set. Ask before calling kernels().
bool machineSupported();
/// One line that says what is missing; empty if machineSupported().
std::string machineError();

/// The best set this machine runs. TILESIGHT_ISA=x86-64-v3 (or another name) forces one. Ends the
/// process with a message if the machine has no set, or not the forced one.
const KernelSet& kernels();
/// All sets this machine can run, for tests that compare their bits.
struct KernelSets { const KernelSet* sets[4]; size_t count; };
KernelSets runnableKernelSets();

}  // namespace tilesight::exec
