// Elements of tiles and tensors as numbers and as text, whatever their kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/type.h"
#include "trace/values.h"

namespace tilesight::server {

/// What `count` elements at `data` are, `stride` bytes apart, as doubles: exact for all floats and for integers below
/// 2^53; integers are signed, i1 is 0 or 1, pointers are addresses.
void numbersOf(ir::ElementKind kind, const uint8_t* data, int64_t count, int64_t stride, double* out);

/// "-1.5", "nan", "-3", "true", "0x10040": all digits that tell the element from others of its kind.
std::string elementText(ir::ElementKind kind, const uint8_t* data);

struct Statistics {
  int64_t elements = 0, nan = 0, inf = 0, zero = 0;
  double min = 0, max = 0, mean = 0;  // of the finite ones; 0 if there are none

  int64_t finite() const { return elements - nan - inf; }
};
Statistics statisticsOf(const double* values, int64_t count);

/// "float", "int", "bool", "pointer"; "none" for views.
const char* familyOf(ir::ElementKind kind);

}  // namespace tilesight::server
