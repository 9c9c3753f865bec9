#include "trace/backwards.h"

#include <algorithm>

namespace tilesight::trace {

using exec::Instr;
using exec::Machine;
using exec::Opcode;

namespace {

// A Mark of what a loop gives: it has the loop's values, as results of its own.
bool marksLoopResults(const exec::CompiledPlan& plan, const Instr& instr) {
  if (instr.op != Opcode::Mark || (instr.source->name != "scf.for" && instr.source->name != "scf.while")) return false;
  return plan.program.marks[static_cast<size_t>(instr.immediate)].front()->owner == instr.source;
}

ElementSet oneOf(const exec::Shape* shape, int64_t element) {
  ElementSet one(shape ? shape->numel : 1);
  one.add(std::min(element, one.size() - 1));
  return one;
}

}  // namespace

void Backwards::before(Machine& machine, const Instr& instr) {
  if (events_.size() >= kMostEvents) {
    tooLong = true;
    return machine.finish();
  }
  if (!plan) {
    plan = machine.context().plan;
    makerOfSlot_.resize(plan->program.slots.size());
    meets_ = meetingPoints(plan->program);
  }
  const auto number = static_cast<uint32_t>(events_.size());
  Event& event = events_.emplace_back();
  event.instr = &instr;
  event.makers = static_cast<uint32_t>(makers_.size());
  for (unsigned i = 0; i < instr.inCount; ++i) {
    const uint32_t slot = machine.inSlot(instr, i);
    makers_.push_back(slot == plan::kNoSlot ? Maker{} : makerOfSlot_[slot]);
  }
  observeBranch(instr, number);
  keep(machine, instr, event);
}

void Backwards::observeBranch(const Instr& instr, uint32_t number) {
  const auto at = static_cast<size_t>(&instr - plan->program.code.data());
  if (at >= meets_.size()) return;
  for (; !open_.empty() && open_.back().meets == at; open_.pop_back())
    if (const ir::Operation* loop = loopOf(*events_[open_.back().event].instr)) endedBy_[loop] = open_.back().event;
  if (!open_.empty()) events_[number].branch = open_.back().event + 1;
  if (!isBranch(instr)) return;
  // A turn of a loop is there because of the turn before it: the branch takes the place of its predecessor.
  if (!open_.empty() && open_.back().meets == meets_[at]) open_.back().event = number;
  else open_.push_back({number, meets_[at]});
}

// The tiles that say what an operation did; of stores, what they write, too.
void Backwards::keep(Machine& machine, const Instr& instr, Event& event) {
  const uint32_t bits = decidingOperands(instr);
  if (!bits) return;
  Deciding& tiles = kept_.emplace_back(instr.inCount);
  const bool stores = instr.op == Opcode::Store || instr.op == Opcode::AtomicStore || instr.op == Opcode::ViewStore;
  for (unsigned i = 0; i < instr.inCount; ++i)
    if ((i < 32 ? bits >> i & 1 : bits >> 31) || (stores && i == 1)) tiles[i] = machine.in(instr, i);
  event.kept = static_cast<uint32_t>(kept_.size());
}

void Backwards::after(Machine& machine, const Instr& instr) {
  const auto event = static_cast<uint32_t>(events_.size() - 1);
  if (instr.op != Opcode::Mark)
    for (unsigned i = 0; i < instr.outCount; ++i) makerOfSlot_[machine.outSlot(instr, i)] = {event, i};
  if (isAccess(instr)) accesses_.push_back(event);
  if (!marksLoopResults(*plan, instr)) return;
  const auto ended = endedBy_.find(instr.source);
  if (ended == endedBy_.end()) return;
  endOf_[event] = ended->second;
  for (unsigned i = 0; i < instr.inCount; ++i) makerOfSlot_[machine.inSlot(instr, i)] = {event, i};
}

void Backwards::finished(Machine& machine) {
  if (!tooLong && !events_.empty()) {
    starts = findStarts_(*this, machine);
    for (const Start& start : starts) begin(machine, start);
    follow(machine);
  }
  kept_.clear();  // tiles end with the machine
  cells_.clear();
}

std::optional<Backwards::Start> Backwards::writeTo(Machine& machine, int64_t address, uint32_t from) {
  for (size_t a = accesses_.size(); a-- > 0;) {
    const uint32_t event = accesses_[a];
    if (event >= from) continue;
    const Cell& written = writtenBy(machine, event);
    const auto cell = written.elements.find(address);
    if (cell != written.elements.end()) return Start{event, static_cast<unsigned>(written.value), true, cell->second, written.atomic};
  }
  return {};
}

std::optional<int64_t> Backwards::bitsOf(const Start& start) const {
  const Event& event = events_[start.event];
  if (!start.operand || !event.kept) return {};
  const exec::Tile& tile = kept_[event.kept - 1][start.number];
  if (tile.form == exec::Form::Empty || tile.form == exec::Form::View) return {};
  return exec::elementBits(tile, tile.numel() == 1 ? 0 : start.element);
}

const Backwards::Cell& Backwards::writtenBy(Machine& machine, uint32_t event) {
  auto [found, fresh] = cells_.try_emplace(event);
  Cell& written = found->second;
  if (!fresh) return written;
  const Event& e = events_[event];
  const Cells cells = cellsOf(*machine.context().plan, *e.instr, kept_[e.kept - 1]);
  if (!cells.writes) return written;
  written.value = cells.value;
  written.atomic = cells.reads;
  for (size_t i = 0; i < cells.address.size(); ++i)
    if (cells.active[i]) written.elements[cells.address[i]] = static_cast<int64_t>(i);
  return written;
}

void Backwards::needBranch(uint32_t branch) {
  if (branch) needed_[branch - 1].decides = true;
}

void Backwards::need(Machine& machine, uint32_t event, unsigned operand, const ElementSet& elements, bool condition) {
  if (elements.empty()) return;
  const Event& e = events_[event];
  const Maker maker = makers_[e.makers + operand];
  if (maker.event == UINT32_MAX) return parameter(machine, machine.inSlot(*e.instr, operand));
  if (condition) conditions.emplace(maker.event, maker.result);
  auto& results = needed_[maker.event].results;
  const Instr& made = *events_[maker.event].instr;
  if (results.empty()) results.resize(made.op == Opcode::Mark ? made.inCount : made.outCount);
  ElementSet& set = results[maker.result];
  if (!set.size()) set = ElementSet(elements.size());
  set.add(elements);
}

void Backwards::needAll(Machine& machine, uint32_t event, bool condition) {
  const Instr& instr = *events_[event].instr;
  for (unsigned i = 0; i < instr.inCount; ++i) {
    const exec::Shape* shape = operandShape(*plan, instr, i);
    ElementSet all(shape ? shape->numel : 0);
    all.addAll();
    need(machine, event, i, all, condition);
  }
}

// What a store wrote, and that it was executed.
void Backwards::needWritten(Machine& machine, const Start& start) {
  need(machine, start.event, start.number, oneOf(operandShape(*plan, *events_[start.event].instr, start.number), start.element));
  needBranch(events_[start.event].branch);
}

void Backwards::parameter(Machine& machine, uint32_t slot) {
  const auto& parameters = machine.context().plan->program.parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p] != slot) continue;
    const int32_t argument = machine.context().argumentOfParameter[p];
    if (argument < 0) return;
    const launch::Argument& a = launch_.arguments[static_cast<size_t>(argument)];
    if (a.kind == launch::Argument::Kind::Scalar) scalars.insert(a.name);
  }
}

