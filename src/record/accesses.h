// Rows of the table `accesses`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/batch.h"
#include "record/operations.h"
#include "record/patterns.h"
#include "record/schema.h"

namespace tilesight::record {

class AccessRows {
 public:
  void add(uint32_t pattern, int64_t offset, int64_t low, int64_t high, int64_t active, int32_t trip, int32_t outerTrip) {
    pattern_.push_back(pattern);
    offset_.push_back(offset);
    low_.push_back(low);
    high_.push_back(high);
    active_.push_back(active);
    trip_.push_back(trip);
    outerTrip_.push_back(outerTrip);
    cells_.push_back(0);
  }
  /// Of the last row: an active element's place.
  void cell(int64_t offset) {
    offsets_.push_back(offset);
    ++cells_.back();
  }

  size_t size() const { return pattern_.size(); }
  bool empty() const { return pattern_.empty(); }
  static uint64_t weightOf(size_t rows, size_t cells) { return rows + cells / 8; }
  uint64_t weight() const { return weightOf(size(), offsets_.size()); }
  void clear();

  void startProgram(uint32_t number) {
    programs_.push_back({number, static_cast<uint32_t>(size()), 0, offsets_.size()});
  }
  size_t programs() const { return programs_.size(); }
  uint32_t programNumber(size_t i) const { return programs_[i].number; }
  /// Appends the rows of program number `i` of others; the weight of these.
  uint64_t append(const AccessRows& others, size_t i);
  /// Takes the current program away.
  AccessRows takeAfter();
  /// Patterns get other numbers.
  void renumber(const std::vector<uint32_t>& numbers) {
    for (uint32_t& pattern : pattern_) pattern = numbers[pattern];
  }

 private:
  friend class AccessEncoder;
  struct Program {
    uint32_t number, first;  // its first row here
    uint32_t before;         // rows of the program that an earlier batch has
    size_t cells;            // its first one here
  };
  void copyRows(const AccessRows& from, const Program& program, size_t past);

  std::vector<uint32_t> pattern_, cells_;
  std::vector<int64_t> offset_, low_, high_, active_, offsets_;
  std::vector<int32_t> trip_, outerTrip_;
  std::vector<Program> programs_;
};

/// Encodes rows. What equals a column of an earlier batch is not packed again: most columns of most kernels do.
class AccessEncoder {
 public:
  AccessEncoder(const FixedNames& fixed, const LaunchNames& names, const Patterns& patterns)
      : fixed_(&fixed), names_(&names), patterns_(&patterns) {}
  arrow::Message encode(const AccessRows& rows);
  /// The patterns are others now.
  void forget() { known_.clear(); }

 private:
  /// Columns that follow from the patterns of the rows.
  struct OfPatterns {
    std::vector<uint32_t> rows;  // patterns
    std::array<arrow::Column, at::columns> columns;
  };
  const OfPatterns& ofPatterns(const AccessRows& rows);
  /// A buffer of a column, packed now or before.
  arrow::Buffer reuse(size_t place, std::span<const uint8_t> raw);
  template <typename T>
  arrow::Buffer reuse(size_t place, const std::vector<T>& values) {
    return reuse(place, arrow::Buffer::of(values).raw);
  }

  const FixedNames* fixed_;
  const LaunchNames* names_;
  const Patterns* patterns_;
  arrow::Packer packer_;
  std::vector<std::unique_ptr<OfPatterns>> known_;  // the last few, newest first
  struct Last {
    std::vector<uint8_t> raw;
    arrow::Packed packed;
  };
  std::array<Last, 16> last_;
};

}  // namespace tilesight::record
