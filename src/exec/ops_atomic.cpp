// Atomic loads, stores and polls.
#include "exec/elementwise.h"
#include "exec/machine.h"

namespace tilesight::exec {

// What is atomic about them matters to other programs, which do not run meanwhile.
void execAtomicLoad(Machine& m, const Instr& instr) {
  if (!m.givesWay(instr)) execLoad(m, instr);
}
void execAtomicStore(Machine& m, const Instr& instr) {
  if (!m.givesWay(instr)) execStore(m, instr);
}

void execAtomicPoll(Machine& m, const Instr& instr) {
  const Tile& pointer = m.in(instr, 0);
  ElementKind kind = machineKind(instr.source->operands[1]->type);
  uint32_t bytes = ir::elementBytes(kind);
  if (bytes == 0) return m.noKernel(instr);
  Resolved access = m.context().memory->resolve(m.pool(), pointer, nullptr, bytes, Use::Read);
  if (m.tainting()) {
    m.sink(instr, pointer, &access.mask, "address");
    m.sink(instr, m.in(instr, 1), nullptr, "value");
  }
  if (m.footprint()) m.footprint()->read(*m.context().memory, m.pool(), access);
  Tile value = m.replays() ? m.recall(kind, access.address.shape) : m.context().memory->load(m.pool(), access, kind, nullptr);
  Tile same = compareI(m.pool(), CmpIOp::Eq, value, m.in(instr, 1));
  if (same.form == Form::Empty) return m.noKernel(instr);
  m.looksAt(access);
  bool timeout = instr.flag & 1;
  if (!access.faults && countTrue(m.pool(), same) < same.numel() && !m.expired() && m.block(instr, timeout)) return;
  m.keep(value);
  m.access(instr, TS_LOAD, access, {&value});
  m.set(instr, std::move(same));
  if (access.faults) taintFaults(m, instr, access);
}

}  // namespace tilesight::exec