// Elements of a read that were in memory: the program's own earlier writes, other programs', or inputs.
void Backwards::readMemory(Machine& machine, uint32_t event, const ElementSet& want) {
  const Event& e = events_[event];
  const Cells cells = cellsOf(*plan, *e.instr, kept_[e.kept - 1]);
  if (!cells.reads) return;
  want.each([&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    if (at >= cells.address.size() || !cells.active[at]) return;
    cell(machine, cells.address[at], cells.origin[at], event, i, cells.elementBytes);
  });
}

void Backwards::cell(Machine& machine, int64_t address, int32_t origin, uint32_t event, int64_t element, uint32_t bytes) {
  const exec::LaunchMemory& memory = *machine.context().memory;
  if (origin < 0 || !memory.view(origin)) {
    origin = -1;
    for (size_t a = 0; a < launch_.arguments.size() && origin < 0; ++a)
      if (const exec::ViewInfo* view = memory.view(static_cast<int32_t>(a)); view && address >= view->low && address < view->high)
        origin = static_cast<int32_t>(a);
  }
  if (origin < 0) {
    ++unknown;
    return;
  }
  const exec::ViewInfo& view = *memory.view(origin);
  const int64_t behind = address - view.address, size = std::max<int64_t>(view.elementBytes, 1);
  const int64_t offset = behind / size - (behind % size < 0);
  if (machine.context().mayChange.size() > view.storage && machine.context().mayChange[view.storage]) {
    const Opcode op = instrOf(event).op;  // of atomic operations, the result need not be what is asked about
    bool compares = op == Opcode::Load || op == Opcode::AtomicLoad || op == Opcode::ViewLoad || op == Opcode::ViewGather;
    if (const auto writer = writeTo(machine, address, event)) {
      needWritten(machine, *writer);
      if (!writer->atomic) return;
      compares = false;  // the program's own part is in what was read
    }
    foreign.push_back({address, bytes, origin, offset, event, element, compares});
    return;
  }
  read[origin].push_back(offset);
}

