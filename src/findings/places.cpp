#include "findings/places.h"

#include <filesystem>

#include <fmt/format.h>

#include "support/path.h"

namespace tilesight::findings {

namespace fs = std::filesystem;

std::string repositoryRoot(const std::string& directory) {
  std::error_code error;
  for (fs::path at = support::pathOf(directory).lexically_normal(); !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return support::textOf(at);
    if (at == at.parent_path()) break;
  }
  return directory;
}

std::string absolutePath(const std::string& path, const std::string& directory) {
  if (path.empty()) return path;
  return support::textOf((support::pathOf(directory) / support::pathOf(path)).lexically_normal());
}

std::string uriPath(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || (byte && std::string_view("-._~/@!$&'()*+,;=").find(c) != std::string_view::npos);
    if (plain) out += c;
    else out += fmt::format("%{:02X}", byte);
  }
  return out;
}

uint32_t characterColumn(std::string_view line, uint32_t column) {
  if (column == 0 || line.empty()) return column;
  uint32_t characters = 1;
  for (size_t i = 0; i + 1 < column && i < line.size(); ++i)
    characters += (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
  if (column > line.size() + 1) characters += column - static_cast<uint32_t>(line.size()) - 1;
  return characters;
}

}  // namespace tilesight::findings
