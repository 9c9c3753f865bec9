#include "exec/source_line.h"

#include <cstdlib>
#include <string_view>

namespace tilesight::exec {

std::string sourceLine(const launch::Launch& launch, const std::string& file, uint32_t line) {
  auto it = launch.sources.find(file);
  if (it == launch.sources.end() || line == 0) return {};
  std::string_view text = it->second;
  for (uint32_t i = 1; i < line; ++i) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, text.find('\n')));
}

int64_t viewBytes(const launch::View& view) {
  int64_t bytes = ir::elementBytes(view.element), extent = bytes;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 0) return 0;
    extent += (view.shape[d] - 1) * std::abs(view.strides[d]) * bytes;
  }
  return extent;
}

}  // namespace tilesight::exec
