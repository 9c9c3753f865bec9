// Programs that run in turns, because they may wait for each other or ask memory who came first. A program
// that waits is data, put aside until memory changes. docs/rationale/residents.md says why.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "exec/execution.h"

namespace tilesight::exec {

class Residents {
 public:
  Residents(Execution& execution, int64_t programs);
  void run();

 private:
  /// A program that is in, or a contiguous range of them that ran on one machine, the last one still in.
  struct Resident {
    enum class State : uint8_t { Entered, Waiting, Done } state = State::Entered;
    int64_t program = 0;
    uint64_t seen = 0;  // changes of memory when it last looked
    std::vector<ClientState> states;
    std::unique_ptr<Machine> machine;  // null when all its programs are done
    Collector collector;               // what the machine left
  };
  using Where = std::deque<Resident>::iterator;

  bool room() const { return in_ < limit_ && next_ < programs_; }
  bool canGoOn(const Resident& r) const;
  /// Lets the next program in, behind the last one; it has not run yet.
  Resident& admit();
  /// Runs a program that is in until it ends or waits. False if it waits as before and memory is as it was.
  bool turn(Resident& r);
  /// One step of the default order: a new program if one may come in, else one turn for each that waits.
  bool nextInOrder();
  /// One step of the seeded order: a turn for one of those that can go on.
  bool nextBySeed();
  /// Hands on what programs left of which all before them have ended, too.
  void retire();
  /// All that are in wait, and nothing moves.
  void resolve();
  void admitOneMore();
  void reportDeadlock(Machine& machine);
  void reportTooFew();
  Where firstWaiting();

  Execution& execution_;
  const LaunchContext& context_;
  const int64_t programs_, stated_, allowed_;
  Turns turns_;
  std::deque<Resident> residents_;  // in the order of their programs
  int64_t next_ = 0;                // the first program that has not come in
  int64_t in_ = 0, limit_ = 1;      // programs that are in, and how many may be
  uint64_t fruitless_ = 0;          // turns of programs that count while they wait
  bool going_ = true;
  struct TooFew {
    FindingKey key;
    findings::Finding finding;
    std::string awaited;
    std::vector<int64_t> waiting;  // programs
  };
  std::optional<TooFew> tooFew_;  // told when it is known how many are needed
};

}  // namespace tilesight::exec
