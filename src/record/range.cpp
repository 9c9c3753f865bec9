#include "record/range.h"

#include <algorithm>

#include "exec/machine.h"

namespace tilesight::record {

namespace {

int32_t narrowed(int64_t value) { return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX)); }

}  // namespace

Range::Range(const LaunchRecording& launch, bool whole)
    : launch_(launch),
      accesses_(launch.folder, [this](const AccessRows& rows) { return launch_.encoders->encode(launch_.fixed, launch_.names, rows, patterns_); }, whole),
      programs_(launch.folder,
                [this](const ProgramRows& rows) { return rows.encode(launch_.names.launch, launch_.names.grid, packer_); }, whole) {
  if (whole) first_ = 0;
}

void Range::turn(const ts_program& program) {
  if (open_ && program.linear == program_) return;
  close();
  if (first_ < 0) first_ = program.linear;
  else skipTo(program.linear);
  program_ = program.linear;
  sums_ = {};
  sums_.program = static_cast<uint32_t>(program_);
  accesses_.begin(sums_.program);
  open_ = true;
}

void Range::close() {
  if (!open_) return;
  open_ = false;
  accesses_.end(sums_.program);
  programs_.begin(sums_.program);
  programs_.rows().add(sums_);
  programs_.grew(1);
  programs_.end(sums_.program);
  if (!status()) *launch_.failed = true;
}

void Range::skipTo(int64_t program) {
  for (int64_t p = program_ + 1; p < program; ++p) {
    ProgramSums nothing;
    nothing.program = static_cast<uint32_t>(p);
    programs_.begin(nothing.program);
    programs_.rows().add(nothing);
    programs_.grew(1);
    programs_.end(nothing.program);
  }
}

// Where an access is whose pattern does not say all, and how far its active elements reach: offset_, low_, high_, and
// cells_ if they are asked for.
void Range::bounds(const ts_host& host, const ts_access& access, const Pattern& pattern, int64_t origin) {
  const int64_t bytes = access.element_bytes;
  cells_.clear();
  low_ = high_ = 0;
  const bool formed = pattern.form != TS_FORM_DENSE && pattern.mask != TS_FORM_DENSE;
  if (formed) {
    offset_ = access.base - origin;
    if (access.active <= 0) return;
    for (uint32_t d = 0; d < access.rank; ++d) {
      const int64_t* table = access.form == TS_FORM_SEPARABLE && access.axis ? access.axis[d] : nullptr;
      const uint8_t* active = access.mask.form == TS_FORM_SEPARABLE && access.mask.axis ? access.mask.axis[d] : nullptr;
      const int64_t stride = access.form == TS_FORM_SPLAT ? 0 : access.strides[d];
      int64_t first = std::max<int64_t>(0, pattern.low[d]), last = std::min(pattern.high[d], access.shape[d]) - 1;
      while (active && first < last && !active[first]) ++first;
      while (active && first < last && !active[last]) --last;
      int64_t low = stride * first, high = stride * last;
      if (table) {
        low = INT64_MAX;
        high = INT64_MIN;
        for (int64_t i = first; i <= last; ++i) {
          if (active && !active[i]) continue;
          low = std::min(low, table[i]);
          high = std::max(high, table[i]);
        }
      }
      low_ += std::min(low, high);
      high_ += std::max(low, high);
    }
    high_ += bytes;
    if (!launch_.elements) return;
  }
  const auto count = static_cast<size_t>(access.elements);
  addresses_.resize(count);
  mask_.resize(count);
  host.addresses(&access, addresses_.data());
  host.mask_bytes(&access, mask_.data());
  if (!formed) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < count; ++i) {
      if (!mask_[i]) continue;
      low = std::min(low, addresses_[i]);
      high = std::max(high, addresses_[i]);
    }
    if (access.form != TS_FORM_DENSE) offset_ = access.base - origin;
    else offset_ = (access.active > 0 ? low : origin) - origin;
    if (access.active > 0) {
      low_ = low - origin - offset_;
      high_ = high - origin - offset_ + bytes;
    }
  }
  if (!launch_.elements) return;
  for (size_t i = 0; i < count; ++i)
    if (mask_[i]) cells_.push_back(addresses_[i] - origin - offset_);
}

void Range::access(const ts_host& host, const ts_access& access) {
  turn(*access.program);
  const uint32_t number = patterns_.number(access);
  const Pattern& pattern = patterns_[number];
  const int64_t origin = access.argument < 0 ? 0 : launch_.names.addresses[static_cast<size_t>(access.argument)];
  AccessRows& rows = accesses_.rows();
  const std::vector<exec::LoopRecord>& loops = static_cast<const exec::AccessCore*>(access.core)->machine->loops();
  const size_t depth = loops.size();
  const int32_t trip = depth ? narrowed(loops[depth - 1].trip) : -1, outerTrip = depth > 1 ? narrowed(loops[depth - 2].trip) : -1;
  if (pattern.exact()) {
    rows.add(number, access.base - origin, trip, outerTrip);
    accesses_.grew(1);
  } else {
    bounds(host, access, pattern, origin);
    rows.add(number, offset_, trip, outerTrip);
    rows.addLoose(low_, high_, access.active, cells_);
    accesses_.grew(AccessRows::weightOf(1, cells_.size()));
  }

  ++count_;
  ++sums_.accesses;
  const int64_t bytes = access.active * access.element_bytes;
  switch (access.kind) {
    case TS_LOAD: ++sums_.loads; sums_.read += bytes; break;
    case TS_STORE: ++sums_.stores; sums_.written += bytes; break;
    default: ++sums_.atomics; sums_.read += bytes; sums_.written += bytes;
  }
  sums_.elements += access.elements;
  sums_.active += access.active;
  sums_.faulty += access.faults != 0;
}

void Range::dot(const ts_compute& compute) {
  turn(*compute.program);
  ++sums_.dots;
  sums_.multiplyAdds += compute.m * compute.n * compute.k;
}

void Range::reduce(const ts_compute& compute) {
  turn(*compute.program);
  ++sums_.reductions;
}

void Range::merge(Range& later) {
  close();
  later.close();
  if (later.first_ < 0) return;  // none of its programs did anything
  skipTo(later.first_);
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < later.patterns_.size(); ++i) numbers.push_back(patterns_.number(later.patterns_[static_cast<uint32_t>(i)]));
  accesses_.merge(later.accesses_, [&](AccessRows& rows) { rows.renumber(numbers); });
  programs_.merge(later.programs_, [](ProgramRows&) {});
  program_ = later.program_;
  count_ += later.count_;
}

void Range::end(int64_t programs) {
  close();
  skipTo(programs);
  program_ = std::max(program_, programs - 1);
  ended_ = true;
}

Status Range::handOn(const Sink& accesses, const Sink& programs) {
  if (!ended_) {
    TS_CHECK(accesses_.handOn(accesses));
    return programs_.handOn(programs);
  }
  TS_CHECK(accesses_.finish(accesses));
  return programs_.finish(programs);
}

}  // namespace tilesight::record
