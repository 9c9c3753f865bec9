// The first NaN or infinity that an operation of the kernel makes of operands that have none.
#pragma once

#include <optional>

#include "trace/slice.h"

namespace tilesight::trace {

/// An operand of the operation, at the elements that the result came from.
struct OperandSeen {
  std::string name;        // the variable, "" if it has no name
  std::vector<int64_t> shape;  // {}: of one element, or the variable was broadcast to the operand
  Region elements;         // of the operand
  Statistics values;
  std::string value;       // of one element
};

struct NonFinite {
  bool isNan = false;      // else an infinity
  std::array<int64_t, 3> program{};
  int64_t event = 0;       // which of the operations that the program executes; for followValue
  uint32_t site = 0;       // index in Values::sites()
  unsigned result = 0;
  bool isPart = false;     // on the way to the variable that it has the name of
  int64_t element = 0;     // row-major
  std::vector<int64_t> shape;
  std::vector<Iteration> iterations;
  std::string operation;   // "exp", "-"
  std::string value;       // "nan", "-inf"
  int64_t inTile = 1;      // how many elements of the result are such, and new
  std::vector<OperandSeen> operands;
  Slice slice;
};

struct NonFiniteReport {
  std::optional<NonFinite> first;     // of either kind
  std::optional<NonFinite> firstNan;  // if `first` is an infinity: the first NaN after it
  int64_t programs = 0;               // that were looked at
  /// Tensors whose loaded elements hold some already: their first.
  struct Input {
    std::string name;
    bool isNan = false;
    std::vector<int64_t> index;
    std::array<int64_t, 3> program{};
  };
  std::vector<Input> inputs;
  std::string stopped;                // programs could not be followed to their end
};

/// Looks at all programs in their order, and ends with the first NaN. What is loaded, constant, or chosen by a select
/// is not made: a NaN is new if no operand has one at the elements it came from, an infinity if none has either.
Result<NonFiniteReport> firstNonFinite(const Values& values, unsigned threads = 0);

}  // namespace tilesight::trace
