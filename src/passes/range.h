// What integers can be: bounds and divisibility of scalars and of all elements of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/operation.h"
#include "support/result.h"

namespace tilesight::passes {

/// Every element v: low <= v <= high as a signed integer (i1: 0 or 1), and v = residue (mod modulus). A modulus
/// of 0 means that v is `residue`, of 1 that nothing is known of its divisibility.
struct IntegerRange {
  int64_t low = INT64_MIN, high = INT64_MAX;
  uint64_t modulus = 1;
  int64_t residue = 0;

  static IntegerRange exactly(int64_t value) { return {value, value, 0, value}; }
  static IntegerRange between(int64_t low, int64_t high);
  /// All values of an integer of `width` bits (1 to 64).
  static IntegerRange all(uint32_t width);
  bool isExact() const { return low == high; }
  /// True if every value is a multiple of `divisor` (> 0).
  bool isMultipleOf(uint64_t divisor) const;
  bool contains(int64_t value) const;
  std::string str() const;
};

/// What the caller of a kernel promises. An empty one promises what the text says (tt.divisibility) only.
struct Assumptions {
  std::optional<int64_t> grid[3];                          // number of programs along x, y, z
  std::unordered_map<std::string, IntegerRange> arguments;  // by name, without %

  /// "grid.x=16, N=1024, M=1..4096, K%64=0", separated by spaces or commas. Errors: what cannot be read.
  static Result<Assumptions> parse(std::string_view text);
};

/// Answers for the module as it is now: make a new one after edits. Nothing is assumed of values that it does
/// not understand. Wrap-around is respected: where an operation may wrap, all values are possible.
class RangeAnalysis {
 public:
  explicit RangeAnalysis(Assumptions assumptions = {}) : assumptions_(std::move(assumptions)) {}

  /// Of an integer, an index, or a tensor of them with up to 64 bits; of anything else, everything.
  IntegerRange of(const ir::Value* value);

  /// Bounds of a - b over all pairs of elements that meet, as mathematical integers that saturate; sees that terms
  /// cancel, and that a loop's variable is below its bound.
  std::pair<int64_t, int64_t> difference(const ir::Value* a, const ir::Value* b);

  /// What an i1, or every element of a tensor of them, always is; nothing if it may be either.
  std::optional<bool> truth(const ir::Value* value);

  /// How often the body of an scf.for runs, at most; nothing if that is not known.
  std::optional<int64_t> maxTrips(const ir::Operation& loop);

 private:
  struct Linear;
  IntegerRange compute(const ir::Value* value);
  IntegerRange ofResult(const ir::Value* value, const ir::Operation& op, uint32_t width);
  IntegerRange ofArgument(const ir::Value* value, uint32_t width);
  IntegerRange ofInduction(const ir::Operation& loop, uint32_t width);
  IntegerRange ofCarried(const ir::Value* value, const ir::Operation& loop, uint32_t width);
  bool endsAtBound(const ir::Operation& loop);
  Linear linear(const ir::Value* value, int depth);

  Assumptions assumptions_;
  std::unordered_map<const ir::Value*, IntegerRange> known_;
  std::unordered_map<const ir::Value*, bool> busy_;
  int depth_ = 0;
};

}  // namespace tilesight::passes
