// What the elements of an operation's result came from: which elements of its operands, and which cells of memory.
#pragma once

#include <array>
#include <vector>

#include "exec/machine.h"
#include "trace/elements.h"

namespace tilesight::trace {

/// Operands whose values decide what a result came from (addresses, masks, conditions, indices), by bit. They are asked
/// for as they were before the operation.
uint32_t decidingOperands(const exec::Instr& instr);

/// The tiles of the deciding operands, by operand; others are empty.
using Deciding = std::vector<exec::Tile>;

/// Adds to `operands` (one set an operand, of its size) what elements `want` of result `result` came from. Where an
/// operation is not known element by element, that is all elements of its operands.
void dependences(const exec::CompiledPlan& plan, const exec::Instr& instr, unsigned result, const ElementSet& want,
                 const Deciding& deciding, std::vector<ElementSet>& operands);

/// The shape of an operand, or of a result; null where the plan computes none.
const exec::Shape* operandShape(const exec::CompiledPlan& plan, const exec::Instr& instr, unsigned operand);
const exec::Shape* resultShape(const exec::CompiledPlan& plan, const exec::Instr& instr, unsigned result);

/// An access of memory.
struct Cells {
  bool reads = false, writes = false;
  int value = -1;                 // the operand that is written, or -1
  uint32_t elementBytes = 0;
  std::vector<int64_t> address;   // virtual, by element of the tile
  std::vector<uint8_t> active;
  std::vector<int32_t> origin;    // index in Launch::arguments, or -1
};
bool isAccess(const exec::Instr& instr);
/// The cells of an access, from its deciding operands.
Cells cellsOf(const exec::CompiledPlan& plan, const exec::Instr& instr, const Deciding& deciding);

}  // namespace tilesight::trace
