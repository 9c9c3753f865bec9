#include "support/wildcard.h"

#include <cstddef>

namespace tilesight {
namespace {

/// One character of a pattern: where it ends, and whether it takes `c`.
struct Step {
  size_t end;
  bool takes;
};

/// The set at `pattern[at] == '['`. One that is not closed is a bracket like any other character.
Step stepOfSet(std::string_view pattern, size_t at, unsigned char c) {
  size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (const size_t first = i; i < pattern.size() && (pattern[i] != ']' || i == first);) {
    const auto next = [&]() -> unsigned char {
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      return static_cast<unsigned char>(pattern[i++]);
    };
    const unsigned char low = next();
    unsigned char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      ++i;
      high = next();
    }
    found |= low <= c && c <= high;
  }
  if (i >= pattern.size()) return {at + 1, c == '['};
  return {i + 1, found != negated};
}

Step step(std::string_view pattern, size_t at, char c) {
  if (pattern[at] == '?') return {at + 1, true};
  if (pattern[at] == '[') return stepOfSet(pattern, at, static_cast<unsigned char>(c));
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  return {at + 1, pattern[at] == c};
}

}  // namespace

bool matchesWildcard(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  // Where the last `*` was, and the text that it has taken: a mismatch after it gives it one more character.
  size_t star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      taken = t;
      continue;
    }
    if (p < pattern.size()) {
      if (const Step next = step(pattern, p, text[t]); next.takes) {
        p = next.end;
        ++t;
        continue;
      }
    }
    if (star == std::string_view::npos) return false;
    p = star;
    t = ++taken;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tilesight
