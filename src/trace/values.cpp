#include "trace/values.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/memory.h"
#include "exec/observer.h"
#include "exec/parameters.h"
#include "exec/report.h"
#include "trace/agreement.h"
#include "trace/capture.h"
#include "trace/match.h"
#include "trace/sites.h"
#include "trace/writers.h"

namespace tilesight::trace {

using exec::Instr;
using exec::Machine;
using exec::Tile;

int64_t Value::numel() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return element == ir::ElementKind::Invalid || !text.empty() ? 0 : count;
}

struct Values::Impl {
  std::shared_ptr<const exec::Kernel> kernel;
  std::shared_ptr<const launch::Launch> launch;
  const exec::CompiledPlan* plan = nullptr;
  SiteTable table;
  bool needsReads = false;
  mutable std::mutex mutex;  // of all below
  std::shared_ptr<const launch::Launch> left;
  std::vector<bool> lost;
  mutable std::shared_ptr<const exec::ReadsOfPrograms> reads;
  mutable std::shared_ptr<const launch::Launch> after;

  Result<int64_t> linear(const std::array<int64_t, 3>& program) const;
  Result<std::shared_ptr<const exec::ReadsOfPrograms>> allReads() const;
  /// Runs the program alone under the observer. The text says why it ended early, or "".
  Result<std::string> observe(const std::array<int64_t, 3>& program, exec::Observer& observer) const;
  Result<std::string> observe(int64_t first, int64_t past, exec::Observer& observer) const;
  /// Runs the launch on a copy: what programs read, and what it leaves. The mutex is held.
  Status runOnCopy() const;
  /// Error: stores that are not what the launch left are not those of the launch on a copy, either.
  Status settle(const Agreement& agreement, int64_t program) const;
};

namespace {

// The element of a tile of a step, for as long as the machine lives.
struct Held {
  int64_t step = -1;
  uint32_t site = 0;
  bool operand = false;
  uint32_t number = 0;
  Tile tile;
  std::vector<Iteration> iterations;
};

Value copied(Machine& machine, Held& held) {
  Value value;
  value.step = held.step;
  value.site = held.site;
  value.operand = held.operand;
  value.number = held.number;
  value.iterations = std::move(held.iterations);
  fill(machine, held.tile, value);
  return value;
}

// Counts the steps.
class Stepper : public exec::Observer {
 public:
  explicit Stepper(const SiteTable& table) : table_(table) {}

  void before(Machine& machine, const Instr& instr) override {
    const int32_t site = table_.siteOf(*machine.context().plan, instr);
    if (site >= 0) enter(machine, instr, static_cast<uint32_t>(site));
  }
  void after(Machine& machine, const Instr& instr) override {
    const int32_t site = table_.siteOf(*machine.context().plan, instr);
    if (site < 0) return;
    leave(machine, instr, static_cast<uint32_t>(site));
    ++step_;
  }
  void finished(Machine& machine) override { stopped_ = machine.stopped(); }
  bool stopped() const { return stopped_; }
  int64_t step() const { return step_; }

 protected:
  /// Before and after a step.
  virtual void enter(Machine&, const Instr&, uint32_t) {}
  virtual void leave(Machine&, const Instr&, uint32_t) = 0;

  static const Tile& valueOf(Machine& machine, const Instr& instr, uint32_t number) {
    return instr.op == exec::Opcode::Mark ? machine.in(instr, number) : machine.slot(machine.outSlot(instr, number));
  }

  const SiteTable& table_;
  int64_t step_ = 0;
  bool stopped_ = false;
};

// What fits a query, by operation.
class Finder : public Stepper {
 public:
  struct Group {
    int64_t count = 0;
    Held held;
  };

  Finder(const SiteTable& table, const Candidates& candidates, const Query& query)
      : Stepper(table), candidates_(candidates), query_(query) {}

  void finished(Machine& machine) override {
    Stepper::finished(machine);
    if (found_.empty()) return;
    auto& [op, group] = *found_.rbegin();
    if (group.held.step >= 0) {  // else: not that often
      value_ = copied(machine, group.held);
      value_->occurrences = group.count;
      value_->occurrence = query_.occurrence.value_or(group.count - 1);
    }
    for (auto& [number, other] : found_) other.held = {};  // the machine's tiles end with it
  }
  std::optional<Value> take() { return std::move(value_); }
  const std::map<uint32_t, Group>& found() const { return found_; }
  const LoopsSeen& loops() const { return seen_; }

