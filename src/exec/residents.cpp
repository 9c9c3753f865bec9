// Programs that wait for each other. They run in order; one that waits is put aside, as data, and the
// next one starts. Only when all that have started wait is one more let in, so the number that are in at
// the end is the least that must be resident at once.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "exec/execution.h"
#include "exec/report.h"
#include "exec/stopper.h"

namespace tilesight::exec {

namespace {

// Of the device that is assumed where nothing else is said: one program on each multiprocessor.
constexpr int64_t kUsualResidents = 132;
// A program that waits in a loop which also counts is not known to wait for ever: it gets this many turns
// without any change in memory before the launch is given up.
constexpr uint64_t kPatience = 1'000'000;

struct Resident {
  std::vector<ClientState> states;
  std::unique_ptr<Machine> machine;
  uint64_t seen = 0;  // changes of memory when it last looked
  bool waiting = false;
};

std::string what(const Machine& machine) {
  const Wait& wait = machine.wait();
  if (!wait.view) return "a value in memory";
  std::string index;
  for (int64_t i : LaunchMemory::indexOf(*wait.view, wait.address, 0)) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return "a change of " + wait.view->name + (index.empty() ? "" : "[" + index + "]");
}

bool waits(const Resident& r) { return r.waiting; }
bool waitsTimed(const Resident& r) { return r.waiting && r.machine->wait().timed; }
bool waitsCounting(const Resident& r) { return r.waiting && !r.machine->wait().forever; }

FindingKey keyOf(const Machine& machine) { return {"deadlock", machine.wait().instr, -1}; }

findings::Finding deadlock(Machine& machine, findings::Severity severity, std::string message, std::string remedy) {
  findings::Finding finding = findingAt(machine, *machine.wait().instr, "deadlock", severity, std::move(message));
  finding.client = "execution";
  finding.remedy = std::move(remedy);
  return finding;
}

}  // namespace

void Execution::runResident(int64_t programs) {
  uint64_t changes = 0;
  std::deque<Resident> residents;  // contiguous ranges of programs, in order; the last one takes new programs
  auto admit = [&] {
    Resident& r = residents.emplace_back();
    r.states = fork();
    r.machine = std::make_unique<Machine>(context_, r.states, nullptr, &changes);
  };
  admit();
  int64_t next = 0;
  int64_t limit = 1, waiting = 0, waiter = 0;
  const int64_t stated = context_.launch->numSms;
  const int64_t allowed = stated > 0 ? stated : kUsualResidents;
  std::optional<findings::Finding> tooFew;  // completed when it is known how many are needed
  FindingKey tooFewKey;
  std::string awaited;
  uint64_t turns = 0;
  bool going = true;

  // One turn of a resident that waits. False if it must go on waiting.
  auto turn = [&](Resident& r) {
    r.seen = changes;
    Progress progress = r.machine->resume();
    if (progress == Progress::Waiting) return r.seen != changes;
    r.waiting = false;
    --waiting;
    going = progress != Progress::Stopped;
    return true;
  };

  while (going && (next < programs || waiting > 0)) {
    if (waiting < limit && next < programs) {
      if (residents.back().waiting) admit();
      Resident& r = residents.back();
      uint64_t before = changes;
      Progress progress = r.machine->start(next++);
      going = progress != Progress::Stopped;
      if (progress == Progress::Waiting) {
        r.waiting = true;
        r.seen = before;
        ++waiting;
      }
      turns = 0;
      if (waiting < limit || !going) continue;
    }
    // All places are taken by programs that wait: does one of them get on?
    bool moved = false;
    for (Resident& r : residents)
      if (going && r.waiting && r.seen != changes) moved = turn(r) || moved;
    // What came before the first that waits is finished with.
    while (residents.size() > 1 && !residents.front().waiting) {
      take(residents.front().machine->collector(), residents.front().states);
      residents.pop_front();
    }
    if (moved || !going) {
      turns = 0;
      continue;
    }
    bool behind = std::any_of(residents.begin(), residents.end(), [&](const Resident& r) { return r.waiting && r.seen != changes; });
    if (behind) continue;
    if (next < programs) {
      if (++limit == allowed + 1) {
        Machine& machine = *std::find_if(residents.begin(), residents.end(), waits)->machine;
        tooFew = deadlock(machine, stated > 0 ? findings::Severity::Error : findings::Severity::Warning, "",
                          "wait only for earlier programs, or launch no more programs than fit at once");
        tooFewKey = keyOf(machine);
        waiter = machine.program().linear;
        awaited = what(machine);
      }
      continue;
    }
    // Nobody else will come. Who waits with a time limit gives up; who counts while waiting gets on.
    auto timed = std::find_if(residents.begin(), residents.end(), waitsTimed);
    if (timed != residents.end()) {
      timed->machine->expire();
      turn(*timed);
      continue;
    }
    auto counts = std::find_if(residents.begin(), residents.end(), waitsCounting);
    if (counts != residents.end() && turns < kPatience) {
      for (Resident& r : residents)
        if (going && waitsCounting(r)) turn(r);
      turns += kSpinTurns;
      if (context_.stopper && context_.stopper->ask()) going = false;
      continue;
    }
    if (counts != residents.end()) {
      counts->machine->stop(*counts->machine->wait().instr,
                            fmt::format("a program waited {} turns for {}, which no other program makes", kPatience, what(*counts->machine)));
      break;
    }
    Machine& machine = *std::find_if(residents.begin(), residents.end(), waits)->machine;
    const std::string others = waiting == 1 ? "" : fmt::format("{} programs wait, ", waiting);
    machine.collector().add(keyOf(machine),
                            deadlock(machine, findings::Severity::Error,
                                     fmt::format("this program waits for {}, and no program will make it: {}all others have ended", what(machine), others),
                                     "see that what is waited for is written on every path, and that a lock is released"));
    machine.collector().count(keyOf(machine), 1, machine.program().linear);
    break;
  }
  for (Resident& r : residents) take(r.machine->collector(), r.states);
  if (!tooFew) return;
  tooFew->message = fmt::format("this program waits for {}, which a later program makes: {} programs must be resident at once, {}",
                                awaited, limit,
                                stated > 0 ? fmt::format("num_sms is {}", stated)
                                           : fmt::format("and a device of {} multiprocessors may hold no more than {}", allowed, allowed));
  if (!collector_.find(tooFewKey)) collector_.add(tooFewKey, std::move(*tooFew));
  collector_.count(tooFewKey, 1, waiter);
}

}  // namespace tilesight::exec
