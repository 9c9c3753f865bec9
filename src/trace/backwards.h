// One program, executed under observation, and followed backwards from values that it made: who made what they were made
// of, and which branches decided that it was made.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/observer.h"
#include "launch/launch.h"
#include "trace/control.h"
#include "trace/dependence.h"

namespace tilesight::trace {

/// More instructions of one program are not followed.
inline constexpr size_t kMostEvents = 20'000'000;

class Backwards : public exec::Observer {
 public:
  /// A value to start from: a result, or what a store writes.
  struct Start {
    uint32_t event = 0;      // which instruction of those that the program executes, from 0
    unsigned number = 0;     // result, or operand
    bool operand = false;
    int64_t element = 0;
    bool atomic = false;     // of a store: what was in memory has its part in it
  };
  /// Elements of a result of an event that mattered.
  struct Used {
    uint32_t event = 0;
    unsigned result = 0;
    ElementSet elements;
  };
  /// A read of memory that the launch may write, which the program itself had not written (or not alone).
  struct Foreign {
    int64_t address = 0;     // virtual
    uint32_t bytes = 0;
    int32_t argument = 0;    // in Launch::arguments
    int64_t offset = 0;      // in elements of it
    uint32_t event = 0;
    int64_t element = 0;     // of the event's result
    bool compares = false;   // the result is what was read: what is followed must have written the same
  };
  /// Called when the program has ended: where to begin; none: nowhere.
  using FindStarts = std::function<std::vector<Start>(Backwards&, exec::Machine&)>;

  Backwards(const launch::Launch& launch, FindStarts findStarts) : launch_(launch), findStarts_(std::move(findStarts)) {}

  void before(exec::Machine& machine, const exec::Instr& instr) override;
  void after(exec::Machine& machine, const exec::Instr& instr) override;
  void finished(exec::Machine& machine) override;

  /// For FindStarts: the last write to an address before event `from`.
  std::optional<Start> writeTo(exec::Machine& machine, int64_t address, uint32_t from = UINT32_MAX);
  /// The bits that a start writes, where they are kept (plain stores).
  std::optional<int64_t> bitsOf(const Start& start) const;
  const exec::Instr& instrOf(uint32_t event) const { return *events_[event].instr; }
  size_t events() const { return events_.size(); }

  bool tooLong = false;
  const exec::CompiledPlan* plan = nullptr;
  std::vector<Start> starts;
  std::vector<Used> used;        // latest first
  std::set<std::pair<uint32_t, unsigned>> conditions;  // events and results that branches asked for
  std::map<int32_t, std::vector<int64_t>> read;        // argument -> offsets in elements, of what the launch found
  std::vector<Foreign> foreign;
  std::set<std::string> scalars;
  int64_t unknown = 0;           // elements of memory that is no tensor

 private:
  // Who made an operand: the event and which of its results; none: it was there before (constants, parameters).
  struct Maker {
    uint32_t event = UINT32_MAX;
    uint32_t result = 0;
  };
  struct Event {
    const exec::Instr* instr = nullptr;
    uint32_t makers = 0;     // of its operands, from here on
    uint32_t kept = 0;       // index in kept_ + 1, or 0
    uint32_t branch = 0;     // the event + 1 that decided that it is executed, or 0
  };
  struct OpenBranch {
    uint32_t event = 0, meets = 0;
  };
  struct Cell {
    std::unordered_map<int64_t, int64_t> elements;  // address -> element of the tile
    int value = -1;
    bool atomic = false;
  };
  // What is needed of an event.
  struct Needed {
    std::vector<ElementSet> results;
    bool decides = false;    // a branch: what it decided
  };

  void observeBranch(const exec::Instr& instr, uint32_t event);
  void keep(exec::Machine& machine, const exec::Instr& instr, Event& event);
  const Cell& writtenBy(exec::Machine& machine, uint32_t event);
  void needBranch(uint32_t branch);
  void need(exec::Machine& machine, uint32_t event, unsigned operand, const ElementSet& elements, bool condition = false);
  void needAll(exec::Machine& machine, uint32_t event, bool condition);
  void needWritten(exec::Machine& machine, const Start& start);
  void parameter(exec::Machine& machine, uint32_t slot);
  void readMemory(exec::Machine& machine, uint32_t event, const ElementSet& want);
  void cell(exec::Machine& machine, int64_t address, int32_t origin, uint32_t event, int64_t element, uint32_t bytes);
  void begin(exec::Machine& machine, const Start& start);
  void follow(exec::Machine& machine);

  const launch::Launch& launch_;
  FindStarts findStarts_;
  std::vector<uint32_t> meets_;
  std::vector<OpenBranch> open_;
  std::unordered_map<const ir::Operation*, uint32_t> endedBy_;       // loop -> the branch that ended it last
  std::unordered_map<uint32_t, uint32_t> endOf_;                     // event of a loop's results -> that branch
  std::vector<Maker> makerOfSlot_, makers_;
  std::vector<Event> events_;
  std::vector<Deciding> kept_;
  std::vector<uint32_t> accesses_;
  std::unordered_map<uint32_t, Cell> cells_;
  std::map<uint32_t, Needed> needed_;
};

}  // namespace tilesight::trace