 protected:
  void enter(Machine& machine, const Instr& instr, uint32_t site) override {
    for (const Candidate& c : candidates_.of(site))
      if (c.operand) consider(machine, site, c, machine.in(instr, c.number));
  }
  void leave(Machine& machine, const Instr& instr, uint32_t site) override {
    for (const Candidate& c : candidates_.of(site))
      if (!c.operand) consider(machine, site, c, valueOf(machine, instr, c.number));
  }

 private:
  void consider(Machine& machine, uint32_t site, const Candidate& candidate, const Tile& tile) {
    seen_.add(machine);
    if (!fits(machine, query_.trips, seen_)) return;
    Group& group = found_[table_.sites[site].op];
    const int64_t number = group.count++;
    if (query_.occurrence && *query_.occurrence != number) return;
    group.held = {step_, site, candidate.operand, candidate.number, tile, machine.iterations()};
  }

  const Candidates& candidates_;
  const Query& query_;
  std::map<uint32_t, Group> found_;
  LoopsSeen seen_;
  std::optional<Value> value_;
};

// All that fits a query at one operation.
class Collecting : public Stepper {
 public:
  Collecting(const SiteTable& table, const Candidates& candidates, const Query& query, uint32_t op, size_t limit)
      : Stepper(table), candidates_(candidates), query_(query), op_(op), limit_(limit) {}
  std::vector<Value> values;

 protected:
  void enter(Machine& machine, const Instr& instr, uint32_t site) override {
    if (table_.sites[site].op != op_) return;
    for (const Candidate& c : candidates_.of(site))
      if (c.operand) consider(machine, site, c, machine.in(instr, c.number));
  }
  void leave(Machine& machine, const Instr& instr, uint32_t site) override {
    if (table_.sites[site].op != op_) return;
    for (const Candidate& c : candidates_.of(site))
      if (!c.operand) consider(machine, site, c, valueOf(machine, instr, c.number));
  }

 private:
  void consider(Machine& machine, uint32_t site, const Candidate& candidate, const Tile& tile) {
    seen_.add(machine);
    if (!fits(machine, query_.trips, seen_)) return;
    Held held{step_, site, candidate.operand, candidate.number, tile, machine.iterations()};
    values.push_back(copied(machine, held));
    values.back().occurrence = static_cast<int64_t>(values.size()) - 1;
    if (values.size() >= limit_) machine.finish();
  }

  const Candidates& candidates_;
  const Query& query_;
  uint32_t op_;
  size_t limit_;
  LoopsSeen seen_;
};

class StepList : public Stepper {
 public:
  StepList(const SiteTable& table, int64_t first, int64_t limit) : Stepper(table), first_(first), limit_(limit) {}
  std::vector<Step> steps;

 protected:
  void leave(Machine& machine, const Instr&, uint32_t site) override {
    if (step_ < first_ || step_ - first_ >= limit_) return;
    Step& step = steps.emplace_back();
    step.site = site;
    for (const exec::LoopRecord& loop : machine.loops()) step.trips.push_back(loop.trip);
  }

 private:
  int64_t first_, limit_;
};

// Values and operands of all steps, or of one.
class Visitor : public Stepper {
 public:
  Visitor(const SiteTable& table, bool operands, int64_t only, const Values::Visit& visit)
      : Stepper(table), operands_(operands), only_(only), visit_(visit) {}

 protected:
  void enter(Machine& machine, const Instr& instr, uint32_t site) override {
    values_.clear();
    if (!operands_ || (only_ >= 0 && step_ != only_)) return;
    for (uint32_t i = 0; i < table_.sites[site].operands.size(); ++i) take(machine, site, true, i, machine.in(instr, i));
  }
  void leave(Machine& machine, const Instr& instr, uint32_t site) override {
    if (only_ >= 0 && step_ != only_) return;
    for (uint32_t i = 0; i < table_.sites[site].values.size(); ++i)
      take(machine, site, false, i, valueOf(machine, instr, i));
    const bool more = visit_(values_);
    values_.clear();
    if (!more || only_ >= 0) machine.finish();
  }

 private:
  void take(Machine& machine, uint32_t site, bool operand, uint32_t number, const Tile& tile) {
    Held held{step_, site, operand, number, tile, machine.iterations()};
    values_.push_back(copied(machine, held));
  }

  bool operands_;
  int64_t only_;
  const Values::Visit& visit_;
  std::vector<Value> values_;
};

}  // namespace

