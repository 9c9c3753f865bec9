#include "server/survey.h"

#include <algorithm>

namespace tilesight::server {

Survey::Survey(const Survey& whole, Fork) : host_(whole.host_), done_(whole.done_), rows_(*whole.host_), count_(whole.count_), isWhole_(false) {
  for (const ElementMap& map : whole.maps_) maps_.push_back(map.blank());
}

Survey::~Survey() {
  if (done_) *done_ -= finished_;  // a range that is run again
}

void Survey::merge(Survey&& later) {
  later.finished_ = 0;
  for (size_t a = 0; a < maps_.size(); ++a) maps_[a].merge(std::move(later.maps_[a]));
  for (const auto& [op, totals] : later.ops_) {
    OpTotals& mine = ops_[op];
    mine.accesses += totals.accesses, mine.elements += totals.elements, mine.active += totals.active;
    mine.read += totals.read, mine.written += totals.written, mine.faults += totals.faults;
  }
  if (later.firstProgram_ < 0) return;
  const size_t from = static_cast<size_t>(later.firstProgram_);
  const auto add = [from](auto& mine, const auto& other) {
    for (size_t i = 0; i < other.size(); ++i) mine[from + i] += other[i];
  };
  add(programs_.accesses, later.programs_.accesses);
  add(programs_.faults, later.programs_.faults);
  add(programs_.read, later.programs_.read);
  add(programs_.written, later.programs_.written);
  add(programs_.masked, later.programs_.masked);
}

void Survey::launch_begin(const ts_launch& launch) {
  maps_.clear();
  maps_.resize(launch.argument_count);
  int64_t programs = 1;
  for (int64_t extent : launch.grid) programs = extent > 0 && programs <= kMaxNumbered / extent ? programs * extent : 0;
  isNumbered_ = programs > 0;
  count_ = programs <= kMaxProgramTotals ? programs : 0;
  firstProgram_ = 0;
  resize(static_cast<size_t>(count_));
}

void Survey::argument(const ts_argument& argument) {
  if (argument.index < maps_.size() && isNumbered_) maps_[argument.index] = ElementMap(argument);
}

void Survey::program_end(const ts_program&) {
  if (!done_) return;
  ++*done_;
  if (!isWhole_) ++finished_;
}

void Survey::resize(size_t n) {
  programs_.accesses.resize(n), programs_.faults.resize(n);
  programs_.read.resize(n), programs_.written.resize(n), programs_.masked.resize(n);
}

size_t Survey::rowOf(int64_t program) {
  if (isWhole_) return static_cast<size_t>(program);
  if (firstProgram_ < 0) firstProgram_ = program;
  if (program < firstProgram_) {  // programs that take turns
    const auto shift = [n = static_cast<size_t>(firstProgram_ - program)](auto& of) { of.insert(of.begin(), n, {}); };
    shift(programs_.accesses), shift(programs_.faults), shift(programs_.read), shift(programs_.written), shift(programs_.masked);
    firstProgram_ = program;
  }
  const size_t row = static_cast<size_t>(program - firstProgram_);
  if (row >= programs_.accesses.size()) resize(row + 1);
  return row;
}

void Survey::take(const ts_access& access, bool reads, bool writes) {
  if (!last_.second || last_.first != access.op) last_ = {access.op, &ops_[access.op]};
  OpTotals& op = *last_.second;
  const uint64_t bytes = static_cast<uint64_t>(access.active) * access.element_bytes;
  op.accesses += 1;
  op.elements += static_cast<uint64_t>(access.elements);
  op.active += static_cast<uint64_t>(access.active);
  op.faults += access.faults != 0;
  if (reads) op.read += bytes;
  if (writes) op.written += bytes;
  const int64_t program = access.program->linear;
  if (program < count_) {
    const size_t row = rowOf(program);
    programs_.accesses[row] += 1;
    programs_.faults[row] += access.faults != 0;
    if (reads) programs_.read[row] += static_cast<double>(bytes);
    if (writes) programs_.written[row] += static_cast<double>(bytes);
    programs_.masked[row] += static_cast<double>(access.elements - access.active);
  }
  rows_.each(access, [&](int32_t argument, int64_t address, int64_t elements, int64_t times) {
    if (argument >= 0 && static_cast<size_t>(argument) < maps_.size())
      maps_[static_cast<size_t>(argument)].add(address, elements, access.element_bytes, times, reads, writes, program);
  });
}

void Survey::finish() {
  for (ElementMap& map : maps_) map.finish();
}

uint64_t Survey::accesses() const {
  uint64_t sum = 0;
  for (const auto& [number, op] : ops_) sum += op.accesses;
  return sum;
}

}  // namespace tilesight::server
