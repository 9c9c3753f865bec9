// Records of a launch that is over. Most are what the same operation did in the two programs before them, moved on, so
// those are not stored: reports are kept by the hundred, and fresh memory costs as much as the tracing itself.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "clients/tracer/tracer.h"

namespace tilesight::clients {

class KeptRecords {
 public:
  KeptRecords() = default;
  /// Of the ranges of a launch, in order.
  explicit KeptRecords(const std::vector<std::vector<TraceRecord>>& parts);

  size_t count() const { return count_; }
  /// That are stored.
  size_t stored() const { return stored_.size(); }
  /// All of them, as they were.
  std::vector<TraceRecord> all() const;

 private:
  size_t count_ = 0;
  size_t period_ = 0;  // records of the first program
  // In order; those between them are foretold by what lies one and two periods before.
  std::vector<std::pair<uint64_t, TraceRecord>> stored_;
};

}  // namespace tilesight::clients
