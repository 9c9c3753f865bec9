#include "plan/even.h"

#include <algorithm>

#include "exec/kernels/kernels.h"
#include "plan/classify.h"

namespace tilesight::plan {

using exec::BinaryOp;
using exec::CastOp;

bool counts(ir::Type type) {
  const ir::Type element = type.isTensor() ? type.elementType() : type;
  if (element.isPointer() || element.kind() == ir::TypeKind::Index) return true;
  if (element.kind() != ir::TypeKind::Integer) return false;
  switch (element.elementKind()) {
    case ir::ElementKind::I1: case ir::ElementKind::I8: case ir::ElementKind::I16: case ir::ElementKind::I32:
    case ir::ElementKind::I64: return true;
    default: return false;
  }
}

bool mayFollow(const Instr& instr) {
  switch (instr.op) {
    case Opcode::ProgramId: case Opcode::Splat: case Opcode::Broadcast: case Opcode::Reshape: case Opcode::Permute:
    case Opcode::PtrAdd: case Opcode::CompareI: case Opcode::Select: return true;
    case Opcode::Cast: return static_cast<CastOp>(instr.sub) <= CastOp::Trunc;
    case Opcode::Binary: return static_cast<BinaryOp>(instr.sub) != BinaryOp::MulHiU;
    default: return false;
  }
}

namespace {

bool writes(Opcode op) {
  switch (op) {
    case Opcode::Store: case Opcode::AtomicRmw: case Opcode::AtomicCas: case Opcode::AtomicStore: case Opcode::ViewStore:
    case Opcode::ViewScatter: case Opcode::ViewReduce: return true;
    default: return false;
  }
}

// Operations whose kernels read exactly the elements of an operand, and whose results are elements of their own.
bool readsSpans(const Program& program, const Instr& instr) {
  switch (instr.op) {
    case Opcode::Unary: case Opcode::Binary: case Opcode::CompareI: case Opcode::CompareF: case Opcode::Fma:
    case Opcode::ClampF: case Opcode::Select: return true;
    case Opcode::Cast: return instr.source->operands[0]->type != instr.source->results[0]->type;
    case Opcode::Reduce: {
      if (instr.inCount != 1 || !instr.valueNeeded || program.regions[instr.body].simple < 0) return false;
      const int64_t length = instr.source->operands[0]->type.shape()[instr.immediate];
      return length > 1 && (length & (length - 1)) == 0;
    }
    default: return false;
  }
}

// May an operation say something of its operands that is explained by what was loaded?
bool mayExplain(const Instr& instr) {
  switch (instr.op) {
    case Opcode::Binary: return isDivision(static_cast<BinaryOp>(instr.sub)) || isShift(static_cast<BinaryOp>(instr.sub));
    case Opcode::Return: case Opcode::Splat: case Opcode::Broadcast: case Opcode::Reshape: case Opcode::Permute:
    case Opcode::PtrAdd: case Opcode::CompareI: case Opcode::CompareF: case Opcode::Unary: case Opcode::Fma:
    case Opcode::ClampF: case Opcode::Store: case Opcode::Load: return false;
    case Opcode::Cast: return static_cast<CastOp>(instr.sub) == CastOp::FPToSI || static_cast<CastOp>(instr.sub) == CastOp::FPToUI;
    default: return true;
  }
}

class Follower {
 public:
  Follower(Program& program, const Need& explained)
      : program_(program), explained_(explained), end_(static_cast<uint32_t>(program.code.size())) {
    for (const RegionCode& region : program.regions) end_ = std::min(end_, region.begin);
    targets_.assign(program.code.size() + 1, false);
    for (const Instr& instr : program.code) targets_[std::min<size_t>(instr.target, program.code.size())] = true;
  }

  void run() {
    stays_.assign(program_.slots.size(), false);
    for (uint32_t slot : program_.parameters) stays_[slot] = true;
    for (const Instr& instr : program_.prologue)
      for (unsigned i = 0; i < instr.outCount; ++i) stays_[program_.operands[instr.out + i]] = true;
    std::vector<bool> even = stays_;
    for (uint32_t at = 0; at < end_; ++at) {
      Instr& instr = program_.code[at];
      if (instr.op == Opcode::Load) instr.mayBorrow = staysWhileRead(at);
      if (instr.op == Opcode::LoopBegin && boundsStay(instr)) instr.even = even[result(instr)] = true;
      if (!mayFollow(instr) || !instr.valueNeeded || instr.outCount != 1 || !counts(type(result(instr)))) continue;
      bool follows = true;
      for (unsigned i = 0; i < instr.inCount && follows; ++i) {
        const uint32_t slot = operand(instr, i);
        follows = slot != kNoSlot && even[slot] && counts(type(slot));
      }
      instr.even = follows;
      even[result(instr)] = follows;
    }
  }

 private:
  uint32_t operand(const Instr& instr, unsigned i) const { return program_.operands[instr.in + i]; }
  uint32_t result(const Instr& instr) const { return program_.operands[instr.out]; }
  ir::Type type(uint32_t slot) const { return program_.slots[slot].type; }

  // Does the loop make the same trips in every program? If it is one, its variable stays as well.
  bool boundsStay(const Instr& loop) const {
    if (loop.flag & 1) return false;  // unsigned
    for (unsigned i = 0; i < 3; ++i)
      if (const uint32_t slot = operand(loop, i); slot == kNoSlot || !stays_[slot]) return false;
    return counts(type(result(loop)));
  }

  bool reads(const Instr& instr, uint32_t slot) const {
    for (unsigned i = 0; i < instr.inCount; ++i)
      if (operand(instr, i) == slot) return true;
    return false;
  }

  // Is the loaded value read for the last time before the program writes anything, or by what writes first? Nobody may
  // look at it later, not even to explain something.
  bool staysWhileRead(uint32_t load) const {
    const Instr& loaded = program_.code[load];
    if (!loaded.valueNeeded || !type(result(loaded)).isTensor()) return false;
    const uint32_t slot = result(loaded);
    const ir::ElementKind kind = type(slot).elementType().elementKind();
    const bool isFloat = ir::isFloatKind(kind);
    if (!isFloat && (!ir::isIntegerKind(kind) || kind == ir::ElementKind::I1 || !program_.slots[slot].value || explained_.needed(program_.slots[slot].value)))
      return false;
    uint32_t at = load + 1;
    for (; at < end_ && !targets_[at]; ++at) {
      const Instr& instr = program_.code[at];
      if (writes(instr.op)) break;
      if (instr.op == Opcode::Return) return true;
      if (instr.target || (reads(instr, slot) && !readsSpans(program_, instr))) return false;
    }
    if (at >= end_ || !writes(program_.code[at].op)) return false;
    if (program_.code[at].op != Opcode::Store && reads(program_.code[at], slot)) return false;
    for (uint32_t other = 0; other < program_.code.size(); ++other) {
      const Instr& instr = program_.code[other];
      if ((other < load || other > at) && reads(instr, slot)) return false;
      if (!isFloat && other > at && other < end_ && mayExplain(instr)) return false;
    }
    return true;
  }

  Program& program_;
  const Need& explained_;
  uint32_t end_;               // of the main code
  std::vector<bool> targets_;  // by instruction: something jumps there
  std::vector<bool> stays_;    // by slot: the same in every program
};

}  // namespace

void findEven(Program& program, const Need& explained) { Follower(program, explained).run(); }

}  // namespace tilesight::plan
