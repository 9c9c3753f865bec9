// The comparison for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "diff/compare.h"

namespace tilesight::diff {

struct Comparison {
  std::array<std::string, 2> files;
  std::vector<LaunchResult> launches;
  std::array<std::vector<std::string>, 2> unpaired;  // kernels of launches that the other side has no partner for
};

enum class Verdict : uint8_t { Same, Differ, Unknown };
Verdict verdictOf(const Comparison& comparison);

std::string text(const Comparison& comparison);
/// docs/diff.md has the fields. Indented, with a final newline.
std::string json(const Comparison& comparison);

}  // namespace tilesight::diff
