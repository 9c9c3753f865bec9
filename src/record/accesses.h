// Rows of the table `accesses`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "arrow/batch.h"
#include "record/operations.h"
#include "record/patterns.h"
#include "record/schema.h"

namespace tilesight::record {

/// A row is a pattern, a place and the turns of its loops. What the pattern of a row does not say (it is not exact()) has a
/// second part: it is loose.
class AccessRows {
 public:
  void add(uint32_t pattern, int64_t offset, int32_t trip, int32_t outerTrip) {
    pattern_.push_back(pattern);
    offset_.push_back(offset);
    trip_.push_back(trip);
    outerTrip_.push_back(outerTrip);
  }
  /// Of the last row, where its pattern is not exact: how far its active elements reach, and the places of single ones.
  void addLoose(int64_t low, int64_t high, int64_t active, const std::vector<int64_t>& cells) {
    loose_.push_back({low, high, active, static_cast<uint32_t>(cells.size())});
    cells_.insert(cells_.end(), cells.begin(), cells.end());
  }

  size_t size() const { return pattern_.size(); }
  bool empty() const { return pattern_.empty(); }
  static uint64_t weightOf(size_t rows, size_t cells) { return rows + cells / 8; }
  uint64_t weight() const { return weightOf(size(), cells_.size()); }
  void clear();

  void startProgram(uint32_t number) { programs_.push_back({number, 0, here()}); }
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
  struct Loose {
    int64_t low, high, active;
    uint32_t cells;
  };
  /// A place between two rows.
  struct Place {
    size_t row = 0, loose = 0, cell = 0;
  };
  struct Program {
    uint32_t number;
    uint32_t before;  // rows of the program that an earlier batch has
    Place first;
  };
  Place here() const { return {size(), loose_.size(), cells_.size()}; }
  void copyRows(const AccessRows& from, const Place& first, const Place& past);

  std::vector<uint32_t> pattern_;
  std::vector<int64_t> offset_, cells_;
  std::vector<int32_t> trip_, outerTrip_;
  std::vector<Loose> loose_;  // of loose rows, in order
  std::vector<Program> programs_;
};

/// Encodes rows. What equals a column of an earlier batch is not packed again: most columns of most kernels do.
class AccessEncoder {
 public:
  /// `patterns`: what the rows' numbers mean.
  arrow::Message encode(const FixedNames& fixed, const LaunchNames& names, const AccessRows& rows, const Patterns& patterns);

 private:
  /// Columns that follow from the patterns of the rows.
  struct OfPatterns {
    std::vector<uint32_t> rows;  // patterns
    std::array<arrow::Column, at::columns> columns;
    bool exact = false;  // all are: nothing else is needed but program, number, turns and base
  };
  /// A column of equal values.
  struct Constant {
    int64_t value = 0;
    size_t bytes = 0, width = 0;  // of all, of one
    arrow::Packed packed;
  };
  /// The rows' patterns by their numbers here.
  void translate(const AccessRows& rows, const Patterns& patterns);
  const OfPatterns& ofPatterns(const FixedNames& fixed, const LaunchNames& names);
  /// A column of patterns: of each its value, which is an int32_t or an int64_t.
  template <typename T, typename Value>
  void fill(arrow::Column& column, const Value& value);
  /// The columns that follow from the patterns of exact rows, if some are loose.
  void looseColumns(const AccessRows& rows, std::vector<arrow::Column>& columns);
  template <typename T>
  arrow::Packed constant(T value, size_t count);
  /// A buffer of a column, packed now or before.
  arrow::Buffer pack(size_t place, std::span<const uint8_t> raw);
  template <typename T>
  arrow::Buffer pack(size_t place, const std::vector<T>& values) {
    return pack(place, arrow::Buffer::of(values).raw);
  }

  arrow::Packer packer_;
  Patterns patterns_;                               // that it has met
  std::vector<std::unique_ptr<OfPatterns>> known_;  // the last few, newest first
  std::vector<Constant> constants_;                 // the last few
  struct Last {
    std::vector<uint8_t> raw;
    arrow::Packed packed;
  };
  std::array<Last, 9> last_;
  // Of the batch under way: the patterns of its rows, those that there are, and the numbers here of the range's.
  std::vector<uint32_t> numbers_, used_, here_;
  // Room for columns, and for values by pattern.
  std::vector<uint32_t> programs_, places_;
  std::vector<int32_t> narrow_, narrowOf_, ends_;
  std::vector<int64_t> wide_, wideOf_;
};

/// Encoders of a launch, one a thread that needs one: what they know serves all ranges.
class Encoders {
 public:
  arrow::Message encode(const FixedNames& fixed, const LaunchNames& names, const AccessRows& rows, const Patterns& patterns);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<AccessEncoder>> idle_;
};

}  // namespace tilesight::record
