#include "passes/text_diff.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tilesight::passes {

namespace {

constexpr size_t kAround = 2;
constexpr size_t kMostCells = 16 << 20;  // of the table; larger texts are shown from the first to the last difference

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  size_t number;
  std::string_view line;
};

/// One text turned into the other with as few lines as there are.
std::vector<Edit> edits(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const size_t rows = a.size() - head - tail, columns = b.size() - head - tail;
  std::vector<Edit> out;
  for (size_t i = 0; i < head; ++i) out.push_back({' ', i, a[i]});
  // common[i][j]: lines that the rests after i and j have in common.
  const size_t width = columns + 1;
  std::vector<uint32_t> common(rows * columns <= kMostCells ? (rows + 1) * width : 0);
  if (!common.empty())
    for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;)
        common[i * width + j] = a[head + i] == b[head + j] ? common[(i + 1) * width + j + 1] + 1 : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && !common.empty() && a[head + i] == b[head + j]) {
      out.push_back({' ', head + i, a[head + i]});
      ++i, ++j;
    } else if (i < rows && (j == columns || common.empty() || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      out.push_back({'-', head + i, a[head + i]});
      ++i;
    } else {
      out.push_back({'+', head + j, b[head + j]});
      ++j;
    }
  }
  for (size_t k = a.size() - tail; k < a.size(); ++k) out.push_back({' ', k, a[k]});
  return out;
}

}  // namespace

std::string textDiff(const std::string& expected, const std::string& found) {
  if (expected == found) return {};
  const std::vector<Edit> all = edits(linesOf(expected), linesOf(found));
  std::string out;
  bool skipped = false;
  for (size_t i = 0; i < all.size(); ++i) {
    bool near = false;
    for (size_t j = i < kAround ? 0 : i - kAround; j < std::min(all.size(), i + kAround + 1); ++j) near |= all[j].sign != ' ';
    if (!near) {
      skipped = true;
      continue;
    }
    if (skipped && !out.empty()) out += "     ...\n";
    skipped = false;
    out += fmt::format("{}{:>4}  {}\n", all[i].sign, all[i].number + 1, all[i].line);
  }
  return out.empty() ? "  they differ in how the last line ends\n" : out;
}

}  // namespace tilesight::passes
