// Two axes of a tensor as a picture of bounded size: its values, or how often its elements were accessed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/workspace.h"

namespace tilesight::server {

struct SliceRequest {
  size_t argument = 0;
  std::string layer;         // reads, writes, accesses, untouched, rewritten, writer, first, before, after; program; inputs; difference, wrong
  int rows = -1, columns = -1;  // axes; -1: none (a picture one high or wide)
  std::vector<int64_t> at;   // index along the other axes
  int64_t fold = 0;          // tensors of one axis: elements a row; 0: one row
  int64_t row0 = 0, row1 = 0, column0 = 0, column1 = 0;  // window; row1, column1 0: to the end
  int64_t height = 256, width = 256;  // cells at most
  int64_t program = 0;       // layer program: which
  int64_t op = -1;           // layer program: by this operation only; -1: by all
  std::string brush;         // layers of accesses: of these programs only (footprint.h); "": of all
  int64_t of = -1;           // layer inputs: of an element of this tensor
  std::vector<int64_t> element;
  std::shared_ptr<const Expectation> expected;  // layers difference, wrong
};

inline constexpr int64_t kMaxSide = 2048;

/// Packed: `value` (f32 [h, w]; of the elements of a cell the largest, of values the mean) and `kind` (u8: 0 number,
/// 1 NaN in the cell, 2 infinity, 4 nothing there, 5 accessed although it is outside of the tensor), `histogram` (f64 [64]
/// between min and max); meta: window, cell size, min, max, mean, nan, inf, zero, elements, outside (accesses that lie
/// outside), cell (neighbours in memory that share a number, the mean), and `bounds` (rows, columns) if there is a margin around them. Errors: no such argument, layer, axis or index.
Result<std::string> slice(const Loaded& loaded, const SliceRequest& request);

}  // namespace tilesight::server
