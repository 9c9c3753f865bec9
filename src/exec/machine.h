// One thread's executor: runs programs of a launch one after another on its own slots and buffers,
// and tells the clients what they do.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "exec/collector.h"
#include "exec/footprint.h"
#include "exec/kernel.h"
#include "exec/memory.h"
#include "exec/reads.h"
#include "exec/strips.h"
#include "exec/sweep.h"
#include "exec/tile.h"
#include "launch/launch.h"
#include "plan/classify.h"
#include "plan/plan.h"
#include "tilesight/client.h"

namespace tilesight::exec {

using plan::Instr;
using plan::Opcode;

/// A `while` loop that may be waiting: what it was like after its last turn.
struct Spin {
  bool seen = false;                // a turn is over
  uint64_t changes = 0, turns = 0;  // of memory; turns since it changed
  std::vector<Tile> carried;
};

struct LoopRecord {
  const Instr* loop = nullptr;
  int64_t value = 0, upper = 0, step = 0, trip = 0;
  bool isWhile = false, isUnsigned = false;
  Spin spin;
};

/// What made elements of a tile meaningless.
struct Cause {
  enum class Kind : uint8_t { Fault, DivisionByZero, InvalidShift, InvalidIndex, InvalidConversion, Divisibility, Contiguity, Constancy } kind;
  const Instr* instr = nullptr;
  // The place of the first time it happened, for kinds that become a finding at a sink.
  std::array<int64_t, 3> program{};
  std::vector<findings::Iteration> iterations;
  std::string text;  // promises: what is wrong about the value
  bool scalar = false;  // promises: it is one value
  /// A promise to the compiler that the value breaks: the value itself is what the program meant.
  bool isPromise() const { return kind >= Kind::Divisibility; }
};

enum class Progress : uint8_t { Done, Waiting, Stopped };

/// How many times a program goes around a loop that reads memory, while memory stays as it is, before it
/// counts as waiting.
inline constexpr uint64_t kSpinTurns = 64;

/// What a program that waits stands at.
struct Wait {
  const Instr* instr = nullptr;   // the loop or the poll
  const ViewInfo* view = nullptr; // of the last cell it looked at, if that is known
  int64_t address = 0;            // virtual
  bool forever = false;  // while memory stays as it is, every turn is like the last one
  bool timed = false;    // a poll with a time limit
  bool ready = false;    // it only lets others go first
};

/// One client's state for a range of programs.
struct ClientState {
  const ts_client* table = nullptr;
  void* state = nullptr;
};

class Observer;
class Stopper;

/// Programs that run in turns: what their machines share.
struct Turns {
  uint64_t changes = 0;  // of memory
  uint64_t seed = 0;     // of the order of turns; 0: the order of program numbers
  uint64_t drawn = 0;

  /// The next number of the seeded sequence (splitmix64), below `limit`.
  uint64_t draw(uint64_t limit) {
    uint64_t z = (seed + ++drawn) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % limit;
  }
};

/// What an access moves, for clients that need values; null: not known, or not computed.
struct AccessValues {
  const Tile* value = nullptr;    // loaded, stored, or an atomic's operand
  const Tile* before = nullptr;   // atomics: what memory held
  const Tile* compared = nullptr; // compare-and-swap: what it was compared with
};

/// What all machines of a launch share, read-only while programs run.
struct LaunchContext {
  const Kernel* kernel = nullptr;
  const CompiledPlan* plan = nullptr;
  const launch::Launch* launch = nullptr;
  const LaunchMemory* memory = nullptr;
  std::vector<int32_t> argumentOfParameter;  // entry parameter -> Launch::arguments index
  Stopper* stopper = nullptr;  // may be null
  uint64_t iterationLimit = 0;  // loop iterations a program may take; 0: any number
  const char* promisesTo = nullptr;  // the client that is told of broken promises; null: none is checked
  std::vector<bool> mayChange;  // storages that the launch may write; filled in where reads are kept or replayed
  bool readsChange = false;     // programs may read what the launch writes
  bool keepsReads = false;      // what the witnesses of findings read is kept
  bool keepsAllReads = false;   // of all programs
  Observer* observer = nullptr; // may be null
  bool silent = false;          // what programs print is dropped
  bool needAccess = false, needValues = false, needCompute = false, needPrograms = false, needLoops = false;
};

class Machine {
 public:
  /// `footprint`: these programs run beside others. `turns`: they may wait for each other; null: they run
  /// one after another and never wait.
  Machine(const LaunchContext& context, std::vector<ClientState> clients, Footprint* footprint,
          Turns* turns = nullptr);

