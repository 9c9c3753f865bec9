// Which instruction a common operation becomes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "exec/kernels/kernels.h"
#include "plan/plan.h"

namespace tilesight::plan {

struct Class {
  Opcode op;
  uint8_t sub = 0, flag = 0;
  int64_t immediate = 0;
  bool pure = true;  // no memory, no control: may be hoisted and dropped
};

/// Integer operations that are undefined for some right operands: of 0, or of the width and more.
bool isDivision(exec::BinaryOp op);
bool isShift(exec::BinaryOp op);

/// Nothing for operations that are control flow (handled by the builder). Unsupported ones give
/// Opcode::Unsupported; cannotExecute() says why.
std::optional<Class> classify(const ir::Operation& op);

/// One matrix of a tt.dot_scaled, in elements: `rows` is M or N. Two e2m1 share a byte, along k or (not
/// kPacked) along the rows.
struct ScaledSide {
  ir::ElementKind format = ir::ElementKind::Invalid, stored = ir::ElementKind::Invalid;
  std::string_view name = "an unknown format";
  bool kPacked = true;
  int64_t k = 0, rows = 0, expectedRows = 0;
  int scale = 0;  // operand, or 0 if there is none: its shape is rows x groups of k
  std::vector<int64_t> scaleShape;
  ir::ElementKind scaleKind = ir::ElementKind::Invalid;
};
struct ScaledShape {
  ScaledSide sides[2];
  int64_t k = 0;
};
ScaledShape scaledShape(const ir::Operation& op);

/// How a packed operand of inline assembly lies in registers: `perRegister` elements in one, `registers`
/// for the elements of one call.
struct Packing {
  int perRegister = 1, registers = 1;
};
Packing packing(ir::ElementKind kind, int64_t pack);

/// Sizes of a tile.dot, tile.dot_scaled, tile.reduce or tile.scan, as ts_compute has them.
struct Extents {
  int64_t m = 0, n = 0, k = 0;
};
Extents extentsOf(const ir::Operation& op);
inline bool hasExtents(Opcode op) {
  return op == Opcode::Dot || op == Opcode::DotScaled || op == Opcode::Reduce || op == Opcode::Scan;
}

/// Of an atomic operation: the numbers of Triton's enums, relaxed and gpu where nothing is said.
struct Order {
  uint32_t sem = 1, scope = 1;
};
Order orderOf(const ir::Operation& op);

/// Kinds of atomic read-modify-write, in the order of Triton's enum.
enum class RmwKind : uint8_t { And = 1, Or, Xor, Add, FAdd, Max, Min, UMax, UMin, Xchg, Inc, Dec };

}  // namespace tilesight::plan
