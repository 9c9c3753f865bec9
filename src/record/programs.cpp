#include "record/programs.h"

#include <algorithm>

#include "record/schema.h"

namespace tilesight::record {

using arrow::Buffer;
using arrow::Column;

arrow::Message ProgramRows::encode(uint32_t launch, const std::array<int64_t, 3>& grid, arrow::Packer& packer) const {
  std::vector<Column> columns;
  std::vector<uint32_t> narrow(rows_.size());
  const auto put32 = [&](auto&& value) {
    for (size_t i = 0; i < rows_.size(); ++i) narrow[i] = static_cast<uint32_t>(value(rows_[i]));
    columns.push_back({{{{}, packer.pack(Buffer::of(narrow).raw)}}, 0});
  };
  std::vector<int64_t> wide(rows_.size());
  const auto put64 = [&](int64_t ProgramSums::*value) {
    for (size_t i = 0; i < rows_.size(); ++i) wide[i] = rows_[i].*value;
    columns.push_back({{{{}, packer.pack(Buffer::of(wide).raw)}}, 0});
  };
  const int64_t x = std::max<int64_t>(1, grid[0]), y = std::max<int64_t>(1, grid[1]);
  put32([&](const ProgramSums&) { return launch; });
  put32([](const ProgramSums& row) { return row.program; });
  put32([&](const ProgramSums& row) { return row.program % x; });
  put32([&](const ProgramSums& row) { return row.program / x % y; });
  put32([&](const ProgramSums& row) { return row.program / (x * y); });
  for (auto member : {&ProgramSums::accesses, &ProgramSums::loads, &ProgramSums::stores, &ProgramSums::atomics,
                      &ProgramSums::elements, &ProgramSums::active, &ProgramSums::read, &ProgramSums::written,
                      &ProgramSums::faulty, &ProgramSums::dots, &ProgramSums::multiplyAdds, &ProgramSums::reductions})
    put64(member);
  return encodeBatch(schemaOf(Table::Programs), static_cast<int64_t>(rows_.size()), columns, packer);
}

}  // namespace tilesight::record