void Backwards::begin(Machine& machine, const Start& start) {
  const Instr& first = *events_[start.event].instr;
  if (start.operand) {
    needWritten(machine, start);
    if (!start.atomic) return;
    // It changed what was there.
    const Cells cells = cellsOf(*plan, first, kept_[events_[start.event].kept - 1]);
    const auto at = static_cast<size_t>(std::min<int64_t>(start.element, static_cast<int64_t>(cells.address.size()) - 1));
    cell(machine, cells.address[at], cells.origin[at], start.event, start.element, cells.elementBytes);
    return;
  }
  auto& results = needed_[start.event].results;
  results.resize(first.outCount);
  results[start.number] = ElementSet(resultShape(*plan, first, start.number)->numel);
  results[start.number].add(start.element);
}

void Backwards::follow(Machine& machine) {
  static const Deciding none;
  while (!needed_.empty()) {
    auto last = std::prev(needed_.end());
    const uint32_t event = last->first;
    Needed wanted = std::move(last->second);
    needed_.erase(last);
    const Event& e = events_[event];
    const Instr& instr = *e.instr;
    needBranch(e.branch);
    if (wanted.decides) needAll(machine, event, instr.op == Opcode::BranchIfNot);
    if (const auto ended = endOf_.find(event); ended != endOf_.end()) needBranch(ended->second + 1);
    for (unsigned r = 0; r < wanted.results.size(); ++r) {
      if (wanted.results[r].empty()) continue;
      if (instr.op == Opcode::Mark) {
        need(machine, event, r, wanted.results[r]);
        continue;
      }
      if (instr.op == Opcode::LoopBegin) needAll(machine, event, false);
      if (isAccess(instr)) readMemory(machine, event, wanted.results[r]);
      std::vector<ElementSet> operands;
      for (unsigned i = 0; i < instr.inCount; ++i) {
        const exec::Shape* shape = operandShape(*plan, instr, i);
        operands.emplace_back(shape ? shape->numel : 0);
      }
      dependences(*plan, instr, r, wanted.results[r], e.kept ? kept_[e.kept - 1] : none, operands);
      for (unsigned i = 0; i < operands.size(); ++i) need(machine, event, i, operands[i]);
      used.push_back({event, r, std::move(wanted.results[r])});
    }
  }
}

}  // namespace tilesight::trace
