// Values for people: numbers, statistics, and small pictures of tiles in a terminal.
#pragma once

#include <string>

#include "findings/format.h"
#include "trace/values.h"

namespace tilesight::trace {

/// Of numbers; NaN and infinities count for nothing in min, max and mean.
struct Statistics {
  int64_t count = 0, finite = 0, nan = 0, positiveInfinity = 0, negativeInfinity = 0, zero = 0;
  double min = 0, max = 0, mean = 0;

  void add(double number);
  /// "min -3.2  max 3.6  mean 0.01, 3,072 of 8,192 are -inf"
  std::string text() const;

 private:
  double sum_ = 0;
};

/// An element as a number; integers are signed, masks 0 and 1.
double numberAt(ir::ElementKind kind, const uint8_t* bytes);
/// An element in decimal: "17", "-3.25", "nan".
std::string numberText(ir::ElementKind kind, const uint8_t* bytes);
std::string numberText(double number);

/// "f32[128, 64]", "i32", "pointers to f16[128, 64]": MLIR's type as people say it.
std::string typeText(const std::string& mlirType);

/// All of a value, lines of at most `width` columns, each with a line end: statistics, and its elements (few), or a
/// picture. Pointers: the elements that they point to. Masks: the active elements.
std::string picture(const Value& value, const launch::Launch& launch, const findings::Painter& paint, size_t width = 100);

/// "qk[17, 5]", "total"
std::string elementName(const std::string& name, const std::vector<int64_t>& shape, int64_t element);

}  // namespace tilesight::trace
