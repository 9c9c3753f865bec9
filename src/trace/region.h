// Sets of elements of a tensor, as the few boxes that people read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/launch.h"

namespace tilesight::trace {

/// first[d] <= index[d] < past[d] on every axis.
struct Box {
  std::vector<int64_t> first, past;
  int64_t count() const;
  /// "3, 0:512"
  std::string text() const;
};

/// Elements of one array.
struct Region {
  std::vector<Box> boxes;  // disjoint, in the order of their first elements; if not `exact`, one around them all
  int64_t count = 0;       // elements
  bool exact = true;
  /// "x[3, 0:512]", "x[0:4], x[8:12]", "1,024 elements within x[0:64, 0:64]", "x" (of no axes).
  std::string text(const std::string& name) const;
};

/// `elements`: row-major numbers in an array of this shape, ascending, each once. At most `limit` boxes are given.
Region regionOf(const std::vector<int64_t>& shape, const std::vector<int64_t>& elements, size_t limit = 4);

/// Where an element is that lies `offset` elements behind a view's element [0,..,0]: an index per axis. False if the
/// view has no such element; then the index lies outside the shape, or there is none.
bool indexInView(const launch::View& view, int64_t offset, std::vector<int64_t>* index);

/// The index as a row-major number, and back.
int64_t rowMajorNumber(const std::vector<int64_t>& shape, const std::vector<int64_t>& index);
std::vector<int64_t> indexOfNumber(const std::vector<int64_t>& shape, int64_t number);

/// Elements of a view by their offsets, any order and number. Those that it does not have: `*outside`.
Region regionOfView(const launch::View& view, std::vector<int64_t> offsets, int64_t* outside, size_t limit = 4);

}  // namespace tilesight::trace