  /// Runs program number `linear` (x fastest). Stopped: the launch must end (unsupported operation).
  Progress start(int64_t linear);
  /// Goes on with a program that waits.
  Progress resume();
  /// The poll that it waits at has run out of time.
  void expire() { expired_ = true; }
  const Wait& wait() const { return wait_; }
  /// `start` of a program that cannot wait. False if the launch must stop.
  bool runProgram(int64_t linear) { return start(linear) == Progress::Done; }
  Collector& collector() { return collector_; }
  /// From here on, programs read what `reads` says instead of memory, and write nothing. It ends where that ends.
  void replay(const Reads& reads) { replayed_ = &reads; }

  // -- for the operation handlers ----------------------------------------------------------------

  /// Operand `i`; an empty tile if the plan does not compute it (what only an unused result needs).
  const Tile& in(const Instr& instr, unsigned i) const {
    uint32_t slot = operands_[instr.in + i];
    return slot == plan::kNoSlot ? nothing_ : slots_[slot];
  }
  Tile& slot(uint32_t number) { return slots_[number]; }
  uint32_t inSlot(const Instr& instr, unsigned i) const { return operands_[instr.in + i]; }
  uint32_t outSlot(const Instr& instr, unsigned i = 0) const { return operands_[instr.out + i]; }
  void set(const Instr& instr, Tile tile, unsigned i = 0) { slots_[operands_[instr.out + i]] = std::move(tile); }
  /// The same for one value for all elements; it costs less.
  void setSplat(const Instr& instr, ElementKind kind, int64_t bits, const Shape* shape) {
    Tile& tile = slots_[operands_[instr.out]];
    if (tile.form == Form::Splat && tile.kind == kind && tile.shape == shape && tile.origin == kOriginUnknown && !tile.taint)
      tile.base = normalizeBits(kind, bits);
    else tile = splatTile(kind, bits, shape);
  }
  const Shape* outShape(const Instr& instr, unsigned i = 0) const {
    return context_.plan->slotShapes[operands_[instr.out + i]];
  }
  ElementKind outKind(const Instr& instr, unsigned i = 0) const {
    return context_.plan->slotKinds[operands_[instr.out + i]];
  }
  BufferPool& pool() { return pool_; }
  const LaunchContext& context() const { return context_; }
  const ts_program& program() const { return program_; }
  const std::vector<LoopRecord>& loops() const { return loops_; }
  Footprint* footprint() { return footprint_; }

