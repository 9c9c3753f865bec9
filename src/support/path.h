// Paths of the file system as text: UTF-8 with `/`, on Windows too (where a path is UTF-16 inside).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tilesight::support {

inline std::filesystem::path pathOf(std::string_view text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

inline std::string textOf(const std::filesystem::path& path) {
  const std::u8string text = path.generic_u8string();
  return {text.begin(), text.end()};
}

}  // namespace tilesight::support
