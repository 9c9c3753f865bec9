// What differs between two texts, line by line.
#pragma once

#include <string>

namespace tilesight::passes {

/// The lines that differ, with two around them: `-  4  expected`, `+  4  found`, numbered in their own text. Empty if the
/// texts are equal.
std::string textDiff(const std::string& expected, const std::string& found);

}  // namespace tilesight::passes
