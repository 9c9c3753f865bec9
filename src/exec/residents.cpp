#include "exec/residents.h"

#include <algorithm>

#include <fmt/format.h>

#include "exec/report.h"
#include "exec/stopper.h"

namespace tilesight::exec {

namespace {

// Of the device that is assumed where nothing else is said: one program on each multiprocessor.
constexpr int64_t kUsualResidents = 132;
// A program that waits in a loop which also counts is not known to wait for ever: it gets this many turns
// without any change in memory before the launch is given up.
constexpr uint64_t kPatience = 1'000'000;

std::string awaitedBy(const Machine& machine) {
  const Wait& wait = machine.wait();
  if (!wait.view) return "a value in memory";
  std::string index;
  for (int64_t i : LaunchMemory::indexOf(*wait.view, wait.address, 0)) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return "a change of " + wait.view->name + (index.empty() ? "" : "[" + index + "]");
}

FindingKey keyOf(const Machine& machine) { return {"deadlock", machine.wait().instr, -1}; }

findings::Finding deadlock(Machine& machine, findings::Severity severity, std::string message, std::string remedy) {
  findings::Finding finding = findingAt(machine, *machine.wait().instr, "deadlock", severity, std::move(message));
  finding.client = "execution";
  finding.remedy = std::move(remedy);
  return finding;
}

}  // namespace

Residents::Residents(Execution& execution, int64_t programs)
    : execution_(execution),
      context_(execution.context_),
      programs_(programs),
      stated_(context_.launch->numSms),
      allowed_(stated_ > 0                             ? stated_
               : context_.launch->multiprocessors > 0 ? context_.launch->multiprocessors
                                                       : kUsualResidents) {
  turns_.seed = context_.launch->seed;
  // Without a seed the next program comes in only when all that are in wait, so that the number that are in at
  // the end is the least that must be.
  if (turns_.seed) limit_ = allowed_;
}

void Residents::run() {
  while (going_ && (next_ < programs_ || in_ > 0)) {
    bool moved = turns_.seed ? nextBySeed() : nextInOrder();
    retire();
    if (moved) fruitless_ = 0;
    else if (going_) resolve();
  }
  for (Resident& r : residents_) execution_.take(r.machine ? r.machine->collector() : r.collector, r.states);
  reportTooFew();
}

bool Residents::canGoOn(const Resident& r) const {
  if (r.state == Resident::State::Waiting) return r.seen != turns_.changes || r.machine->wait().ready;
  return r.state == Resident::State::Entered;
}

Residents::Resident& Residents::admit() {
  if (residents_.empty() || residents_.back().state != Resident::State::Done) {
    Resident& r = residents_.emplace_back();
    r.states = execution_.fork();
    r.machine = std::make_unique<Machine>(context_, r.states, nullptr, &turns_);
  }
  Resident& r = residents_.back();
  r.program = next_++;
  r.state = Resident::State::Entered;
  ++in_;
  return r;
}

bool Residents::turn(Resident& r) {
  const uint64_t before = turns_.changes;
  const bool enters = r.state == Resident::State::Entered;
  r.seen = before;
  switch (enters ? r.machine->start(r.program) : r.machine->resume()) {
    case Progress::Waiting:
      r.state = Resident::State::Waiting;
      return enters || turns_.changes != before || r.machine->wait().ready;
    case Progress::Stopped:
      going_ = false;
      [[fallthrough]];
    case Progress::Done:
      r.state = Resident::State::Done;
      --in_;
  }
  // The last one's machine takes the next program; of others only what they left is kept.
  if (&r != &residents_.back()) {
    r.collector = std::move(r.machine->collector());
    r.machine.reset();
  }
  return true;
}

bool Residents::nextInOrder() {
  if (room()) return turn(admit());
  bool moved = false;
  for (Resident& r : residents_)
    if (going_ && canGoOn(r)) moved = turn(r) || moved;
  return moved;
}

bool Residents::nextBySeed() {
  while (room()) admit();
  auto count = static_cast<uint64_t>(std::count_if(residents_.begin(), residents_.end(), [&](const Resident& r) { return canGoOn(r); }));
  if (count == 0) return false;
  uint64_t chosen = turns_.draw(count);
  auto r = residents_.begin();
  while (!canGoOn(*r) || chosen-- > 0) ++r;
  turn(*r);
  return true;
}

void Residents::retire() {
  while (residents_.size() > 1 && residents_.front().state == Resident::State::Done) {
    Resident& r = residents_.front();
    execution_.take(r.machine ? r.machine->collector() : r.collector, r.states);
    residents_.pop_front();
  }
}

Residents::Where Residents::firstWaiting() {
  return std::find_if(residents_.begin(), residents_.end(), [](const Resident& r) { return r.state == Resident::State::Waiting; });
}

void Residents::resolve() {
  if (next_ < programs_) return admitOneMore();
  // Nobody else will come. Who waits with a time limit gives up; who counts while waiting gets on.
  auto which = [&](auto&& holds) {
    return std::find_if(residents_.begin(), residents_.end(), [&](const Resident& r) {
      return r.state == Resident::State::Waiting && holds(r.machine->wait());
    });
  };
  if (auto timed = which([](const Wait& w) { return w.timed; }); timed != residents_.end()) {
    timed->machine->expire();
    turn(*timed);
    return;
  }
  auto counts = which([](const Wait& w) { return !w.forever; });
  if (counts == residents_.end()) return reportDeadlock(*firstWaiting()->machine);
  if (fruitless_ >= kPatience) {
    counts->machine->stop(*counts->machine->wait().instr,
                          fmt::format("a program waited {} turns for {}, which no other program makes", kPatience,
                                      awaitedBy(*counts->machine)));
    going_ = false;
    return;
  }
  for (Resident& r : residents_)
    if (going_ && r.state == Resident::State::Waiting && !r.machine->wait().forever) turn(r);
  fruitless_ += kSpinTurns;
  if (context_.stopper && context_.stopper->ask()) going_ = false;
}

void Residents::admitOneMore() {
  if (++limit_ != allowed_ + 1) return;
  Machine& machine = *firstWaiting()->machine;
  tooFew_ = {keyOf(machine),
             deadlock(machine, stated_ > 0 ? findings::Severity::Error : findings::Severity::Warning, "",
                      "wait only for earlier programs, or launch no more programs than fit at once"),
             awaitedBy(machine),
             {}};
  for (const Resident& r : residents_)
    if (r.state == Resident::State::Waiting) tooFew_->waiting.push_back(r.program);
}

void Residents::reportDeadlock(Machine& machine) {
  const std::string others = in_ == 1 ? "" : fmt::format("{} programs wait, ", in_);
  const FindingKey key = keyOf(machine);
  machine.collector().add(key, deadlock(machine, findings::Severity::Error,
                                        fmt::format("this program waits for {}, and no program will make it: {}all others have ended",
                                                    awaitedBy(machine), others),
                                        "see that what is waited for is written on every path, and that a lock is released"));
  for (const Resident& r : residents_)
    if (r.state == Resident::State::Waiting) machine.collector().count(key, 0, r.program);
  going_ = false;
}

void Residents::reportTooFew() {
  if (!tooFew_) return;
  tooFew_->finding.message = fmt::format(
      "this program waits for {}, which a later program makes: {} programs must be resident at once, {}", tooFew_->awaited, limit_,
      stated_ > 0 ? fmt::format("num_sms is {}", stated_)
                  : fmt::format("and a device of {} multiprocessors may hold no more than {}", allowed_, allowed_));
  Collector& collector = execution_.collector_;
  if (!collector.find(tooFew_->key)) collector.add(tooFew_->key, std::move(tooFew_->finding));
  for (int64_t program : tooFew_->waiting) collector.count(tooFew_->key, 0, program);
}

}  // namespace tilesight::exec
