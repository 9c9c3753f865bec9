// What accesses have in common: all of an access but where it is and when.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "record/schema.h"
#include "tilesight/client.h"

namespace tilesight::record {

struct Pattern {
  uint32_t op = 0, kind = 0, faults = 0, element = 0, elementBytes = 0, form = 0, mask = 0;
  int32_t argument = -1, maskAll = 0;
  int64_t elements = 0;
  std::vector<int64_t> shape, strides, low, high;  // strides: one, affine; low, high: the mask's box, but for dense ones
  // Of an exact one: how many elements are active, and how far they reach, in bytes from the access's base.
  int64_t active = 0, lowByte = 0, endByte = 0;
  bool operator==(const Pattern&) const = default;

  static Pattern of(const ts_access& access);
  bool fits(const ts_access& access) const;
  /// Do the cells follow from the row? Then all such accesses differ in their base only.
  bool exact() const { return form <= TS_FORM_AFFINE && mask <= TS_FORM_AFFINE && shape.size() <= kAxes; }
};

class Patterns {
 public:
  uint32_t number(const ts_access& access);
  uint32_t number(const Pattern& pattern);
  const Pattern& operator[](uint32_t number) const { return all_[number]; }
  size_t size() const { return all_.size(); }
  void clear();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<Pattern> all_;
  std::vector<uint32_t> next_;                     // of the same hash
  std::unordered_map<uint64_t, uint32_t> byHash_;  // the last one
  std::vector<uint32_t> lastOf_;                   // by operation: nearly always the one it has again
};

}  // namespace tilesight::record