Values::Values(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Values::~Values() = default;

Result<std::shared_ptr<Values>> Values::of(std::shared_ptr<const exec::Kernel> kernel,
                                           std::shared_ptr<const launch::Launch> launch,
                                           std::shared_ptr<const exec::ReadsOfPrograms> reads) {
  auto impl = std::make_unique<Impl>();
  auto plan = kernel->plan({.everything = true});
  if (!plan) return failure(std::move(plan).error());
  auto matched = exec::matchParameters(*kernel, *launch);
  if (!matched) return failure(std::move(matched).error());
  const exec::TouchedStorages touched = exec::touchedStorages(*kernel, *launch, *matched);
  for (size_t s = 0; s < touched.read.size(); ++s) impl->needsReads = impl->needsReads || (touched.read[s] && touched.written[s]);
  impl->table = sitesOf(*kernel, **plan);
  impl->plan = *plan;
  impl->kernel = std::move(kernel);
  impl->launch = std::move(launch);
  impl->reads = std::move(reads);
  return std::shared_ptr<Values>(new Values(std::move(impl)));
}

const launch::Launch& Values::launch() const { return *impl_->launch; }
const exec::Kernel& Values::kernel() const { return *impl_->kernel; }
const std::vector<Site>& Values::sites() const { return impl_->table.sites; }
bool Values::needsReads() const { return impl_->needsReads; }

Result<int64_t> Values::Impl::linear(const std::array<int64_t, 3>& program) const {
  const auto& grid = launch->grid;
  for (int d = 0; d < 3; ++d)
    if (program[d] < 0 || program[d] >= grid[d])
      return failure(fmt::format("there is no program ({}): the grid is ({})", fmt::join(program, ", "), fmt::join(grid, ", ")));
  return program[0] + grid[0] * (program[1] + grid[1] * program[2]);
}

Result<std::shared_ptr<const exec::ReadsOfPrograms>> Values::Impl::allReads() const {
  std::lock_guard lock(mutex);
  if (!reads) TS_CHECK(runOnCopy());
  return reads;
}

Status Values::Impl::runOnCopy() const {
  auto made = std::make_shared<exec::ReadsOfPrograms>();
  const std::shared_ptr<launch::Launch> copy = copyForRun(*kernel, *launch);
  exec::RunOptions options;
  if (needsReads) options.keepReads = made.get(), options.keepAllReads = true;
  options.silent = true;
  auto report = exec::run(*kernel, *copy, options);
  if (!report) return failure(std::move(report).error());
  if (!reads) reads = made;
  after = copy;
  return {};
}

Status Values::Impl::settle(const Agreement& agreement, int64_t program) const {
  // A later turn may have stored there, too. And where other programs did, it is not certain which came last.
  std::lock_guard lock(mutex);
  if (!after) TS_CHECK(runOnCopy());
  const std::optional<Agreement::Bytes> changed = agreement.changed(*after);
  if (!changed) return {};
  const exec::LaunchMemory memory(*launch);
  auto writers = writersOf(*kernel, *launch, memory.storages()[changed->storage].base + changed->at, changed->count, true);
  if (!writers) return failure(std::move(writers).error());
  if (writers->programs != 1) return {};
  const auto& grid = launch->grid;
  return failure(Diagnostic{{}, 0, 0,
                            fmt::format("program ({}, {}, {}) stores to tensor {} something else than it holds now: that tensor, or one that "
                                        "the launch reads, has changed since the launch, so its values cannot be computed again",
                                        program % grid[0], program / grid[0] % grid[1], program / (grid[0] * grid[1]),
                                        launch->storages[changed->storage].name),
                            kAskBefore});
}

void Values::compareWith(std::shared_ptr<const launch::Launch> left, std::vector<bool> lost) {
  std::lock_guard lock(impl_->mutex);
  impl_->left = std::move(left);
  impl_->lost = std::move(lost);
}

bool Values::lost(size_t storage) const {
  std::lock_guard lock(impl_->mutex);
  return storage < impl_->lost.size() && impl_->lost[storage];
}

Result<std::shared_ptr<const launch::Launch>> Values::after() const {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->after) TS_CHECK(impl_->runOnCopy());
  return impl_->after;
}

const SiteTable& Values::table() const { return impl_->table; }

Result<std::string> Values::watch(std::array<int64_t, 3> program, exec::Observer& observer) const { return impl_->observe(program, observer); }

Result<std::string> Values::watch(int64_t first, int64_t past, exec::Observer& observer) const { return impl_->observe(first, past, observer); }

