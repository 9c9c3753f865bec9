#include "exec/sweep.h"

#include <algorithm>
#include <cstring>

#include "exec/footprint.h"
#include "exec/kernels/kernels.h"
#include "exec/machine.h"
#include "plan/classify.h"

namespace tilesight::exec {

namespace {

constexpr int64_t kWorth = 8;       // programs of a stretch
constexpr int64_t kWorthTrips = 4;  // of a loop
constexpr int kPatience = 2;        // times that a loop is looked at in vain

bool isLinear(const Tile& tile) { return tile.form == Form::Splat || tile.form == Form::Affine; }

// a + b * c, if it fits.
bool multiplyAdd(int64_t a, int64_t b, int64_t c, int64_t* out) {
  int64_t product;
  return !__builtin_mul_overflow(b, c, &product) && !__builtin_add_overflow(a, product, out);
}

// Do the elements lie side by side, in order?
bool sideBySide(const Tile& address, int64_t elementBytes) {
  if (!isLinear(address)) return false;
  int64_t step = elementBytes;
  for (int d = address.rank() - 1; d >= 0; --d) {
    const int64_t size = address.shape->dims[d];
    if (size == 1) continue;
    if (address.isSplat() || address.stride[d] != step) return false;
    step *= size;
  }
  return true;
}

// Of a loop with signed bounds that stay; see execLoopNext.
bool makesOneTrip(Machine& machine, const Instr& loop) {
  const Tile &value = machine.in(loop, 0), &upper = machine.in(loop, 1), &step = machine.in(loop, 2);
  if (!value.isSplat() || !upper.isSplat() || !step.isSplat() || step.base <= 0 || value.base >= upper.base) return false;
  int64_t next;
  return __builtin_add_overflow(value.base, step.base, &next) || next >= upper.base;
}

}  // namespace

void Sweep::reserve() {
  candidateOf_.assign(program_.slots.size(), -1);
  step_.assign(program_.slots.size(), 0);
  known_.assign(program_.code.size(), Known::No);
  accessOf_.assign(program_.code.size(), 0);
}

Sweep::Sweep(const plan::Program& program) : program_(program) {
  reserve();
  moves_.assign(program.slots.size(), true);
  for (uint32_t slot : program.parameters) moves_[slot] = false;
  for (const Instr& instr : program.prologue)
    for (unsigned i = 0; i < instr.outCount; ++i) moves_[program.operands[instr.out + i]] = false;
}

// What may be known of programs. The machine has executed the prologue.
void Sweep::gather(Machine& machine) {
  gathered_ = true;
  for (uint32_t pc = 0; pc < program_.code.size(); ++pc) {
    const Instr& instr = program_.code[pc];
    if (instr.op == Opcode::LoopBegin) {
      if (!instr.even || !makesOneTrip(machine, instr)) continue;
      oneTrips_.push_back(pc);
      moves_[machine.outSlot(instr)] = false;
    } else if (instr.even) {
      // It may come of the variable of a loop that makes several trips.
      bool follows = true;
      for (unsigned i = 0; i < instr.inCount; ++i) {
        const uint32_t slot = machine.inSlot(instr, i);
        follows = follows && (!moves_[slot] || candidateOf_[slot] >= 0);
      }
      if (!follows) continue;
      const uint32_t slot = machine.outSlot(instr);
      candidateOf_[slot] = static_cast<int32_t>(candidates_.size());
      candidates_.push_back({pc, slot});
    } else if (instr.op == Opcode::Load || instr.op == Opcode::Store) {
      accesses_.push_back(pc);
    }
  }
}

Sweep::Sweep(const plan::Program& program, const plan::Loop& loop) : program_(program), loop_(&loop), accesses_(loop.accesses) {
  reserve();
  moves_.assign(program.slots.size(), false);
  const auto candidate = [&](uint32_t pc, uint32_t slot, bool given) {
    candidateOf_[slot] = static_cast<int32_t>(candidates_.size());
    candidates_.push_back({pc, slot, false, given});
  };
  candidate(loop.begin, program.operands[program.code[loop.begin].out], true);
  for (const plan::Loop::Carried& c : loop.carried) candidate(loop.move, c.argument, true);
  for (uint32_t pc : loop.candidates) candidate(pc, program.operands[program.code[pc].out], false);
  if (loop.move) carries_.assign(program.code[loop.move].inCount, false);
}

void Sweep::start(Machine& machine, int64_t linear, int64_t end) {
  if (covers(linear)) {
    offset_ = linear - from_;
    for (const Moving& m : moving_) machine.slot(m.slot).base = m.base + offset_ * m.step;
  } else {
    lookAhead(machine, linear, end);
  }
  if (covers(linear) && useful_) ++machine.collector().work().sweptPrograms;
}

void Sweep::lookAhead(Machine& machine, int64_t linear, int64_t end) {
  if (to_ > from_) {
    std::fill(known_.begin(), known_.end(), Known::No);
    from_ = to_ = 0;
  }
  if (linear < again_) return;
  if (!gathered_) gather(machine);
  if (candidates_.empty()) return;
  const auto& grid = machine.context().launch->grid;
  axis_ = grid[0] > 1 ? 0 : grid[1] > 1 ? 1 : 2;
  const int64_t row = linear - machine.program().id[axis_] + grid[axis_];
  const int64_t to = std::min(end, row);
  again_ = to;
  if (to - linear < kWorth) return;
  tryStretch(machine, linear, to - 1);
  if (!maskFailed_) return;
  // The last program's tile often reaches beyond the end of the data.
  tryStretch(machine, linear, to - 2);
  for (int64_t count = (to - linear) / 2; maskFailed_ && count >= kWorth; count /= 2) tryStretch(machine, linear, linear + count - 1);
  again_ = to_ > from_ ? to_ : to;
}

// Executes the candidates, as the current program or trip.
void Sweep::probe(Machine& machine) {
  for (Candidate& candidate : candidates_) {
    if (candidate.failed || candidate.given) continue;
    const Instr& instr = program_.code[candidate.pc];
    bool defined = true;
    for (unsigned i = 0; i < instr.inCount; ++i) {
      const int32_t made = candidateOf_[machine.inSlot(instr, i)];
      defined = defined && (made < 0 || !candidates_[made].failed);
    }
    if (defined && instr.op == Opcode::Binary) {  // it must have nothing to say of its operands
      const Tile& b = machine.in(instr, 1);
      const auto op = static_cast<BinaryOp>(instr.sub);
      if (plan::isDivision(op)) defined = b.isSplat() && b.base > 0;
      if (plan::isShift(op)) defined = b.isSplat() && b.base >= 0 && b.base < 8 * ir::elementBytes(b.kind);
    }
    if (defined) machine.executeOne(instr);
    else candidate.failed = true;
  }
}

const Tile& Sweep::lastOf(Machine& machine, uint32_t slot) const {
  return candidateOf_[slot] < 0 ? machine.slot(slot) : candidates_[candidateOf_[slot]].last;
}

// How far the result moves from a program to the next, if the operation is linear in what moves.
bool Sweep::stepOf(Machine& machine, const Instr& instr, int64_t* step) const {
  const auto operandStep = [&](unsigned i) { return step_[machine.inSlot(instr, i)]; };
  switch (instr.op) {
    case Opcode::ProgramId: *step = !loop_ && instr.immediate == axis_; return true;
    case Opcode::Splat: case Opcode::Broadcast: case Opcode::Reshape: case Opcode::Permute: case Opcode::Cast:
      *step = operandStep(0);
      return true;
    case Opcode::PtrAdd: return multiplyAdd(operandStep(0), operandStep(1), instr.immediate, step);
    case Opcode::CompareI: {
      // One answer for all elements at both ends: the difference has one sign in between.
      const auto op = static_cast<CmpIOp>(instr.sub);
      *step = 0;
      return op >= CmpIOp::Slt && op <= CmpIOp::Sge;
    }
    case Opcode::Binary: {
      const Tile &a = machine.in(instr, 0), &b = machine.in(instr, 1);
      const int64_t sa = operandStep(0), sb = operandStep(1);
      const auto isQuotient = [&] { return machine.slot(machine.outSlot(instr)).isSplat(); };
      const auto neverNegative = [&] {
        Range first, last;
        return symbolicRange(a, &first) && symbolicRange(lastOf(machine, machine.inSlot(instr, 0)), &last) && first.min >= 0 && last.min >= 0;
      };
      switch (static_cast<BinaryOp>(instr.sub)) {
        case BinaryOp::AddI: return !__builtin_add_overflow(sa, sb, step);
        case BinaryOp::SubI: return !__builtin_sub_overflow(sa, sb, step);
        case BinaryOp::MulI:
          if (sa == 0 && a.isSplat()) return !__builtin_mul_overflow(a.base, sb, step);
          if (sb == 0 && b.isSplat()) return !__builtin_mul_overflow(b.base, sa, step);
          return false;
        case BinaryOp::Shl: return sb == 0 && b.base < 32 && !__builtin_mul_overflow(sa, int64_t{1} << b.base, step);
        // The remainder moves as the dividend does where the quotient stays, and the other way round.
        case BinaryOp::RemS: *step = sa; return sb == 0;
        case BinaryOp::RemU: *step = sa; return sb == 0 && neverNegative();
        case BinaryOp::DivS: *step = 0; return sb == 0 && isQuotient();
        case BinaryOp::DivU: *step = 0; return sb == 0 && isQuotient() && neverNegative();
        default: return false;
      }
    }
    default: return false;
  }
}

// Is the candidate's result constant in the stretch, or does it move evenly?
bool Sweep::settle(Machine& machine, Candidate& candidate, int64_t steps) {
  const Instr& instr = program_.code[candidate.pc];
  bool constant = instr.op != Opcode::ProgramId || loop_ || instr.immediate != axis_;
  for (unsigned i = 0; i < instr.inCount; ++i) {
    const uint32_t slot = machine.inSlot(instr, i);
    if (moves_[slot]) return false;
    constant = constant && step_[slot] == 0;
  }
  step_[candidate.slot] = 0;
  if (constant) return true;
  const Tile& first = machine.slot(candidate.slot);
  const Tile& last = candidate.last;
  int64_t step = 0, moved = 0;
  if (!stepOf(machine, instr, &step) || !isLinear(first) || first.form != last.form || first.shape != last.shape ||
      first.origin != last.origin || first.origin == kOriginMixed || first.stride != last.stride ||
      !multiplyAdd(first.base, steps, step, &moved) || moved != last.base) {
    maskFailed_ = maskFailed_ || instr.op == Opcode::CompareI;
    return false;
  }
  // A mask gets here as a splat that compares give at both ends: no step but 0 leads from one of its values to another.
  step_[candidate.slot] = step;
  if (step) moving_.push_back({candidate.slot, first.base, step});
  return true;
}

// What is known of a stretch whose candidates were executed at both ends; the slots are those of its first end.
void Sweep::settleAll(Machine& machine, int64_t steps) {
  for (Candidate& candidate : candidates_) {
    if (candidate.given) continue;
    const bool known = !candidate.failed && settle(machine, candidate, steps);
    moves_[candidate.slot] = !known;
    if (known) known_[candidate.pc] = Known::Value;
  }
}

// Finds out what is known of programs from .. last; the machine stands at `from` then.
void Sweep::tryStretch(Machine& machine, int64_t from, int64_t last) {
  maskFailed_ = false;
  moving_.clear();
  prepared_.clear();
  std::fill(known_.begin(), known_.end(), Known::No);
  for (Candidate& candidate : candidates_) candidate.failed = false;
  for (uint32_t pc : oneTrips_) {  // what their variables will be
    const Instr& loop = program_.code[pc];
    machine.set(loop, splatTile(machine.outKind(loop), machine.in(loop, 0).base, machine.outShape(loop)));
  }
  machine.standAt(last);
  probe(machine);
  for (Candidate& candidate : candidates_) candidate.last = machine.slot(candidate.slot);
  machine.standAt(from);
  probe(machine);
  if (machine.stopped() || machine.tainting()) return;
  const int64_t steps = last - from;
  settleAll(machine, steps);
  if (maskFailed_ && steps >= 2 * kWorth) {  // a shorter stretch may be known better
    std::fill(known_.begin(), known_.end(), Known::No);
    return;
  }
  for (uint32_t pc : accesses_) prepare(machine, pc);
  from_ = from;
  to_ = last + 1;
  offset_ = 0;
  useful_ = std::any_of(known_.begin(), known_.end(), [](Known known) { return known != Known::No; });
}

bool Sweep::enter(Machine& machine, int64_t value, int64_t upper, int64_t step) {
  from_ = to_ = 0;
  int64_t distance, trips;
  if (fruitless_ >= kPatience || __builtin_sub_overflow(upper, value, &distance) || __builtin_add_overflow(distance, step - 1, &trips)) return false;
  trips /= step;
  if (trips < kWorthTrips) return false;
  tryTrips(machine, trips - 1, step);
  // The last trip's tile often reaches beyond the end of the data.
  if (maskFailed_ && trips > kWorthTrips) tryTrips(machine, trips - 2, step);
  if (to_ == 0) ++fruitless_;
  else ++machine.collector().work().sweptTrips;
  return to_ > 0;
}

// Finds out what is known of trips 0 .. last; the machine is at the first one.
void Sweep::tryTrips(Machine& machine, int64_t last, int64_t step) {
  maskFailed_ = false;
  moving_.clear();
  carried_.clear();
  prepared_.clear();
  from_ = to_ = 0;
  std::fill(known_.begin(), known_.end(), Known::No);
  std::fill(carries_.begin(), carries_.end(), false);
  for (uint32_t slot : loop_->written) moves_[slot] = true;
  for (Candidate& candidate : candidates_) candidate.failed = false;
  probe(machine);
  if (machine.stopped() || machine.tainting()) return;
  // How far a trip moves what it leaves to the next one, if all trips do as the first; and what the last one then has.
  std::vector<const plan::Loop::Carried*> followed;
  for (Candidate& candidate : candidates_)
    if (candidate.given) candidate.last = machine.slot(candidate.slot);
    else std::swap(candidate.last, machine.slot(candidate.slot));
  for (const plan::Loop::Carried& c : loop_->carried) {
    Candidate& argument = candidates_[candidateOf_[c.argument]];
    const int32_t made = candidateOf_[c.next];
    if (made < 0) continue;
    const Tile &before = argument.last, &after = candidates_[made].last;
    int64_t moved = 0, end = 0;
    argument.failed = (!candidates_[made].given && candidates_[made].failed) || !isLinear(before) || before.form != after.form ||
                      before.shape != after.shape || before.kind != after.kind || before.origin != after.origin ||
                      before.origin == kOriginMixed || before.stride != after.stride ||
                      __builtin_sub_overflow(after.base, before.base, &moved) || !multiplyAdd(before.base, last, moved, &end);
    if (argument.failed) continue;
    step_[c.argument] = moved;
    moves_[c.argument] = false;
    followed.push_back(&c);
    machine.slot(c.argument).base = end;
  }
  const uint32_t variable = candidates_[0].slot;
  step_[variable] = step;
  moves_[variable] = false;
  machine.slot(variable).base += last * step;
  probe(machine);
  for (Candidate& candidate : candidates_) std::swap(candidate.last, machine.slot(candidate.slot));
  if (machine.stopped() || machine.tainting()) return;
  settleAll(machine, last);
  for (const plan::Loop::Carried* c : followed) {
    // It does so as long as what a trip leaves to the next one moves as it does.
    if (moves_[c->next] || step_[c->next] != step_[c->argument]) {
      std::fill(known_.begin(), known_.end(), Known::No);
      return;
    }
    carries_[c->operand] = true;
    carried_.push_back({c->argument, machine.slot(c->argument).base, step_[c->argument]});
  }
  if (maskFailed_ && last >= kWorthTrips) {  // all trips but the last may be known better
    std::fill(known_.begin(), known_.end(), Known::No);
    return;
  }
  for (uint32_t pc : accesses_) prepare(machine, pc);
  if (std::all_of(known_.begin(), known_.end(), [](Known known) { return known == Known::No; })) return;
  if (!carried_.empty()) known_[loop_->move] = Known::Move;
  to_ = last + 1;
  offset_ = 0;
}

bool Sweep::advance(Machine& machine, int64_t trip) {
  for (const Moving& m : carried_) machine.slot(m.slot).base = m.base + trip * m.step;
  if (trip >= to_) return false;
  offset_ = trip;
  ++machine.collector().work().sweptTrips;
  for (const Moving& m : moving_) machine.slot(m.slot).base = m.base + trip * m.step;
  return true;
}

void Sweep::leave(Machine& machine, int64_t trip) {
  for (const Moving& m : carried_) machine.slot(m.slot).base = m.base + trip * m.step;
}

// An access that is inside at both ends, and wrong nowhere.
void Sweep::prepare(Machine& machine, uint32_t pc) {
  const Instr& instr = program_.code[pc];
  const bool isStore = instr.op == Opcode::Store;
  const uint32_t pointerSlot = machine.inSlot(instr, 0);
  const unsigned maskOperand = isStore ? 2 : 1;
  const ElementKind kind = isStore ? machineKind(instr.source->operands[1]->type) : machine.outKind(instr);
  const uint32_t bytes = ir::elementBytes(kind);
  if (!instr.valueNeeded || moves_[pointerSlot] || bytes == 0 || kind == ElementKind::Pointer) return;
  const Tile* mask = nullptr;
  if (instr.flag & 1) {
    const uint32_t slot = machine.inSlot(instr, maskOperand);
    if (moves_[slot] || step_[slot]) return;
    mask = &machine.slot(slot);
  }
  const Tile &first = machine.slot(pointerSlot), &last = lastOf(machine, pointerSlot);
  if (first.origin < 0) return;
  const LaunchMemory& memory = *machine.context().memory;
  const Use use = isStore ? Use::Write : Use::Read;
  Access a;
  a.resolved = memory.resolve(machine.pool(), first, mask, bytes, use);
  const Resolved end = memory.resolve(machine.pool(), last, mask, bytes, use);  // as many elements are active: the mask stays
  a.step = step_[pointerSlot];
  if (!a.resolved.storage || !a.resolved.view || a.resolved.faults || end.faults || end.storage != a.resolved.storage ||
      end.view != a.resolved.view)
    return;
  if (a.step && (!isLinear(first) || !memory.gapless(*a.resolved.view, isStore) || a.step % static_cast<int64_t>(bytes))) return;
  a.kind = kind;
  a.base = first.base;
  a.flat = a.resolved.mask.isSplat() && a.resolved.mask.base && sideBySide(first, bytes) && !a.resolved.storage->pager;
  if (a.flat) {
    a.at = first.base - a.resolved.storage->base;
    a.host = a.resolved.storage->data + a.at;
    a.bytes = first.numel() * bytes;
    a.flat = reinterpret_cast<uintptr_t>(a.host) % bytes == 0;
  }
  known_[pc] = Known::Access;
  accessOf_[pc] = static_cast<uint32_t>(prepared_.size());
  prepared_.push_back(std::move(a));
}

uint8_t* Sweep::storedAt(Machine& machine, uint32_t pc, int64_t bytes) {
  if (known_[pc] != Known::Access) return nullptr;
  const Access& a = prepared_[accessOf_[pc]];
  if (!a.flat || a.bytes != bytes) return nullptr;
  const int64_t moved = offset_ * a.step;
  const auto storage = static_cast<size_t>(a.resolved.storage - machine.context().memory->storages().data());
  if (machine.footprint()) machine.footprint()->write(storage, a.at + moved, a.bytes);
  return a.host + moved;
}

void Sweep::access(Machine& machine, const Instr& instr, uint32_t pc) {
  Access& a = prepared_[accessOf_[pc]];
  ++machine.collector().work().sweptAccesses;
  const int64_t moved = offset_ * a.step;
  if (a.step) a.resolved.address.base = a.base + moved;
  const bool isStore = instr.op == Opcode::Store;
  const LaunchMemory& memory = *machine.context().memory;
  const auto storage = static_cast<size_t>(a.resolved.storage - memory.storages().data());
  if (!a.told.size) a.told = machine.described(instr, isStore ? TS_STORE : TS_LOAD, a.resolved);
  a.told.base = a.resolved.address.form == Form::Dense ? 0 : a.resolved.address.base;
  uint8_t* host = a.host + moved;
  Footprint* footprint = machine.footprint();
  if (isStore) {
    const Tile& value = machine.in(instr, 1);
    machine.tell(instr, a.told, a.resolved, {&value});
    if (!a.flat) {
      if (footprint) footprint->write(memory, machine.pool(), a.resolved);
      return machine.store(a.resolved, value);
    }
    if (footprint) footprint->write(storage, a.at + moved, a.bytes);
    if (value.isSplat()) kernels().fillSplat(a.resolved.elementBytes, host, &value.base, static_cast<size_t>(value.numel()));
    else if (value.form == Form::Dense && !value.buffer && value.data() == host && isContiguous(value)) return;  // it is there
    else if (isContiguous(value)) std::memmove(host, value.data(), static_cast<size_t>(a.bytes));  // it may lie in memory
    else machine.store(a.resolved, value);
    return;
  }
  if (!a.flat) {
    if (footprint) footprint->read(memory, machine.pool(), a.resolved);
    Tile value = machine.load(a.resolved, a.kind, instr.flag & 2 ? &machine.in(instr, 2) : nullptr, instr.flag & plan::kReadOnce);
    machine.tell(instr, a.told, a.resolved, {&value});
    machine.set(instr, std::move(value));
    return;
  }
  if (footprint) footprint->read(storage, a.at + moved, a.bytes);
  Tile& value = machine.slot(machine.outSlot(instr));
  const Shape* shape = a.resolved.address.shape;
  if (shape->numel == 1) {
    int64_t bits = 0;
    std::memcpy(&bits, host, a.resolved.elementBytes);
    value = splatTile(a.kind, bits, shape);
  } else if (instr.mayBorrow || a.resolved.storage->constant) {
    if (!isPlain(value, a.kind, shape) || value.buffer) {  // the slot may hold a strided tile of another program, or what a fault made of one
      Tile borrowed;
      borrowed.form = Form::Dense;
      borrowed.kind = a.kind;
      borrowed.shape = shape;
      borrowed.stride = rowMajor(*shape);
      value = std::move(borrowed);
    }
    value.axis[0] = host;
  } else {
    Tile copy = denseTile(machine.pool(), a.kind, shape);
    std::memcpy(denseData(copy), host, static_cast<size_t>(a.bytes));
    value = std::move(copy);
  }
  machine.tell(instr, a.told, a.resolved, {&value});
}

}  // namespace tilesight::exec
