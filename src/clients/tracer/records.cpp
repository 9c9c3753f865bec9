#include "clients/tracer/records.h"

namespace tilesight::clients {

namespace {

int64_t movedOn(int64_t first, int64_t second) {
  const auto a = static_cast<uint64_t>(first), b = static_cast<uint64_t>(second);
  return static_cast<int64_t>(b + (b - a));  // it may wrap
}

TraceRecord next(const TraceRecord& first, const TraceRecord& second) {
  TraceRecord record = second;
  record.program = movedOn(first.program, second.program);
  record.base = movedOn(first.base, second.base);
  return record;
}

// Goes through the records of all parts.
class Cursor {
 public:
  explicit Cursor(const std::vector<std::vector<TraceRecord>>& parts) : parts_(parts) { skip(); }
  bool ended() const { return part_ == parts_.size(); }
  const TraceRecord& operator*() const { return parts_[part_][at_]; }
  void operator++() {
    ++at_;
    skip();
  }

 private:
  void skip() {
    while (part_ < parts_.size() && at_ == parts_[part_].size()) {
      ++part_;
      at_ = 0;
    }
  }

  const std::vector<std::vector<TraceRecord>>& parts_;
  size_t part_ = 0, at_ = 0;
};

}  // namespace

KeptRecords::KeptRecords(const std::vector<std::vector<TraceRecord>>& parts) {
  Cursor first(parts), second(parts), now(parts);
  for (Cursor start(parts); !now.ended() && (*now).program == (*start).program; ++now) {
    stored_.emplace_back(count_++, *now);
    ++period_;
  }
  for (size_t i = 0; i < period_ && !now.ended(); ++i, ++now) stored_.emplace_back(count_++, *now);
  for (size_t i = 0; i < period_ && !now.ended(); ++i) ++second;
  for (; !now.ended(); ++first, ++second, ++now, ++count_)
    if (*now != next(*first, *second)) stored_.emplace_back(count_, *now);
  stored_.shrink_to_fit();
}

std::vector<TraceRecord> KeptRecords::all() const {
  std::vector<TraceRecord> records;
  records.reserve(count_);
  for (const auto& [at, record] : stored_) {
    while (records.size() < at) records.push_back(next(records[records.size() - 2 * period_], records[records.size() - period_]));
    records.push_back(record);
  }
  while (records.size() < count_) records.push_back(next(records[records.size() - 2 * period_], records[records.size() - period_]));
  return records;
}

}  // namespace tilesight::clients
