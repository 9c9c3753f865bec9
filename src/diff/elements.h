// Single elements of a view, by their index in the tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/launch.h"

namespace tilesight::diff {

/// How many elements a view has.
int64_t elementsOf(const launch::View& view);

/// Steps through the elements of a view, row-major.
class Cursor {
 public:
  explicit Cursor(const launch::View& view);
  /// Byte offset of the current element in its storage.
  int64_t offset() const { return offset_; }
  const std::vector<int64_t>& index() const { return index_; }
  void next();

 private:
  const launch::View& view_;
  int64_t bytes_, offset_;
  std::vector<int64_t> index_;
};

/// Two elements of one type.
struct Difference {
  bool same = true;       // bit for bit, or both NaN
  double absolute = 0;    // |a - b|; infinite or NaN where one is
  int64_t ulp = 0;        // floats: how many values of the type lie between them; -1: no number of them
};
Difference difference(const launch::View& view, const uint8_t* a, const uint8_t* b);

/// An element for people: "1.5", "-3", "0x7fc0 (nan)".
std::string valueText(const launch::View& view, const uint8_t* at);

}  // namespace tilesight::diff
