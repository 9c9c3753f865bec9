#include "findings/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace tilesight::findings {
namespace {

char folded(char c) {
  if (c == '_') return '-';
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (folded(a[i]) != folded(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > 100) return {};
  std::string_view best;
  size_t bestDistance = std::max<size_t>(name.size() / 3, 1) + 1;
  for (std::string_view candidate : candidates) {
    const size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string didYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(name, candidates);
  return near.empty() ? std::string{} : "; did you mean " + std::string(near) + "?";
}

}  // namespace tilesight::findings
