// One thread's executor: runs programs of a launch one after another on its own slots and buffers,
// and tells the clients what they do.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "exec/collector.h"
#include "exec/footprint.h"
#include "exec/kernel.h"
#include "exec/memory.h"
#include "exec/tile.h"
#include "launch/launch.h"
#include "plan/plan.h"
#include "tilesight/client.h"

namespace tilesight::exec {

using plan::Instr;
using plan::Opcode;

struct LoopRecord {
  const Instr* loop = nullptr;
  int64_t value = 0, upper = 0, step = 0, trip = 0;
  bool isWhile = false, isUnsigned = false;
};

/// What made elements of a tile meaningless.
struct Cause {
  enum class Kind : uint8_t { Fault, DivisionByZero, InvalidShift, InvalidIndex, InvalidConversion } kind;
  const Instr* instr = nullptr;
  // The place of the first time it happened, for kinds that become a finding at a sink.
  std::array<int64_t, 3> program{};
  std::vector<findings::Iteration> iterations;
};

/// One client's state for a range of programs.
struct ClientState {
  const ts_client* table = nullptr;
  void* state = nullptr;
};

/// What all machines of a launch share, read-only while programs run.
struct LaunchContext {
  const Kernel* kernel = nullptr;
  const CompiledPlan* plan = nullptr;
  const launch::Launch* launch = nullptr;
  const LaunchMemory* memory = nullptr;
  std::vector<int32_t> argumentOfParameter;  // entry parameter -> Launch::arguments index
  bool addressOnly = false;
  uint64_t iterationLimit = 0;  // loop iterations a program may take; 0: any number
  bool needAccess = false, needCompute = false, needPrograms = false, needLoops = false;
};

class Machine {
 public:
  Machine(const LaunchContext& context, std::vector<ClientState> clients, Footprint* footprint);

  /// Runs program number `linear` (x fastest). False if the launch must stop (unsupported operation).
  bool runProgram(int64_t linear);
  Collector& collector() { return collector_; }

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

  void jump(uint32_t target) { pc_ = target; }
  bool goesBack(const Instr& instr) const { return instr.target < pc_; }
  void enterLoop(LoopRecord record) { loops_.push_back(record); }
  LoopRecord& loop() { return loops_.back(); }
  void leaveLoop() { loops_.pop_back(); }
  void loopIteration(const Instr& instr);
  void finish() { running_ = false; }
  /// Counts a loop iteration; false if the program has used up its number and the launch stops.
  bool spendIteration(const Instr& instr);
  /// Ends the launch: something cannot be executed.
  void stop(const Instr& instr, const std::string& reason);
  /// Ends the launch with the standard reason for an operation without a kernel for its type.
  void noKernel(const Instr& instr);
  /// Runs a combine region whose argument slots are set.
  void runRegion(const plan::RegionCode& region);
  bool stopped() const { return stopped_; }

  /// Tells the clients about an access; faults become findings through them.
  void access(const Instr& instr, ts_access_kind kind, const Resolved& access);
  void compute(const Instr& instr, bool dot, ElementKind kind, int64_t m, int64_t n, int64_t k);

  // -- taint (taint.cpp) ----------------------------------------------------------------------------

  bool tainting() const { return tainting_; }
  uint32_t cause(Cause::Kind kind, const Instr& instr);
  void taintSlot(uint32_t slot, Tile mask, uint32_t cause);
  void propagate(const Instr& instr);
  /// A tainted value reached something that matters: a stored value, an address, a mask, a branch.
  /// `where` says what, `active` limits it (null: all elements).
  void sink(const Instr& instr, const Tile& value, const Tile* active, const char* where);

  std::vector<findings::Iteration> iterations();

 private:
  void execute(uint32_t from);
  void sinkCause(const Instr& instr, const Cause& cause, const Tile& hit, int64_t count, const char* where);

  const LaunchContext& context_;
  const std::vector<uint32_t>& operands_;
  BufferPool pool_;  // before slots_: tiles return their buffers to it
  std::vector<Tile> slots_;
  const Tile nothing_{};
  std::vector<LoopRecord> loops_;
  std::vector<Cause> causes_;
  std::vector<ClientState> clients_;
  Footprint* footprint_;
  Collector collector_;
  ts_program program_{};
  uint32_t pc_ = 0;
  uint64_t spent_ = 0;  // loop iterations of the current program
  bool running_ = false, stopped_ = false, tainting_ = false;
};

/// The handler of an opcode; may be null for opcodes that never reach the machine.
using Handler = void (*)(Machine&, const Instr&);
#define OP(name) void exec##name(Machine&, const Instr&);
#include "plan/opcodes.def"
#undef OP

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
};

}  // namespace tilesight::exec
