// Rows of the table `programs`.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arrow/batch.h"

namespace tilesight::record {

/// What one program did.
struct ProgramSums {
  uint32_t program = 0;
  int64_t accesses = 0, loads = 0, stores = 0, atomics = 0, elements = 0, active = 0, read = 0, written = 0, faulty = 0, dots = 0,
          multiplyAdds = 0, reductions = 0;
};

/// One row a program; a program weighs 1.
class ProgramRows {
 public:
  void add(const ProgramSums& sums) { rows_.push_back(sums); }
  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  uint64_t weight() const { return rows_.size(); }
  void clear() { rows_.clear(); }
  void startProgram(uint32_t) {}
  size_t programs() const { return rows_.size(); }
  uint32_t programNumber(size_t i) const { return rows_[i].program; }
  uint64_t append(const ProgramRows& others, size_t i) {
    rows_.push_back(others.rows_[i]);
    return 1;
  }
  ProgramRows takeAfter() { return {}; }  // no program fills a batch

  arrow::Message encode(uint32_t launch, const std::array<int64_t, 3>& grid, arrow::Packer& packer) const;

 private:
  std::vector<ProgramSums> rows_;
};

}  // namespace tilesight::record
