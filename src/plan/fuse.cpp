#include "plan/fuse.h"

#include <algorithm>
#include <unordered_map>

#include "exec/kernels/kernels.h"
#include "plan/classify.h"

namespace tilesight::plan {

namespace {

using exec::CastOp;

constexpr int64_t kWorthFusing = 64;  // elements of a tile

bool truncatesFloats(uint8_t op) {
  return static_cast<CastOp>(op) == CastOp::FPToSI || static_cast<CastOp>(op) == CastOp::FPToUI;
}

class Fuser {
 public:
  Fuser(Program& program, const Need& explained) : program_(program), explained_(explained), reads_(program.slots.size(), 0) {
    const auto count = [&](const std::vector<Instr>& code) {
      for (const Instr& instr : code)
        for (unsigned i = 0; i < instr.inCount; ++i) read(operand(instr, i));
    };
    count(program.prologue);
    count(program.code);
    end_ = static_cast<uint32_t>(program.code.size());
    for (const RegionCode& region : program.regions) {
      end_ = std::min(end_, region.begin);
      for (uint32_t slot : region.results) read(slot);
    }
    targets_.assign(program.code.size() + 1, false);
    for (const Instr& instr : program.code) targets_[std::min<size_t>(instr.target, program.code.size())] = true;
  }

  void run() {
    for (uint32_t at = 0; at < end_; ++at)
      if (joins(program_.code[at])) at = group(at) - 1;
  }

 private:
  uint32_t operand(const Instr& instr, unsigned i) const { return program_.operands[instr.in + i]; }
  uint32_t result(const Instr& instr) const { return program_.operands[instr.out]; }
  void read(uint32_t slot) {
    if (slot != kNoSlot) ++reads_[slot];
  }
  ir::Type type(uint32_t slot) const { return program_.slots[slot].type; }

  static exec::BinaryOp binary(const Instr& instr) { return static_cast<exec::BinaryOp>(instr.sub); }

  // An elementwise operation that tells nothing of its elements to anyone but its readers.
  static bool elementwise(const Instr& instr) {
    switch (instr.op) {
      case Opcode::Unary: case Opcode::CompareI: case Opcode::CompareF: case Opcode::Select: case Opcode::Fma:
      case Opcode::ClampF: return true;
      case Opcode::Binary: return !isDivision(binary(instr));
      case Opcode::Cast: return !truncatesFloats(instr.sub);
      default: return false;
    }
  }

  bool joins(const Instr& instr) const {
    if (!elementwise(instr) || !instr.valueNeeded || instr.outCount != 1) return false;
    for (unsigned i = 0; i < instr.inCount; ++i)
      if (operand(instr, i) == kNoSlot || type(operand(instr, i)).elementType().kind() == ir::TypeKind::Pointer) return false;
    const ir::Type tile = type(result(instr));
    if (!tile.isTensor() || tile.elementType().kind() == ir::TypeKind::Pointer) return false;
    int64_t elements = 1;
    for (int64_t size : tile.shape()) elements *= size;
    const ir::Value* value = program_.slots[result(instr)].value;
    return elements >= kWorthFusing && value && !explained_.needed(value);
  }

  // May it be executed before operations of the group that stand in front of it?
  static bool movesUp(const Instr& instr) {
    switch (instr.op) {
      case Opcode::Const: case Opcode::Iota: case Opcode::Splat: case Opcode::Broadcast: case Opcode::Reshape:
      case Opcode::Permute: case Opcode::PtrAdd: return true;
      case Opcode::Binary: return !isDivision(binary(instr)) && !isShift(binary(instr));
      default: return elementwise(instr);
    }
  }

  // Makes the group that begins here; returns where the next may begin.
  uint32_t group(uint32_t begin) {
    const std::vector<int64_t> shape = type(result(program_.code[begin])).shape();
    std::vector<uint32_t> members;
    std::unordered_map<uint32_t, uint32_t> inside;  // result of a member -> how often members read it
    for (uint32_t at = begin; at < end_ && (at == begin || !targets_[at]); ++at) {
      const Instr& instr = program_.code[at];
      if (joins(instr) && type(result(instr)).shape() == shape) {
        members.push_back(at);
        for (unsigned i = 0; i < instr.inCount; ++i)
          if (auto made = inside.find(operand(instr, i)); made != inside.end()) ++made->second;
        inside.emplace(result(instr), 0);
        continue;
      }
      bool reads = false;
      for (unsigned i = 0; i < instr.inCount; ++i) reads = reads || inside.count(operand(instr, i));
      if (reads || !movesUp(instr)) break;
    }
    const uint32_t end = members.back() + 1;
    program_.groups.push_back({begin, end});
    program_.code[begin].group = static_cast<uint32_t>(program_.groups.size());
    // What stands among them is executed before them, and once more if the group is begun again: it must not write over
    // operands.
    for (uint32_t at = begin; at < end; ++at)
      if (!std::binary_search(members.begin(), members.end(), at)) program_.code[at].dying = 0;
    for (uint32_t at : members) {
      Instr& instr = program_.code[at];
      const uint32_t reads = inside[result(instr)];
      instr.groupReads = static_cast<uint16_t>(std::min<uint32_t>(reads, UINT16_MAX));
      instr.fusing = reads == reads_[result(instr)] ? Fusing::Local : Fusing::Kept;
    }
    findStore(program_.groups.back(), inside, shape);
    return end;
  }

  // Is a result only read to be stored next?
  void findStore(Group& group, const std::unordered_map<uint32_t, uint32_t>& made, const std::vector<int64_t>& shape) const {
    for (uint32_t at = group.end; at < end_ && !targets_[at]; ++at) {
      const Instr& instr = program_.code[at];
      if (instr.op == Opcode::Store) {
        const uint32_t value = operand(instr, 1);
        if (!instr.valueNeeded || !made.count(value) || reads_[value] != 1 || type(value).shape() != shape) return;
        group.store = at;
        group.stored = value;
        return;
      }
      if (!movesUp(instr)) return;
    }
  }

  Program& program_;
  const Need& explained_;
  std::vector<uint32_t> reads_;  // by slot, in the whole program
  std::vector<bool> targets_;    // by instruction: something jumps there
  uint32_t end_ = 0;             // of the main code
};

}  // namespace

void fuse(Program& program, const Need& explained) { Fuser(program, explained).run(); }

}  // namespace tilesight::plan
