#include "plan/verify.h"

#include <fmt/format.h>

#include "plan/even.h"

namespace tilesight::plan {

namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  Status run() {
    stays_.assign(program_.slots.size(), false);
    for (uint32_t slot : program_.parameters) stays_[slot] = true;
    for (const Instr& instr : program_.prologue) {
      TS_CHECK(slots(instr));
      if (instr.dying) return wrong(instr, "the prologue overwrites what each program reads");
      for (unsigned i = 0; i < instr.outCount; ++i) stays_[result(instr, i)] = true;
    }
    for (uint32_t at = 0; at < program_.code.size(); ++at) {
      const Instr& instr = program_.code[at];
      TS_CHECK(slots(instr));
      if (instr.target > program_.code.size()) return wrong(instr, "jumps out of the code");
      if (instr.even && (instr.outCount != 1 || !counts(type(result(instr, 0))))) return wrong(instr, "follows the program's number with what does not count");
      for (unsigned i = 0; i < 32; ++i)
        if ((instr.dying >> i) & 1) TS_CHECK(dies(at, i));
    }
    for (const Group& group : program_.groups) {
      if (group.begin >= group.end || group.end > program_.code.size()) return failure("a group is outside of the code");
      if (!group.store) continue;
      const Instr& store = program_.code[group.store];
      if (store.op != Opcode::Store || operand(store, 1) != group.stored) return wrong(store, "stores no result of its group");
    }
    for (const Loop& loop : program_.loops) TS_CHECK(verify(loop));
    return {};
  }

 private:
  uint32_t operand(const Instr& instr, unsigned i) const { return program_.operands[instr.in + i]; }
  uint32_t result(const Instr& instr, unsigned i) const { return program_.operands[instr.out + i]; }
  ir::Type type(uint32_t slot) const { return program_.slots[slot].type; }

  static Status wrong(const Instr& instr, const std::string& what) { return failure(fmt::format("{}: {}", opcodeName(instr.op), what)); }

  Status slots(const Instr& instr) const {
    for (unsigned i = 0; i < instr.inCount; ++i)
      if (operand(instr, i) != kNoSlot && operand(instr, i) >= program_.slots.size()) return wrong(instr, "reads what is no slot");
    for (unsigned i = 0; i < instr.outCount; ++i)
      if (result(instr, i) >= program_.slots.size()) return wrong(instr, "writes to what is no slot");
    return {};
  }

  // May operand `i` of an instruction be overwritten by it?
  Status dies(uint32_t at, unsigned i) const {
    const Instr& instr = program_.code[at];
    if (i >= instr.inCount || operand(instr, i) == kNoSlot) return wrong(instr, "overwrites an operand that it has not");
    const uint32_t slot = operand(instr, i);
    const ir::Type element = type(slot).isTensor() ? type(slot).elementType() : type(slot);
    if (!ir::isFloatKind(element.elementKind())) return wrong(instr, "overwrites an operand of type " + type(slot).str() + ", which findings may be explained by");
    if (stays_[slot]) return wrong(instr, "overwrites what each program reads");
    if (readAfter(at, slot)) return wrong(instr, "overwrites an operand that is read again");
    return {};
  }

  // Is a slot read after an instruction, before it is written again?
  bool readAfter(uint32_t at, uint32_t slot) const {
    std::vector<bool> seen(program_.code.size(), false);
    std::vector<uint32_t> work;
    const auto next = [&](uint32_t from) {
      const Instr& instr = program_.code[from];
      if (instr.target) work.push_back(instr.target);
      if (instr.op != Opcode::Jump && instr.op != Opcode::Return) work.push_back(from + 1);
    };
    if (!writes(program_.code[at], slot)) next(at);
    while (!work.empty()) {
      const uint32_t here = work.back();
      work.pop_back();
      if (here >= program_.code.size() || seen[here]) continue;
      seen[here] = true;
      const Instr& instr = program_.code[here];
      for (unsigned i = 0; i < instr.inCount; ++i)
        if (operand(instr, i) == slot) return true;
      if (!writes(instr, slot)) next(here);
    }
    return false;
  }

  bool writes(const Instr& instr, uint32_t slot) const {
    for (unsigned i = 0; i < instr.outCount; ++i)
      if (result(instr, i) == slot) return true;
    return false;
  }

  Status verify(const Loop& loop) const {
    if (loop.next >= program_.code.size() || program_.code[loop.begin].op != Opcode::LoopBegin || program_.code[loop.next].op != Opcode::LoopNext)
      return failure("a loop is none");
    if (loop.move && program_.code[loop.move].op != Opcode::Move) return failure("a loop moves by what is no move");
    for (uint32_t at : loop.candidates)
      if (at <= loop.begin || at >= loop.next || !counts(type(result(program_.code[at], 0)))) return wrong(program_.code[at], "does not move from trip to trip");
    for (const Loop::Carried& c : loop.carried)
      if (!counts(type(c.argument)) || !counts(type(c.next))) return failure("a loop follows what does not count");
    return {};
  }

  const Program& program_;
  std::vector<bool> stays_;  // by slot: the same in every program
};

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace tilesight::plan
