#include "plan/read_once.h"

namespace tilesight::plan {

void markLoadsReadOnce(Program& program) {
  std::vector<uint32_t> reads(program.slots.size(), 0);
  const auto read = [&](uint32_t slot) {
    if (slot != kNoSlot) ++reads[slot];
  };
  for (const std::vector<Instr>* code : {&program.prologue, &program.code})
    for (const Instr& instr : *code)
      for (unsigned i = 0; i < instr.inCount; ++i) read(program.operands[instr.in + i]);
  for (const RegionCode& region : program.regions)
    for (uint32_t slot : region.results) read(slot);
  for (Instr& instr : program.code)
    if (instr.op == Opcode::Load && reads[program.operands[instr.out]] == 1) instr.flag |= kReadOnce;
}

}  // namespace tilesight::plan