  /// Makes `linear` the current program.
  void standAt(int64_t linear);
  /// The machine runs programs up to `end`, one after another, unless it is told to stop.
  void runsUpTo(int64_t end) { end_ = end; }
  /// Does the current program's value of an operation need no execution?
  bool known(uint32_t pc) const {
    return (trips_ && trips_->known(pc) == Sweep::Known::Value) || sweep_.known(pc) == Sweep::Known::Value;
  }
  /// Where a store puts its `bytes` bytes, side by side, if that is known beforehand: they may be written there at any
  /// time before it is executed, which it still has to be. Null: not known.
  uint8_t* storedAt(uint32_t pc, int64_t bytes) {
    uint8_t* at = trips_ ? trips_->storedAt(*this, pc, bytes) : nullptr;
    return at ? at : sweep_.storedAt(*this, pc, bytes);
  }
  /// Executes one operation that changes nothing but its results.
  void executeOne(const Instr& instr);
  void jump(uint32_t target) { pc_ = target; }
  bool goesBack(const Instr& instr) const { return instr.target < pc_; }
  void enterLoop(LoopRecord record) { loops_.push_back(std::move(record)); }
  LoopRecord& loop() { return loops_.back(); }
  void leaveLoop();
  /// Before the first trip of a `for` loop that was entered, and before each of those that follow.
  void sweepTrips(const Instr& instr);
  void nextTrip();
  /// The results of a Move; null: all of them.
  void move(const Instr& instr, const Sweep* but);
  void loopIteration(const Instr& instr);
  void finish() { running_ = false; }
  /// Clocks of inline assembly count the times that the program has read one.
  uint64_t* clocks() { return &clocks_; }
  /// After memory changed.
  void changed() { if (turns_) ++turns_->changes; }
  /// The cell that a wait is about.
  void looksAt(const Resolved& access) {
    wait_.view = access.address.numel() == 1 ? access.view : nullptr;
    wait_.address = access.address.isSplat() ? access.address.base : 0;
  }
  /// A turn of a `while` loop that reads memory is over: should another program run first?
  bool spins(const Instr& instr);
  /// Before an atomic operation: lets other programs go first, if the seed says so. It is then executed again.
  bool givesWay(const Instr& instr);
  /// Puts the program aside until memory has changed; the loop's next turn comes then.
  void pause(const Instr& instr, bool forever);
  /// The same for an operation that waits: it is executed again. False if programs cannot wait here.
  bool block(const Instr& instr, bool timed);
  /// An update of memory whose result nobody uses: made now, or, beside other programs, when all have ended.
  void update(plan::RmwKind kind, ElementKind element, const Resolved& access, const Tile& value);
  /// What the updates that were made now took.
  std::chrono::nanoseconds updating() const { return updating_; }
  /// Makes the updates that were put off, in order.
  void makeUpdates();
  /// What the programs print: at once, or when all that run beside them have ended.
  void print(std::string text);
  bool expired() { return std::exchange(expired_, false); }
  // -- memory, or in a replay what was read before --

  Tile load(const Resolved& access, ElementKind kind, const Tile* other, bool readOnce = false);
  void store(const Resolved& access, const Tile& value);
  bool replays() const { return replayed_ != nullptr; }
  /// The next value that was read.
  Tile recall(ElementKind kind, const Shape* shape);
  /// A value was read, for a replay to come.
  void keep(const Tile& value);

  /// Counts a loop iteration; false if the program has used up its number and the launch stops.
  bool spendIteration(const Instr& instr);
  /// Ends the launch: something cannot be executed.
  void stop(const Instr& instr, const std::string& reason);
  /// Ends the launch with the standard reason for an operation without a kernel for its type.
  void noKernel(const Instr& instr);
  /// Runs a combine region whose argument slots are set.
  void runRegion(const plan::RegionCode& region);
  bool stopped() const { return stopped_; }

  /// What clients get to know of an access.
  ts_access described(const Instr& instr, ts_access_kind kind, const Resolved& access) const;
  /// Tells the clients about an access that is described.
  void tell(const Instr& instr, ts_access& described, const Resolved& access, const AccessValues& values);
  /// Tells the clients about an access; faults become findings through them.
  void access(const Instr& instr, ts_access_kind kind, const Resolved& access, const AccessValues& values = {});
  /// Tells the clients about a product or a reduction. False if that is all: its result is not needed.
  bool announce(const Instr& instr);

  // -- taint (taint.cpp) ----------------------------------------------------------------------------

  bool tainting() const { return tainting_; }
  uint32_t cause(Cause::Kind kind, const Instr& instr);
  Cause& causeAt(uint32_t number) { return causes_[number]; }
  /// Elements of a value that an earlier fault made meaningless, so that what comes of them is its
  /// consequence; null: there are none.
  const Tile* meaningless(const Tile& value) const {
    return value.taint && value.taint->faulty.form != Form::Empty ? &value.taint->faulty : nullptr;
  }
  /// Replaces the taint of a slot.
  void taintSlot(uint32_t slot, Tile mask, uint32_t cause);
  /// Adds the causes of a tile's taint, each once.
  static void gather(std::vector<uint32_t>& causes, const Tile& tile);
  /// Taints all elements of a slot with the first of `causes` that is a fault; promises end there.
  void taintWhole(uint32_t slot, const std::vector<uint32_t>& causes);
  void propagate(const Instr& instr);
  /// A tainted value reached something that matters: a stored value, an address, a mask, a branch.
  /// `where` says what, `active` limits it (null: all elements).
  void sink(const Instr& instr, const Tile& value, const Tile* active, const char* where);

