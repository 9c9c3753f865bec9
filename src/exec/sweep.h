// Programs one after another along an axis of the grid. From one to the next, most addresses and masks move by a step
// or stay: these are worked out for the first and the last program of a stretch, and their operations are not executed
// in between. What is exact and inside at both ends is so everywhere, as it is linear in the program's number. The same
// for the trips of a loop, where pointers that a trip leaves to the next one move by a step, too. What stands in a loop
// that makes one trip in every program is swept with the programs.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/memory.h"
#include "exec/tile.h"
#include "plan/plan.h"
#include "tilesight/client.h"

namespace tilesight::exec {

class Machine;

class Sweep {
 public:
  enum class Known : uint8_t { No, Value, Access, Move };

  /// `machine` runs programs to their end, and nobody asks for values of what they read.
  explicit Sweep(const plan::Program& program);
  /// Of the trips of a loop instead of programs.
  Sweep(const plan::Program& program, const plan::Loop& loop);

  /// The machine is about to make the first trip of the loop. False if nothing is known of its trips.
  bool enter(Machine& machine, int64_t value, int64_t upper, int64_t step);
  /// Before trip `trip` of the loop that was entered. False if nothing is known of this one and those that follow.
  bool advance(Machine& machine, int64_t trip);
  /// After `trip` trips: the machine goes on without the sweep.
  void leave(Machine& machine, int64_t trip);
  /// Is the operand of the loop's Move carried on by the sweep?
  bool carries(uint32_t operand) const { return operand < carries_.size() && carries_[operand]; }

  /// Before program `linear` runs; the machine runs programs up to `end`, one after another, as far as it knows.
  void start(Machine& machine, int64_t linear, int64_t end);
  /// What is known of an instruction in this program.
  Known known(uint32_t pc) const { return known_[pc]; }
  /// Executes a load or store that is known.
  void access(Machine& machine, const plan::Instr& instr, uint32_t pc);
  /// See Machine::storedAt.
  uint8_t* storedAt(Machine& machine, uint32_t pc, int64_t bytes);

 private:
  /// An instruction that may be known, and what it gave for the last program.
  struct Candidate {
    uint32_t pc = 0, slot = 0;
    bool failed = false;
    bool given = false;  // no instruction: what a loop carries, or its variable
    Tile last;
  };
  struct Moving {
    uint32_t slot;
    int64_t base, step;
  };
  struct Access {
    Resolved resolved;
    int64_t base = 0, step = 0;   // addresses of the first program, and bytes to the next
    bool flat = false;            // all elements are active and lie side by side
    uint8_t* host = nullptr;      // flat: where they are for the first program
    int64_t at = 0, bytes = 0;    // flat: their offset in the storage then, and size
    ElementKind kind = ElementKind::Invalid;
    ts_access told{};
  };

  void reserve();
  void gather(Machine& machine);
  /// Is program `linear` of the stretch that was looked at last?
  bool covers(int64_t linear) const { return linear >= from_ && linear < to_; }
  /// Looks at the programs from `linear` on.
  void lookAhead(Machine& machine, int64_t linear, int64_t end);
  void tryStretch(Machine& machine, int64_t from, int64_t last);
  void tryTrips(Machine& machine, int64_t last, int64_t step);
  void probe(Machine& machine);
  void settleAll(Machine& machine, int64_t steps);
  bool settle(Machine& machine, Candidate& candidate, int64_t steps);
  bool stepOf(Machine& machine, const plan::Instr& instr, int64_t* step) const;
  void prepare(Machine& machine, uint32_t pc);
  const Tile& lastOf(Machine& machine, uint32_t slot) const;

  const plan::Program& program_;
  const plan::Loop* loop_ = nullptr;
  bool gathered_ = false;
  std::vector<uint32_t> oneTrips_;      // LoopBegins of loops that make one trip in every program, by pc
  std::vector<Candidate> candidates_;
  std::vector<uint32_t> accesses_;      // loads and stores whose address may be known, by pc
  std::vector<int32_t> candidateOf_;    // by slot; -1: none
  std::vector<int64_t> step_;           // by slot, of what is known
  std::vector<bool> moves_;             // by slot: a candidate of which nothing is known
  std::vector<Known> known_;            // by pc
  std::vector<uint32_t> accessOf_;      // by pc: index in prepared_
  std::vector<Moving> moving_;
  std::vector<Moving> carried_;         // of a loop
  std::vector<bool> carries_;           // by operand of its Move
  int fruitless_ = 0;                   // times that a loop was entered in vain
  std::vector<Access> prepared_;
  bool maskFailed_ = false;
  bool useful_ = false;          // something is known of these programs
  int axis_ = 0;
  int64_t from_ = 0, to_ = 0;    // programs of which something is known
  int64_t again_ = 0;            // the first program to try again
  int64_t offset_ = 0;           // of the current program in the stretch
};

}  // namespace tilesight::exec
