// Operations that can be replaced by values or constants.
#pragma once

#include <optional>
#include <vector>

#include "passes/rewriter.h"

namespace tilesight::passes {

/// Values that can stand for the results of `op`, made before it where they are new; empty if there are none.
std::vector<ir::Value*> fold(Rewriter& rewriter, ir::Operation& op);

/// The result of an integer operation on constants of `width` bits (sign-extended; of the operands, for
/// comparisons and conversions); nothing where it has no defined value.
std::optional<int64_t> foldInteger(std::string_view name, std::string_view predicate, int64_t a, int64_t b, uint32_t width);

}  // namespace tilesight::passes