  std::vector<findings::Iteration> iterations();

 private:
  bool mustStop(const Instr* instr);
  /// May what the access reads depend on when the program runs?
  bool mayChange(const Resolved& access) const;
  bool holds(size_t bytes);
  void giveUp();
  Progress execute();
  void executeObserved(Observer& observer);
  void sinkCause(const Instr& instr, const Cause& cause, const Tile& hit, int64_t count, const char* where);
  void sinkPromise(const Instr& instr, const Cause& cause, const Tile& value, const Tile& hit, int64_t count, const char* where);
  bool promisesEnd(const Instr& instr) const;
  Tile dependent(const Instr& instr, const Tile& result, Tile Taint::*which);
  void addCauses(Taint& taint, const std::vector<uint32_t>& causes) const;

  const LaunchContext& context_;
  const std::vector<uint32_t>& operands_;
  BufferPool pool_;  // before slots_: tiles return their buffers to it
  std::vector<Tile> slots_;
  const Tile nothing_{};
  Strips strips_;
  Sweep sweep_;
  std::vector<std::unique_ptr<Sweep>> loopSweeps_;  // by loop; null: never entered
  Sweep* trips_ = nullptr;  // of the loop that runs, if something is known of its trips
  bool sweeps_ = false;  // programs go one after another, to their end, and nobody asks for values
  int64_t end_ = 0;
  std::vector<LoopRecord> loops_;
  std::vector<Cause> causes_;
  std::vector<ClientState> clients_;
  Footprint* footprint_;
  Collector collector_;
  ts_program program_{};
  uint32_t pc_ = 0;
  uint64_t spent_ = 0;  // loop iterations of the current program
  uint64_t clocks_ = 0;  // how often it has read one
  Turns* turns_;
  struct Update {
    plan::RmwKind kind;
    ElementKind element;
    Resolved access;
    Tile value;
  };
  std::deque<Update> updates_;
  std::chrono::nanoseconds updating_{0};
  Wait wait_;
  Reads reads_;                      // of the current program, if they are kept
  size_t foundBefore_ = 0;           // findings before it
  const Reads* replayed_ = nullptr;
  size_t recalled_ = 0;              // of replayed_
  uint32_t untilAsked_ = 0;  // programs and iterations before the stopper is asked again
  int regions_ = 0;  // combine regions that are running
  bool waiting_ = false, expired_ = false, itsTurn_ = false;
  bool running_ = false, stopped_ = false, tainting_ = false;
};

/// The handler of an opcode; may be null for opcodes that never reach the machine.
using Handler = void (*)(Machine&, const Instr&);
#define OP(name) void exec##name(Machine&, const Instr&);
#include "plan/opcodes.def"
#undef OP

/// Could the compiler, trusting what is promised of an address or a mask, combine elements of this access into
/// wider pieces that are not what the program asks for? `hit`: the elements whose address breaks the promise;
/// `mask`: the mask that depends on it, or null.
bool widensWrongly(Machine& machine, const Instr& access, const Cause& cause, const Tile& hit, const Tile* mask);

/// Elements of a load or atomic that were outside mean nothing from here on.
void taintFaults(Machine& machine, const Instr& instr, const Resolved& access);

/// A value as it lies in memory: pointers are the program's own addresses there, so that another launch
/// understands them.
Tile storedForm(Machine& machine, const Tile& value, ElementKind kind);

/// What a client's hooks get as `core`.
struct AccessCore {
  Machine* machine;
  const Instr* instr;
  const Resolved* resolved;
  const ts_access* access;
  const char* client;  // the one whose hook runs
  const AccessValues* values;
};

}  // namespace tilesight::exec
