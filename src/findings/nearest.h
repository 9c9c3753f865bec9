// The nearest of several names, for "did you mean".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilesight::findings {

/// The candidate with the smallest edit distance to `name` (case ignored; `_` and `-` are equal), or
/// "" if none is closer than about a third of the name's length.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

/// `; did you mean X?`, or "" without a near candidate.
std::string didYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace tilesight::findings
