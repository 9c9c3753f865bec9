#include "plan/trips.h"

#include <algorithm>

#include "exec/kernels/kernels.h"
#include "plan/classify.h"
#include "plan/even.h"

namespace tilesight::plan {

namespace {

bool leavesLine(Opcode op) {
  switch (op) {
    case Opcode::Unsupported: case Opcode::Jump: case Opcode::BranchIfNot: case Opcode::LoopBegin: case Opcode::LoopNext:
    case Opcode::WhileBegin: case Opcode::WhileNext: case Opcode::WhileEnd: case Opcode::Return: return true;
    default: return false;
  }
}

class Finder {
 public:
  explicit Finder(Program& program) : program_(program), end_(static_cast<uint32_t>(program.code.size())) {
    for (const RegionCode& region : program.regions) end_ = std::min(end_, region.begin);
    targets_.assign(program.code.size() + 1, false);
    for (const Instr& instr : program.code) targets_[std::min<size_t>(instr.target, program.code.size())] = true;
  }

  void run() {
    for (uint32_t at = 0; at < end_; ++at)
      if (program_.code[at].op == Opcode::LoopBegin) loop(at);
  }

 private:
  enum class Move : uint8_t { No, Evenly, Anyhow };  // of a slot, from trip to trip

  uint32_t operand(const Instr& instr, unsigned i) const { return program_.operands[instr.in + i]; }
  uint32_t result(const Instr& instr, unsigned i = 0) const { return program_.operands[instr.out + i]; }
  ir::Type type(uint32_t slot) const { return program_.slots[slot].type; }

  void loop(uint32_t begin) {
    Instr& first = program_.code[begin];
    Loop loop{.begin = begin, .next = first.target - 1};
    if ((first.flag & 1) || loop.next >= end_ || program_.code[loop.next].op != Opcode::LoopNext || program_.code[loop.next].target != begin + 1)
      return;
    for (uint32_t at = begin + 1; at < loop.next; ++at)
      if (leavesLine(program_.code[at].op) || (at > begin + 1 && targets_[at])) return;
    if (targets_[loop.next] && loop.next > begin + 1) return;
    if (loop.next > begin + 1 && program_.code[loop.next - 1].op == Opcode::Move) loop.move = loop.next - 1;
    for (uint32_t at = begin; at <= loop.next; ++at)
      for (unsigned i = 0; i < program_.code[at].outCount; ++i) loop.written.push_back(result(program_.code[at], i));
    if (loop.move) {
      const Instr& move = program_.code[loop.move];
      for (unsigned i = 0; i < move.inCount; ++i)
        if (operand(move, i) != kNoSlot && counts(type(result(move, i)))) loop.carried.push_back({result(move, i), operand(move, i), i});
    }
    // What does not come of itself and a step is carried anyhow, and what comes of that moves anyhow.
    for (size_t before = loop.carried.size() + 1; before != loop.carried.size();) {
      before = loop.carried.size();
      follow(loop);
      std::erase_if(loop.carried, [&](const Loop::Carried& c) { return moves_[c.next] != Move::Evenly || !comesOf(loop, c.next, c.argument); });
    }
    if (loop.candidates.empty()) return;
    program_.loops.push_back(std::move(loop));
    first.loop = static_cast<uint32_t>(program_.loops.size());
  }

  void follow(Loop& loop) {
    moves_.assign(program_.slots.size(), Move::No);
    for (uint32_t slot : loop.written) moves_[slot] = Move::Anyhow;
    moves_[result(program_.code[loop.begin])] = Move::Evenly;
    for (const Loop::Carried& c : loop.carried) moves_[c.argument] = Move::Evenly;
    loop.candidates.clear();
    loop.accesses.clear();
    for (uint32_t at = loop.begin + 1; at < loop.next; ++at) {
      const Instr& instr = program_.code[at];
      if (instr.op == Opcode::Load || instr.op == Opcode::Store) loop.accesses.push_back(at);
      if (!mayFollow(instr) || !instr.valueNeeded || instr.outCount != 1 || !counts(type(result(instr)))) continue;
      bool follows = true;
      for (unsigned i = 0; i < instr.inCount && follows; ++i) {
        const uint32_t slot = operand(instr, i);
        follows = slot != kNoSlot && moves_[slot] != Move::Anyhow && counts(type(slot));
      }
      if (!follows) continue;
      moves_[result(instr)] = Move::Evenly;
      loop.candidates.push_back(at);
    }
  }

  // The candidate that makes a slot; null: none does.
  const Instr* maker(const Loop& loop, uint32_t slot) const {
    for (uint32_t at : loop.candidates)
      if (result(program_.code[at]) == slot) return &program_.code[at];
    return nullptr;
  }

  bool stays(const Loop& loop, uint32_t slot) const {
    if (moves_[slot] == Move::No) return true;
    const Instr* instr = maker(loop, slot);
    for (unsigned i = 0; instr && i < instr->inCount; ++i)
      if (!stays(loop, operand(*instr, i))) return false;
    return instr;
  }

  // Is it the argument and something that stays?
  bool comesOf(const Loop& loop, uint32_t slot, uint32_t argument) const {
    if (slot == argument) return true;
    const Instr* instr = maker(loop, slot);
    if (!instr) return false;
    const auto op = static_cast<exec::BinaryOp>(instr->sub);
    const bool adds = instr->op == Opcode::Binary && op == exec::BinaryOp::AddI;
    if (instr->op != Opcode::PtrAdd && !adds && !(instr->op == Opcode::Binary && op == exec::BinaryOp::SubI)) return false;
    const uint32_t x = operand(*instr, 0), y = operand(*instr, 1);
    return (comesOf(loop, x, argument) && stays(loop, y)) || (adds && stays(loop, x) && comesOf(loop, y, argument));
  }

  Program& program_;
  uint32_t end_;               // of the main code
  std::vector<bool> targets_;  // by instruction: something jumps there
  std::vector<Move> moves_;    // by slot, in the loop that is looked at
};

}  // namespace

void findLoops(Program& program) { Finder(program).run(); }

}  // namespace tilesight::plan
