// Control flow: jumps, loops, moves.
#include <array>

#include "exec/machine.h"
#include "exec/report.h"
#include "plan/classify.h"

namespace tilesight::exec {

void execUnsupported(Machine& m, const Instr& instr) {
  std::string reason = plan::cannotExecute(*instr.source);
  if (reason.empty()) reason = instr.source->name + " cannot be executed yet";
  m.stop(instr, reason);
}

void execMove(Machine& m, const Instr& instr) { m.move(instr, nullptr); }

void Machine::move(const Instr& instr, const Sweep* but) {
  // Parallel: read all, then write all.
  constexpr unsigned kFew = 8;
  std::array<Tile, kFew> few;
  std::vector<Tile> many;
  Tile* held = few.data();
  if (instr.inCount > kFew) {
    many.resize(instr.inCount);
    held = many.data();
  }
  const auto skipped = [&](unsigned i) { return but && but->carries(i); };
  for (unsigned i = 0; i < instr.inCount; ++i) {
    if (skipped(i)) continue;
    Tile& from = slots_[inSlot(instr, i)];
    if ((instr.dying >> i) & 1 && i < 32) held[i] = std::move(from);
    else held[i] = from;
  }
  for (unsigned i = 0; i < instr.inCount; ++i)
    if (!skipped(i)) set(instr, std::move(held[i]), i);
}

void execJump(Machine& m, const Instr& instr) {
  // Loops may also be made of jumps: count the backward ones.
  if (m.goesBack(instr) && !m.spendIteration(instr)) return;
  m.jump(instr.target);
}

void execBranchIfNot(Machine& m, const Instr& instr) {
  const Tile& condition = m.in(instr, 0);
  if (m.tainting()) m.sink(instr, condition, nullptr, "branch");
  if (!scalarValue(condition)) m.jump(instr.target);
}

void execLoopBegin(Machine& m, const Instr& instr) {
  LoopRecord loop;
  loop.loop = &instr;
  loop.value = scalarValue(m.in(instr, 0));
  loop.upper = scalarValue(m.in(instr, 1));
  loop.step = scalarValue(m.in(instr, 2));
  loop.isUnsigned = instr.flag & 1;
  if (m.tainting())
    for (unsigned i = 0; i < 3; ++i) m.sink(instr, m.in(instr, i), nullptr, "loop bound");
  bool enter = loop.isUnsigned ? static_cast<uint64_t>(loop.value) < static_cast<uint64_t>(loop.upper)
                               : loop.value < loop.upper;
  if (!enter) {
    m.jump(instr.target);
    return;
  }
  if (loop.step == 0 || (loop.step < 0 && !loop.isUnsigned)) {
    m.stop(instr, "a loop whose step is " + std::to_string(loop.step) + " does not end on the device");
    return;
  }
  m.set(instr, splatTile(m.outKind(instr), loop.value, m.outShape(instr)));
  m.enterLoop(std::move(loop));
  m.sweepTrips(instr);
  m.loopIteration(instr);
}

void execLoopNext(Machine& m, const Instr& instr) {
  LoopRecord& loop = m.loop();
  // The loop ends when the next value would pass the bound: no wrap-around.
  int64_t next;
  bool more = !__builtin_add_overflow(loop.value, loop.step, &next) && loop.step > 0 &&
              fitsKind(m.outKind(instr), next);
  if (loop.isUnsigned) {
    next = normalizeBits(m.outKind(instr), loop.value + loop.step);
    uint64_t mask = ir::elementBytes(m.outKind(instr)) >= 8 ? ~uint64_t{0} : (uint64_t{1} << 32) - 1;
    more = loop.step > 0 && (static_cast<uint64_t>(next) & mask) > (static_cast<uint64_t>(loop.value) & mask) &&
           (static_cast<uint64_t>(next) & mask) < (static_cast<uint64_t>(loop.upper) & mask);
  } else {
    more = more && next < loop.upper;
  }
  if (!more) {
    m.leaveLoop();
    return;
  }
  if (!m.spendIteration(instr)) return;
  loop.value = next;
  ++loop.trip;
  m.set(instr, splatTile(m.outKind(instr), next, m.outShape(instr)));
  m.jump(instr.target);
  m.nextTrip();
  m.loopIteration(instr);
}

void execWhileBegin(Machine& m, const Instr& instr) {
  LoopRecord loop;
  loop.loop = &instr;
  loop.isWhile = true;
  m.enterLoop(std::move(loop));
  m.loopIteration(instr);
}

void execWhileNext(Machine& m, const Instr& instr) {
  if (!m.spendIteration(instr)) return;
  LoopRecord& loop = m.loop();
  ++loop.trip;
  if (loop.trip >= kWhileLimit) {
    m.stop(instr, "a while loop ran " + std::to_string(kWhileLimit) +
                      " times without ending");
    return;
  }
  m.jump(instr.target);
  if (m.spins(instr)) return;
  m.loopIteration(instr);
}

void execWhileEnd(Machine& m, const Instr&) { m.leaveLoop(); }

void execMark(Machine&, const Instr&) {}

void execReturn(Machine& m, const Instr&) { m.finish(); }

}  // namespace tilesight::exec
