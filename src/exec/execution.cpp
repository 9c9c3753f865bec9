#include "exec/execution.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "exec/parameters.h"
#include "exec/residents.h"

namespace tilesight::exec {

namespace {

using Clock = std::chrono::steady_clock;

// Ranges of programs run side by side only if the work is worth the threads, and each range is worth
// the machine that it needs.
constexpr auto kWorthThreads = std::chrono::microseconds(300);
constexpr auto kWorthRange = std::chrono::microseconds(150);
constexpr int kUpdatesWorth = 3;      // a kernel that spends more than one part in so many on updates gains nothing
constexpr int64_t kRangesPerThread = 2;  // so that a thread with cheap programs takes more of them; each finds out anew what loops do

}  // namespace

void Execution::run(int64_t programs) {
  if (inTurns()) return Residents(*this, programs).run();
  bool parallel = threads_ > 1;
  // A client that listens and has no state of its own per range is called from one thread. Promises are the
  // engine's to check: nobody listens.
  for (const ClientInstance& c : clients_) parallel = parallel && (c.table->fork || (c.table->needs & ~TS_NEED_PROMISES) == 0);
  // What ranges touch is known by storage: of those that share memory it does not tell whether ranges meet.
  parallel = parallel && !touchedStorages(kernel_, *context_.launch, context_.argumentOfParameter).shared;
  if (!parallel) return runInOrder(0, programs);

  // The first programs tell what the others cost.
  std::vector<ClientState> states = fork();
  Machine machine(context_, states, nullptr);
  machine.runsUpTo(programs);
  auto start = Clock::now();
  int64_t done = 0;
  bool going = true;
  Clock::duration rest{};
  while (done < programs && going) {
    going = machine.runProgram(done++);
    if (done > 8 && (done & 7)) continue;  // look at the clock now and then
    rest = (Clock::now() - start) * (programs - done) / done;
    if (programs - done >= 2 && (rest > kWorthThreads || alwaysDivide_)) break;
  }
  const bool updates = !alwaysDivide_ && machine.updating() * kUpdatesWorth > Clock::now() - start;
  take(machine.collector(), states);
  if (!going || done == programs) return;
  if (updates) return runInOrder(done, programs);  // what is put off is not done by threads
  int64_t worth = alwaysDivide_ ? programs : std::max<int64_t>(rest / kWorthRange, threads_);
  if (ranges_) worth = std::min(worth, static_cast<int64_t>(ranges_));
  runRanges(done, programs, static_cast<size_t>(std::min({worth, kRangesPerThread * threads_, programs - done})));
}

bool Execution::inTurns() const {
  const plan::Program& program = context_.plan->program;
  if (program.tickets || (context_.launch->seed && program.atomics)) return true;
  if (!program.waits) return false;
  // Nobody waits for what no program writes.
  const TouchedStorages touched = touchedStorages(kernel_, *context_.launch, context_.argumentOfParameter);
  for (size_t s = 0; s < touched.read.size(); ++s)
    if (touched.read[s] && touched.written[s]) return true;
  return false;
}

void Execution::runInOrder(int64_t first, int64_t programs) {
  std::vector<ClientState> states = fork();
  Machine machine(context_, states, nullptr);
  machine.runsUpTo(programs);
  for (int64_t p = first; p < programs; ++p)
    if (!machine.runProgram(p)) break;
  take(machine.collector(), states);
}

void Execution::replay(const ReadsOfPrograms& programs) {
  if (context_.observer && clients_.empty()) {
    // Nobody judges what they do, so they may share what a machine keeps from program to program.
    Machine machine(context_, {}, nullptr);
    for (const auto& [program, reads] : programs) {
      machine.replay(reads);
      machine.runProgram(program);
    }
    std::vector<ClientState> none;
    return take(machine.collector(), none);
  }
  for (const auto& [program, reads] : programs) {
    std::vector<ClientState> states = fork();
    Machine machine(context_, states, nullptr);
    machine.replay(reads);
    machine.runProgram(program);
    take(machine.collector(), states);
  }
}

std::vector<ClientState> Execution::fork() {
  std::vector<ClientState> states;
  for (ClientInstance& c : clients_) states.push_back({c.table, c.table->fork ? c.table->fork(c.self) : c.self});
  return states;
}

void Execution::take(Collector& collector, std::vector<ClientState>& states) {
  for (size_t i = 0; i < clients_.size(); ++i)
    if (clients_[i].table->merge && clients_[i].table->fork) clients_[i].table->merge(clients_[i].self, states[i].state);
  if (const std::string text = collector.takePrinted(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  collector_.merge(std::move(collector));
}

void Execution::drop(std::vector<ClientState>& states) {
  for (size_t i = 0; i < clients_.size(); ++i)
    if (clients_[i].table->discard && clients_[i].table->fork) clients_[i].table->discard(clients_[i].self, states[i].state);
}

}  // namespace tilesight::exec
