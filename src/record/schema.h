// The tables of a trace: docs/trace.md.
#pragma once

#include <array>

#include "arrow/schema.h"

namespace tilesight::record {

enum class Table : uint8_t { Launches, Tensors, Programs, Accesses, Findings };
inline constexpr size_t kTables = 5;

/// With the folder's name.
const arrow::Schema& schemaOf(Table table);
inline constexpr std::array<Table, kTables> kAllTables = {Table::Launches, Table::Tensors, Table::Programs, Table::Accesses,
                                                          Table::Findings};

/// Axes of a tile that a row of `accesses` has columns for, each of them size, stride, from, to.
inline constexpr size_t kAxes = 4;

/// Columns of `accesses`, by number.
namespace at {
enum : size_t {
  launch, program, number, op, kind, operation, tensor, file, line, column, variable, trip, outerTrip, element, elementBytes,
  elements, active, bytes, base, low, high, form, mask, rank, axes, faults = axes + 16, cells, columns
};
}  // namespace at

}  // namespace tilesight::record
