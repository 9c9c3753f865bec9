// All programs of one launch: in order, in ranges side by side (ranges.cpp), or resident together
// where they may wait for each other (residents.cpp). The result is the same for any number of threads.
#pragma once

#include <vector>

#include "exec/collector.h"
#include "exec/kernel.h"
#include "exec/machine.h"

namespace tilesight::exec {

class Execution {
 public:
  /// `alwaysDivide`, `ranges`: see RunOptions.
  Execution(const Kernel& kernel, const LaunchContext& context, std::vector<ClientInstance> clients, unsigned threads,
            bool alwaysDivide = false, size_t ranges = 0)
      : kernel_(kernel), context_(context), clients_(std::move(clients)), threads_(threads), alwaysDivide_(alwaysDivide), ranges_(ranges) {}

  /// Runs programs 0 .. programs - 1 (x fastest).
  void run(int64_t programs);
  /// Runs these programs, each alone, on what they read before; memory stays as it is.
  void replay(const ReadsOfPrograms& programs);
  Collector& collector() { return collector_; }

 private:
  friend class Residents;

  /// Must programs run in turns: may what one does depend on when others run?
  bool inTurns() const;
  /// One after another; ranges of a parallel launch are repaired this way.
  void runInOrder(int64_t first, int64_t programs);
  /// Contiguous ranges at the same time, undone and run in order if one touched what another wrote.
  void runRanges(int64_t first, int64_t programs, size_t count);

  std::vector<ClientState> fork();
  /// What programs leave behind, in their order: findings, what they printed, clients' states.
  void take(Collector& collector, std::vector<ClientState>& states);
  void drop(std::vector<ClientState>& states);

  const Kernel& kernel_;
  const LaunchContext& context_;
  std::vector<ClientInstance> clients_;
  unsigned threads_;
  bool alwaysDivide_;
  size_t ranges_;
  Collector collector_;
};

}  // namespace tilesight::exec
