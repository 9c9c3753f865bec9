#include "exec/machine.h"

#include <cstring>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/observer.h"
#include "exec/report.h"
#include "exec/rmw.h"
#include "exec/stopper.h"

namespace tilesight::exec {

namespace {

constexpr Handler kHandlers[] = {
#define OP(name) exec##name,
#include "plan/opcodes.def"
#undef OP
};

constexpr uint64_t kSpeculativeIterations = 5'000'000;  // of one program, a second or so

// What a tile that is kept takes of memory.
size_t held(const Tile& tile) {
  return tile.buffer.held() + tile.axisBuffers[0].held() + tile.axisBuffers[1].held() + tile.origins.held();
}

}  // namespace

Machine::Machine(const LaunchContext& context, std::vector<ClientState> clients, Footprint* footprint,
                 Turns* turns)
    : context_(context),
      operands_(context.plan->program.operands),
      strips_(context.plan->program),
      sweep_(context.plan->program),
      clients_(std::move(clients)),
      footprint_(footprint),
      turns_(turns) {
  slots_.resize(context.plan->program.slots.size());
  const auto& parameters = context.plan->program.parameters;
  for (size_t i = 0; i < parameters.size(); ++i)
    slots_[parameters[i]] = parameterTile(context, i);
  program_.size = sizeof(ts_program);
  sweeps_ = !turns && !context.keepsReads && !context.needValues;
  for (const Instr& instr : context.plan->program.prologue) {
    kHandlers[static_cast<size_t>(instr.op)](*this, instr);
    if (tainting_) propagate(instr);
    if (stopped_) return;
  }
}

Progress Machine::start(int64_t linear) {
  if (stopped_ || mustStop(nullptr)) return Progress::Stopped;
  standAt(linear);
  if (sweeps_ && !tainting_ && !replayed_) sweep_.start(*this, linear, end_);
  loops_.clear();
  trips_ = nullptr;
  spent_ = 0;
  clocks_ = 0;
  reads_.clear();
  recalled_ = 0;
  foundBefore_ = collector_.found();
  if (context_.needPrograms)
    for (const ClientState& c : clients_)
      if (c.table->program_begin) c.table->program_begin(c.state, &program_);
  pc_ = 0;
  return execute();
}

void Machine::standAt(int64_t linear) {
  const auto& grid = context_.launch->grid;
  program_.linear = linear;
  if (linear < grid[0]) {
    program_.id[0] = linear;
    program_.id[1] = program_.id[2] = 0;
    return;
  }
  program_.id[0] = linear % grid[0];
  program_.id[1] = linear / grid[0] % grid[1];
  program_.id[2] = linear / (grid[0] * grid[1]);
}

Progress Machine::resume() {
  if (stopped_) return Progress::Stopped;
  return execute();
}

Progress Machine::execute() {
  running_ = true;
  itsTurn_ = std::exchange(waiting_, false) && wait_.ready;
  const Instr* code = context_.plan->program.code.data();
  if (context_.observer) executeObserved(*context_.observer);
  while (running_) {
    const Instr& instr = code[pc_];
    if (!tainting_) {
      if (instr.group && strips_.run(*this, instr.group - 1)) {
        pc_ = context_.plan->program.groups[instr.group - 1].end;
        continue;
      }
      Sweep* sweep = trips_ && trips_->known(pc_) != Sweep::Known::No ? trips_ : &sweep_;
      if (const Sweep::Known known = sweep->known(pc_); known != Sweep::Known::No) {
        ++pc_;
        if (known == Sweep::Known::Access) sweep->access(*this, instr, pc_ - 1);
        else if (known == Sweep::Known::Move) move(instr, sweep);
        continue;
      }
    }
    ++pc_;
    kHandlers[static_cast<size_t>(instr.op)](*this, instr);
    if (tainting_) propagate(instr);
  }
  if (context_.keepsAllReads || (context_.keepsReads && collector_.found() > foundBefore_)) collector_.keepReads(program_.linear, reads_);
  if (waiting_) return Progress::Waiting;
  if (context_.needPrograms)
    for (const ClientState& c : clients_)
      if (c.table->program_end) c.table->program_end(c.state, &program_);
  return stopped_ ? Progress::Stopped : Progress::Done;
}

void Machine::executeObserved(Observer& observer) {
  const Instr* code = context_.plan->program.code.data();
  while (running_) {
    const Instr& instr = code[pc_++];
    observer.before(*this, instr);
    if (!running_) break;
    kHandlers[static_cast<size_t>(instr.op)](*this, instr);
    if (tainting_) propagate(instr);
    if (!waiting_) observer.after(*this, instr);
  }
  if (!waiting_) observer.finished(*this);
}

void Machine::sweepTrips(const Instr& instr) {
  if (!instr.loop || !sweeps_ || tainting_ || replayed_ || regions_ || context_.observer) return;
  if (loopSweeps_.empty()) loopSweeps_.resize(context_.plan->program.loops.size());
  std::unique_ptr<Sweep>& sweep = loopSweeps_[instr.loop - 1];
  if (!sweep) sweep = std::make_unique<Sweep>(context_.plan->program, context_.plan->program.loops[instr.loop - 1]);
  const LoopRecord& loop = loops_.back();
  if (sweep->enter(*this, loop.value, loop.upper, loop.step)) trips_ = sweep.get();
}

void Machine::nextTrip() {
  // Once an element is tainted, everything is executed, moves as well.
  if (trips_ && (tainting_ || !trips_->advance(*this, loops_.back().trip))) trips_ = nullptr;
}

void Machine::leaveLoop() {
  if (trips_ && !tainting_) trips_->leave(*this, loops_.back().trip + 1);
  trips_ = nullptr;
  loops_.pop_back();
}

void Machine::executeOne(const Instr& instr) { kHandlers[static_cast<size_t>(instr.op)](*this, instr); }

bool Machine::mustStop(const Instr* instr) {
  constexpr uint32_t kBetween = 8;
  if (!context_.stopper) return false;
  if (!context_.stopper->stopped()) {
    if (untilAsked_-- > 0) return false;
    untilAsked_ = kBetween;
    if (!context_.stopper->ask()) return false;
  }
  if (instr) context_.stopper->stoodAt(unknownAt(*this, *instr, context_.stopper->reason()));
  stopped_ = true;
  running_ = false;
  return true;
}

namespace {

// Do two tiles hold the same values? Only what costs nothing to compare.
bool sameSplat(const Tile& a, const Tile& b) {
  return a.form == b.form && (a.form == Form::Empty || (a.form == Form::Splat && a.base == b.base));
}

}  // namespace

bool Machine::spins(const Instr& instr) {
  if (!turns_ || !instr.flag) return false;
  Spin& spin = loop().spin;
  const bool same = spin.seen && spin.changes == turns_->changes;
  bool forever = same;
  for (unsigned i = 0; i < instr.inCount && forever; ++i) forever = sameSplat(spin.carried[i], in(instr, i));
  if (!same) spin = {true, turns_->changes, 0, std::vector<Tile>(instr.inCount)};
  for (unsigned i = 0; i < instr.inCount; ++i) spin.carried[i] = in(instr, i).form == Form::Splat ? in(instr, i) : Tile{};
  if (!forever && ++spin.turns < kSpinTurns) return false;
  spin.turns = 0;
  pause(instr, forever);
  return true;
}

void Machine::pause(const Instr& instr, bool forever) {
  wait_.instr = &instr;
  wait_.forever = forever;
  wait_.timed = wait_.ready = false;
  waiting_ = true;
  running_ = false;
}

bool Machine::block(const Instr& instr, bool timed) {
  if (!turns_ || regions_) return false;
  --pc_;
  pause(instr, true);
  wait_.timed = timed;
  return true;
}

bool Machine::givesWay(const Instr& instr) {
  if (!turns_ || !turns_->seed || regions_ || std::exchange(itsTurn_, false) || turns_->draw(2)) return false;
  --pc_;
  pause(instr, false);
  wait_.ready = true;
  return true;
}

bool Machine::holds(size_t bytes) {
  if (footprint_->hold(bytes)) return true;
  giveUp();
  return false;
}

void Machine::update(plan::RmwKind kind, ElementKind element, const Resolved& access, const Tile& value) {
  if (!footprint_) {
    auto start = std::chrono::steady_clock::now();
    updateCells(*this, kind, element, access, value, nullptr);
    updating_ += std::chrono::steady_clock::now() - start;
    return;
  }
  footprint_->update(*context_.memory, access);
  if (!holds(sizeof(Update) + held(access.address) + held(access.mask) + held(value))) return;
  updates_.push_back({kind, element, access, value});
  for (Tile* tile : {&updates_.back().access.address, &updates_.back().access.mask, &updates_.back().value}) tile->taint.reset();
}

void Machine::makeUpdates() {
  for (const Update& u : updates_) updateCells(*this, u.kind, u.element, u.access, u.value, nullptr);
  updates_.clear();
}

bool Machine::mayChange(const Resolved& access) const {
  if (!access.storage) return context_.readsChange;  // in several storages, or partly in none
  return context_.mayChange[access.storage - context_.memory->storages().data()];
}

Tile Machine::load(const Resolved& access, ElementKind kind, const Tile* other, bool readOnce) {
  if (replayed_ && mayChange(access)) return recall(kind, access.address.shape);
  Tile value = context_.memory->load(pool_, access, kind, other, readOnce);
  if (context_.keepsReads && mayChange(access)) keep(value);
  return value;
}

void Machine::store(const Resolved& access, const Tile& value) {
  if (!replayed_) context_.memory->store(pool_, access, value);
  else if (context_.observer) context_.observer->stored(*this, access, value);
}

void Machine::keep(const Tile& value) {
  if (!context_.keepsReads) return;
  Tile dense = contiguous(pool_, value);
  reads_.push_back({value.kind, {dense.data(), dense.data() + dense.numel() * dense.elementBytes()}});
}

Tile Machine::recall(ElementKind kind, const Shape* shape) {
  const size_t bytes = static_cast<size_t>(shape->numel) * ir::elementBytes(kind);
  if (recalled_ == replayed_->size() || (*replayed_)[recalled_].kind != kind || (*replayed_)[recalled_].bytes.size() != bytes) {
    giveUp();  // it got no further, or goes another way
    return splatTile(kind, 0, shape);
  }
  const std::vector<uint8_t>& value = (*replayed_)[recalled_++].bytes;
  if (shape->numel == 1) {
    int64_t bits = 0;
    std::memcpy(&bits, value.data(), bytes);
    return splatTile(kind, bits, shape);
  }
  Tile result = denseTile(pool_, kind, shape);
  std::memcpy(denseData(result), value.data(), bytes);
  return result;
}

void Machine::print(std::string text) {
  if (replayed_ || context_.silent) return;
  if (footprint_ && holds(text.size())) return collector_.print(std::move(text));
  if (footprint_) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// A range that runs beside others cannot go on, and the launch is done in order; or a replay cannot.
void Machine::giveUp() {
  stopped_ = true;
  running_ = false;
}

void Machine::runRegion(const plan::RegionCode& region) {
  const Instr* code = context_.plan->program.code.data();
  ++regions_;
  if (!region.straight) {  // it has branches of its own
    uint32_t saved = pc_;
    pc_ = region.begin;
    while (running_ && pc_ < region.end) {
      const Instr& instr = code[pc_++];
      kHandlers[static_cast<size_t>(instr.op)](*this, instr);
      if (tainting_) propagate(instr);
    }
    pc_ = saved;
    --regions_;
    return;
  }
  for (uint32_t at = region.begin; at < region.end && !stopped_; ++at) {
    kHandlers[static_cast<size_t>(code[at].op)](*this, code[at]);
    if (tainting_) propagate(code[at]);
  }
  --regions_;
}

bool Machine::spendIteration(const Instr& instr) {
  ++spent_;
  if (mustStop(&instr)) return false;
  if (footprint_ && spent_ > kSpeculativeIterations) {
    giveUp();  // it may have read a bound that is not there yet
    return false;
  }
  if (!context_.iterationLimit || spent_ <= context_.iterationLimit) return true;
  stop(instr, fmt::format("a program took more than {} loop iterations", context_.iterationLimit));
  return false;
}

void Machine::stop(const Instr& instr, const std::string& reason) {
  collector_.addUnknown(unknownAt(*this, instr, reason));
  stopped_ = true;
  running_ = false;
}

void Machine::noKernel(const Instr& instr) {
  const ir::Operation* source = context_.kernel->operation(instr.source->number);
  std::string name = source ? source->name : instr.source->name;
  std::string type = instr.outCount && instr.source->results.size() ? instr.source->results[0]->type.str()
                     : instr.source->operands.empty()               ? std::string()
                                                                    : instr.source->operands[0]->type.str();
  stop(instr, fmt::format("{} on {} cannot be executed yet", name, type));
}

void Machine::loopIteration(const Instr& instr) {
  if (!context_.needLoops) return;
  ts_iteration iteration{};
  iteration.size = sizeof iteration;
  iteration.op = instr.source->number;
  iteration.value = loops_.back().isWhile ? loops_.back().trip : loops_.back().value;
  iteration.trip = loops_.back().trip;
  iteration.program = &program_;
  for (const ClientState& c : clients_)
    if (c.table->loop_iteration) c.table->loop_iteration(c.state, &iteration);
}

std::vector<findings::Iteration> Machine::iterations() {
  std::vector<findings::Iteration> result;
  for (const LoopRecord& loop : loops_) {
    findings::Iteration iteration;
    bool downwards = false;
    if (!loop.isWhile) iteration.name = loopName(*this, *loop.loop, &downwards);
    iteration.value = loop.isWhile ? loop.trip : loop.value;
    if (downwards) iteration.value = loop.upper - loop.value + (loop.value - loop.trip * loop.step);
    iteration.trip = loop.trip;
    result.push_back(std::move(iteration));
  }
  return result;
}

namespace {

bool isAtomic(Opcode op) {
  return op == Opcode::AtomicRmw || op == Opcode::AtomicCas || op == Opcode::AtomicLoad || op == Opcode::AtomicStore ||
         op == Opcode::AtomicPoll || op == Opcode::ViewReduce;
}

}  // namespace

void Machine::access(const Instr& instr, ts_access_kind kind, const Resolved& resolved, const AccessValues& values) {
  if (turns_) {
    if (kind == TS_STORE) changed();  // atomics say so themselves, if they changed something
    looksAt(resolved);
  }
  if (resolved.faults == 0 && !context_.needAccess) return;
  ts_access access = described(instr, kind, resolved);
  tell(instr, access, resolved, values);
}

ts_access Machine::described(const Instr& instr, ts_access_kind kind, const Resolved& resolved) const {
  ts_access access{};
  access.size = sizeof access;
  access.op = instr.source->number;
  access.kind = kind;
  access.faults = resolved.faults;
  access.argument = resolved.view ? static_cast<int32_t>(resolved.view->argument)
                    : resolved.address.origin >= 0 ? resolved.address.origin
                                                   : -1;
  access.element_bytes = resolved.elementBytes;
  const Tile& address = resolved.address;
  access.rank = static_cast<uint32_t>(address.rank());
  access.shape = address.shape->dims.data();
  access.form = address.form == Form::Splat       ? TS_FORM_SPLAT
                : address.form == Form::Affine    ? TS_FORM_AFFINE
                : address.form == Form::Separable ? TS_FORM_SEPARABLE
                                                  : TS_FORM_DENSE;
  access.base = address.form == Form::Dense ? 0 : address.base;
  access.strides = address.stride.data();
  access.axis = reinterpret_cast<const int64_t* const*>(address.axis.data());
  const Tile& mask = resolved.mask;
  bool anyAxis = false;
  if (mask.form == Form::Box)
    for (const void* axis : mask.axis) anyAxis = anyAxis || axis;
  access.mask.form = mask.isSplat()            ? TS_FORM_SPLAT
                     : mask.form != Form::Box ? TS_FORM_DENSE
                     : anyAxis                ? TS_FORM_SEPARABLE
                                              : TS_FORM_AFFINE;
  access.mask.all = mask.isSplat() && mask.base;
  access.mask.lo = mask.stride.data();
  access.mask.hi = mask.hi.data();
  access.mask.axis = reinterpret_cast<const uint8_t* const*>(mask.axis.data());
  access.elements = address.numel();
  access.active = resolved.active;
  access.program = &program_;
  access.element = static_cast<uint32_t>(pointeeKind(instr.source->operands[0]->type));
  if (isAtomic(instr.op)) {
    plan::Order order = plan::orderOf(*instr.source);
    access.sem = order.sem;
    access.scope = order.scope;
  }
  return access;
}

void Machine::tell(const Instr& instr, ts_access& access, const Resolved& resolved, const AccessValues& values) {
  if (resolved.faults == 0 && !context_.needAccess) return;
  AccessCore core{this, &instr, &resolved, &access, nullptr, &values};
  const auto kind = static_cast<ts_access_kind>(access.kind);
  access.core = &core;
  for (const ClientState& c : clients_) {
    auto hook = kind == TS_LOAD    ? c.table->on_load
                : kind == TS_STORE ? c.table->on_store
                : kind == TS_COPY  ? c.table->on_copy
                                   : c.table->on_atomic;
    if (!hook) continue;
    core.client = c.table->name;
    hook(c.state, &access);
  }
  access.core = nullptr;
}

bool Machine::announce(const Instr& instr) {
  if (!context_.needCompute) return instr.valueNeeded;
  const plan::Extents extents = context_.plan->extents[static_cast<size_t>(&instr - context_.plan->program.code.data())];
  ts_compute compute{};
  compute.size = sizeof compute;
  compute.op = instr.source->number;
  compute.element = static_cast<uint32_t>(outKind(instr));
  compute.m = extents.m;
  compute.n = extents.n;
  compute.k = extents.k;
  compute.program = &program_;
  AccessCore core{this, &instr, nullptr, nullptr, nullptr, nullptr};
  compute.core = &core;
  for (const ClientState& c : clients_) {
    auto hook = instr.op == Opcode::Dot || instr.op == Opcode::DotScaled ? c.table->on_dot : c.table->on_reduce;
    if (hook) hook(c.state, &compute);
  }
  return instr.valueNeeded;
}

}  // namespace tilesight::exec
