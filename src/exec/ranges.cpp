// Ranges of programs side by side: each records what it read and wrote; where ranges meet, everything is
// undone and run in order. docs/rationale/parallel-ranges.md says why.
#include <atomic>
#include <memory>

#include "exec/execution.h"
#include "exec/footprint.h"
#include "exec/parameters.h"
#include "exec/stopper.h"
#include "exec/workers.h"

namespace tilesight::exec {

namespace {

// Storages whose old bytes must be kept so that ranges of programs can be undone. Where the kernel
// reads nothing that it writes, running again in order writes the same bytes and nothing needs
// undoing. Else a range may have read what another should not have written yet, and may have written
// anywhere because of it.
std::vector<bool> storagesToLog(const TouchedStorages& touched) {
  for (size_t s = 0; s < touched.read.size(); ++s)
    if (touched.read[s] && touched.written[s]) return touched.written;
  return std::vector<bool>(touched.read.size(), false);
}

struct ProgramRange {
  int64_t from, to;
  std::unique_ptr<Footprint> footprint;
  std::vector<ClientState> states;
  std::unique_ptr<Machine> machine;
  bool complete = true;
};

}  // namespace

void Execution::runRanges(int64_t first, int64_t programs, size_t count) {
  const TouchedStorages touched = touchedStorages(kernel_, *context_.launch, context_.argumentOfParameter);
  UndoLog undo(*context_.memory, storagesToLog(touched));
  std::vector<ProgramRange> ranges(count);
  for (size_t i = 0; i < count; ++i) {
    auto share = [&](size_t k) { return first + static_cast<int64_t>(static_cast<__int128>(programs - first) * k / count); };
    ranges[i].from = share(i);
    ranges[i].to = share(i + 1);
    ranges[i].states = fork();
  }
  HeldBytes held;
  std::atomic<bool> inVain{false};  // a range cannot go on: the others need not, either
  Workers::shared().run(threads_, count, [&](size_t i) {
    ProgramRange& range = ranges[i];
    range.footprint = std::make_unique<Footprint>(*context_.memory, touched.written, undo, held);
    range.machine = std::make_unique<Machine>(context_, range.states, range.footprint.get());
    range.machine->runsUpTo(range.to);
    for (int64_t p = range.from; p < range.to && range.complete && !inVain; ++p) range.complete = range.machine->runProgram(p);
    if (!range.complete) inVain = true;
  }, [&] { if (context_.stopper) context_.stopper->ask(); });

  bool stopped = context_.stopper && context_.stopper->stopped();
  bool conflict = false;
  for (size_t i = 0; i < count && !conflict && !stopped; ++i) {
    conflict = !ranges[i].complete || ranges[i].footprint->conflictsWithItself();
    for (size_t k = i + 1; k < count && !conflict; ++k)
      conflict = Footprint::conflict(*ranges[i].footprint, *ranges[k].footprint);
  }
  if (!conflict) {
    for (ProgramRange& range : ranges) {
      range.machine->makeUpdates();
      ++range.machine->collector().work().ranges;
      take(range.machine->collector(), range.states);
    }
    return;
  }
  // Programs of one range touched what another wrote: put the memory back and go in order.
  undo.undo();
  collector_.work().redone = true;
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    range->machine.reset();
    drop(range->states);
  }
  runInOrder(first, programs);
}

}  // namespace tilesight::exec