Result<std::string> Values::Impl::observe(const std::array<int64_t, 3>& program, exec::Observer& observer) const {
  auto number = linear(program);
  if (!number) return failure(std::move(number).error());
  return observe(*number, *number + 1, observer);
}

Result<std::string> Values::Impl::observe(int64_t first, int64_t past, exec::Observer& observer) const {
  exec::ReadsOfPrograms only;
  if (needsReads) {
    auto all = allReads();
    if (!all) return failure(std::move(all).error());
    for (auto found = (*all)->lower_bound(first); found != (*all)->end() && found->first < past; ++found) only.insert(*found);
    if (only.empty()) {
      const auto& grid = launch->grid;
      return failure(fmt::format("program ({}, {}, {}) did not run: the launch ended before", first % grid[0], first / grid[0] % grid[1],
                                 first / (grid[0] * grid[1])));
    }
  } else {
    for (int64_t p = first; p < past; ++p) only.try_emplace(only.end(), p);
  }
  std::shared_ptr<const launch::Launch> compared;
  // Of one program: of many, looking at each store would take longer than running them. And not where programs read
  // what others write: the order in which they ran need not be that of the launch.
  if (past - first == 1 && !needsReads) {
    std::lock_guard lock(mutex);
    compared = left;
  }
  Agreement agreement(observer, compared.get());
  exec::RunOptions options;
  options.replay = &only;
  options.observer = &agreement;
  options.threads = 1;
  auto report = exec::run(*kernel, *launch, options);
  if (!report) return failure(std::move(report).error());
  if (!agreement.differing().empty()) TS_CHECK(settle(agreement, first));
  return report->unknowns.empty() ? std::string() : report->unknowns.front().reason;
}

Result<Value> Values::at(const Query& query) const {
  auto candidates = candidatesOf(*this, query);
  if (!candidates) return failure(std::move(candidates).error());
  Finder finder(impl_->table, *candidates, query);
  auto stopped = impl_->observe(query.program, finder);
  if (!stopped) return failure(std::move(stopped).error());
  if (auto value = finder.take()) return std::move(*value);
  std::string why = *stopped;
  if (why.empty() && finder.stopped()) why = "it waited for another program when the launch ended";
  return failure(notFound(*this, query, *candidates, finder.loops(),
                          finder.found().empty() ? 0 : finder.found().rbegin()->second.count, why));
}

Result<std::vector<Value>> Values::all(const Query& query, size_t limit) const {
  Query any = query;
  any.occurrence.reset();
  auto last = at(any);
  if (!last) return failure(std::move(last).error());
  auto candidates = candidatesOf(*this, any);
  if (!candidates) return failure(std::move(candidates).error());
  Collecting collecting(impl_->table, *candidates, any, sites()[last->site].op, limit);
  auto stopped = impl_->observe(query.program, collecting);
  if (!stopped) return failure(std::move(stopped).error());
  for (Value& value : collecting.values) value.occurrences = last->occurrences;
  return std::move(collecting.values);
}

Result<Steps> Values::steps(std::array<int64_t, 3> program, int64_t first, int64_t limit) const {
  StepList list(impl_->table, first, limit);
  auto stopped = impl_->observe(program, list);
  if (!stopped) return failure(std::move(stopped).error());
  Steps steps;
  steps.total = list.step();
  steps.first = first;
  steps.steps = std::move(list.steps);
  steps.complete = !list.stopped();
  steps.stopped = *stopped;
  return steps;
}

Result<std::vector<Value>> Values::valuesAt(std::array<int64_t, 3> program, int64_t step) const {
  std::vector<Value> result;
  bool found = false;
  const Visit take = [&](std::vector<Value>& values) {
    found = true;
    result = std::move(values);
    return false;
  };
  Visitor visitor(impl_->table, true, std::max<int64_t>(step, 0), take);
  auto stopped = impl_->observe(program, visitor);
  if (!stopped) return failure(std::move(stopped).error());
  if (!found || step < 0)
    return failure(fmt::format("program ({}) has no step {}: it has {}", fmt::join(program, ", "), step, visitor.step()));
  return result;
}

Status Values::each(std::array<int64_t, 3> program, bool operands, const Visit& visit) const {
  Visitor visitor(impl_->table, operands, -1, visit);
  auto stopped = impl_->observe(program, visitor);
  if (!stopped) return failure(std::move(stopped).error());
  return {};
}

}  // namespace tilesight::trace
