// Loads and stores through pointers, atomics, prints and asserts.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/report.h"
#include "exec/rmw.h"
#include "plan/classify.h"

namespace tilesight::exec {

// A fault the machine survives.
void taintFaults(Machine& m, const Instr& instr, const Resolved& access) {
  Tile faulty = denseTile(m.pool(), ElementKind::I1, access.address.shape);
  m.context().memory->faultBits(m.pool(), access, denseData(faulty));
  bool any = false;
  for (int64_t i = 0; i < faulty.numel(); ++i) {
    uint8_t bits = denseData(faulty)[i];
    // Out-of-view and misaligned reads take effect.
    bool lost = bits & (TS_FAULT_OUT_OF_BOUNDS | TS_FAULT_NULL | TS_FAULT_FOREIGN | TS_FAULT_READ_ONLY);
    denseData(faulty)[i] = lost;
    any = any || lost;
  }
  if (any) m.taintSlot(m.outSlot(instr), std::move(faulty), m.cause(Cause::Kind::Fault, instr));
}

Tile storedForm(Machine& m, const Tile& value, ElementKind kind) {
  return kind == ElementKind::Pointer ? m.context().memory->addresses(m.pool(), value) : value;
}

void execLoad(Machine& m, const Instr& instr) {
  const Tile& pointer = m.in(instr, 0);
  const Tile* mask = instr.flag & 1 ? &m.in(instr, 1) : nullptr;
  const Tile* other = instr.flag & 2 && instr.valueNeeded ? &m.in(instr, 2) : nullptr;
  ElementKind kind = m.outKind(instr);
  uint32_t bytes = ir::elementBytes(kind);
  if (bytes == 0) return m.noKernel(instr);
  if (m.tainting() && mask) m.sink(instr, *mask, nullptr, "mask");
  Resolved access = m.context().memory->resolve(m.pool(), pointer, mask, bytes, Use::Read);
  if (m.tainting()) m.sink(instr, pointer, &access.mask, "address");
  if (m.footprint()) m.footprint()->read(*m.context().memory, m.pool(), access);
  if (!instr.valueNeeded) return m.access(instr, TS_LOAD, access);
  Tile value = m.load(access, kind, other, instr.flag & plan::kReadOnce);
  if (kind == ElementKind::Pointer) value = m.context().memory->adopt(m.pool(), std::move(value));
  m.access(instr, TS_LOAD, access, {&value});
  m.set(instr, std::move(value));
  if (access.faults) taintFaults(m, instr, access);
}

void execStore(Machine& m, const Instr& instr) {
  const Tile& pointer = m.in(instr, 0);
  const Tile* mask = instr.flag & 1 ? &m.in(instr, 2) : nullptr;
  ElementKind kind = machineKind(instr.source->operands[1]->type);
  uint32_t bytes = ir::elementBytes(kind);
  if (bytes == 0) return m.noKernel(instr);
  if (m.tainting() && mask) m.sink(instr, *mask, nullptr, "mask");
  Resolved access = m.context().memory->resolve(m.pool(), pointer, mask, bytes, Use::Write);
  if (m.tainting()) {
    m.sink(instr, pointer, &access.mask, "address");
    if (instr.valueNeeded) m.sink(instr, m.in(instr, 1), &access.mask, "value");
  }
  if (!instr.valueNeeded) return m.access(instr, TS_STORE, access);
  m.access(instr, TS_STORE, access, {&m.in(instr, 1)});
  if (m.footprint()) m.footprint()->write(*m.context().memory, m.pool(), access);
  m.store(access, storedForm(m, m.in(instr, 1), kind));
}

void execAtomicRmw(Machine& m, const Instr& instr) {
  if (m.givesWay(instr)) return;
  const Tile& pointer = m.in(instr, 0);
  const Tile* mask = instr.flag & 1 ? &m.in(instr, 2) : nullptr;
  ElementKind kind = machineKind(instr.source->operands[1]->type);
  auto rmw = static_cast<plan::RmwKind>(instr.sub);
  uint32_t bytes = ir::elementBytes(kind);
  if (!canUpdate(rmw, kind)) return m.noKernel(instr);
  if (m.tainting() && mask) m.sink(instr, *mask, nullptr, "mask");
  Resolved access = m.context().memory->resolve(m.pool(), pointer, mask, bytes, Use::Write);
  if (m.tainting()) {
    m.sink(instr, pointer, &access.mask, "address");
    if (m.in(instr, 1).form != Form::Empty) m.sink(instr, m.in(instr, 1), &access.mask, "value");
  }
  const Tile& value = m.in(instr, 1);
  if (!instr.valueNeeded) {
    m.access(instr, TS_ATOMIC_RMW, access, {&value});
    if (value.form != Form::Empty) m.update(rmw, kind, access, value);
    return;
  }
  const Shape* shape = access.address.shape;
  Tile old = denseTile(m.pool(), kind, shape);
  updateCells(m, rmw, kind, access, value, &old);
  m.keep(old);
  if (shape->numel == 1) old = splatTile(kind, elementBits(old, 0), shape);
  m.access(instr, TS_ATOMIC_RMW, access, {&value, &old});
  m.set(instr, std::move(old));
  if (access.faults) taintFaults(m, instr, access);
}

void execAtomicCas(Machine& m, const Instr& instr) {
  if (m.givesWay(instr)) return;
  const Tile& pointer = m.in(instr, 0);
  ElementKind kind = m.outKind(instr);
  uint32_t bytes = ir::elementBytes(kind);
  if (bytes == 0) return m.noKernel(instr);
  Resolved access = m.context().memory->resolve(m.pool(), pointer, nullptr, bytes, Use::Write);
  if (m.tainting()) m.sink(instr, pointer, &access.mask, "address");
  if (m.tainting())
    for (unsigned i = 1; i < 3; ++i) m.sink(instr, m.in(instr, i), &access.mask, "value");
  const Shape* shape = access.address.shape;
  Tile address = contiguous(m.pool(), access.address);
  Tile expected = contiguous(m.pool(), m.in(instr, 1));
  Tile value = contiguous(m.pool(), m.in(instr, 2));
  Tile old = m.replays() ? m.recall(kind, shape) : denseTile(m.pool(), kind, shape);
  const auto* addresses = reinterpret_cast<const int64_t*>(address.data());
  for (int64_t i = 0; i < shape->numel && !m.replays(); ++i) {
    uint8_t* to = denseData(old) + i * bytes;
    std::memset(to, 0, bytes);
    uint8_t* cell = m.context().memory->host(access, i, addresses[i]);
    if (!cell) continue;
    std::memcpy(to, cell, bytes);
    if (std::memcmp(cell, expected.data() + i * bytes, bytes) != 0) continue;
    std::memcpy(cell, value.data() + i * bytes, bytes);
    if (std::memcmp(cell, to, bytes) != 0) m.changed();
  }
  m.keep(old);
  if (shape->numel == 1) old = splatTile(kind, elementBits(old, 0), shape);
  m.access(instr, TS_ATOMIC_CAS, access, {&m.in(instr, 2), &old, &m.in(instr, 1)});
  m.set(instr, std::move(old));
  if (access.faults) taintFaults(m, instr, access);
}

void execPrint(Machine& m, const Instr& instr) {
  // As device_print does: one line an element, with the program.
  std::string prefix(instr.source->string("prefix"));
  std::string text;
  const int64_t* id = m.program().id;
  if (instr.inCount == 0) text = fmt::format("pid ({}, {}, {}){}\n", id[0], id[1], id[2], prefix);
  for (unsigned k = 0; k < instr.inCount; ++k) {
    const Tile& tile = m.in(instr, k);
    Tile dense = tile.isSplat() ? tile : contiguous(m.pool(), tile);
    for (int64_t i = 0; i < tile.numel(); ++i) {
      std::string index;
      int64_t rest = i;
      for (int d = tile.rank() - 1; d >= 0; --d) {
        index = fmt::format("{}{}{}", rest % tile.shape->dims[d], index.empty() ? "" : ", ", index);
        rest /= tile.shape->dims[d];
      }
      text += fmt::format("pid ({}, {}, {}) idx ({}){}{}\n", id[0], id[1], id[2], index, prefix,
                          elementText(dense, i));
    }
  }
  m.print(std::move(text));
}

void execAssert(Machine& m, const Instr& instr) {
  const Tile& condition = m.in(instr, 0);
  if (m.tainting()) m.sink(instr, condition, nullptr, "assert");
  int64_t failed = condition.numel() - countTrue(m.pool(), condition);
  if (failed == 0) return;
  FindingKey key{"assert-failed", &instr, -1};
  if (!m.collector().find(key)) {
    std::string message(instr.source->string("message"));
    findings::Finding finding = findingAt(m, instr, "assert-failed", findings::Severity::Error,
                                          message.empty() ? "the asserted condition is false" : message);
    finding.client = "execution";
    Tile dense = contiguous(m.pool(), condition);
    int64_t first = 0;
    while (first < dense.numel() && dense.data()[first]) ++first;
    finding.element = elementIndex(*condition.shape, first);
    explainValue(m, instr, instr.source->operands[0], first, finding);
    m.collector().add(key, std::move(finding));
  }
  m.collector().count(key, failed, m.program().linear);
}

}  // namespace tilesight::exec
