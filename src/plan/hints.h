// Promises to the compiler that the front end leaves on operations: tl.multiple_of, tl.max_contiguous,
// tl.max_constancy, and the divisibility of arguments that a kernel was specialised for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/operation.h"

namespace tilesight::plan {

/// What is promised of one value, per axis; empty: nothing. As in Triton, `contiguity[d]` and
/// `constancy[d]` speak of aligned groups of that many elements along axis d (consecutive, equal), and
/// `divisibility[d]` of the first element of each contiguous group. Pointers count in bytes.
struct Hint {
  std::vector<int64_t> divisibility, contiguity, constancy;
  /// The value wraps or is clamped at the end of an axis (`offs % M`, `where(offs < M, offs, 0)`,
  /// `minimum(offs, M - 1)`): elements past the end are led elsewhere on purpose, and a group that they
  /// break is no mistake.
  bool redirected = false;
};

/// Of the single result of an operation.
std::optional<Hint> resultHint(const ir::Operation& op);
/// Of argument `index` of a loop's body.
std::optional<Hint> argumentHint(const ir::Operation& loop, size_t index);
/// Of a parameter of the entry.
std::optional<Hint> parameterHint(const ir::Operation& function, size_t index);

}  // namespace tilesight::plan
