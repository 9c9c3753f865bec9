// Conditions on the values of a program: "isnan(qk)", "max(abs(acc)) > 1e4 and start_n >= 64".
//
//   condition   or | and, or, not (also ||, &&, !); comparisons < <= > >= == !=; + - * /; numbers, true, false, inf, nan
//   of elements isnan isinf isfinite abs
//   of a tile   any all max min sum mean count: one number
// Tiles of different shapes are broadcast as in numpy. What holds of some element of a tile holds: any() may be left
// out. NaN compares as it does everywhere: max() and min() are NaN if an element is.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/result.h"

namespace tilesight::server {

struct Numbers {
  std::vector<int64_t> shape;   // {}: a scalar
  std::vector<double> values;
};

class Condition {
 public:
  /// Errors: "column 7: ...", with what is expected there.
  static Result<Condition> parse(const std::string& text);
  Condition(Condition&&) noexcept;
  Condition& operator=(Condition&&) noexcept;
  ~Condition();

  /// The variables in it.
  const std::set<std::string>& names() const { return names_; }
  /// Does it hold? `value` gives every variable's tile. Errors: shapes that do not fit each other.
  using Lookup = std::function<const Numbers&(const std::string& name)>;
  Result<bool> holds(const Lookup& value) const;

  struct Node;

 private:
  Condition() = default;
  std::unique_ptr<Node> root_;
  std::set<std::string> names_;
};

}  // namespace tilesight::server
