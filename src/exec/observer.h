// Looking at a program while it runs: every operation before and after it is done.
#pragma once

#include "exec/machine.h"

namespace tilesight::exec {

/// Tiles that an observer keeps live as long as the machine: what is to outlast the program is copied out of them in
/// finished(). Operations of combine regions are not shown, only the operation that has the region.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The operands are there (Machine::in). Machine::finish() ends the program here.
  virtual void before(Machine&, const Instr&) {}
  /// The results are there (Machine::slot of outSlot); of a Mark, what it marks (Machine::in).
  virtual void after(Machine&, const Instr&) {}
  /// A store that a replay does not make.
  virtual void stored(Machine&, const Resolved&, const Tile&) {}
  /// The program has ended, or stopped.
  virtual void finished(Machine&) {}
};

}  // namespace tilesight::exec
