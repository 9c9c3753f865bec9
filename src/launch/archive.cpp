#include "launch/archive.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "launch/archive_impl.h"

namespace tilesight::launch {

bool isSafeName(std::string_view name) {
  if (name.empty() || name.size() > 255) return false;
  char previous = '/';
  for (char c : name) {
    const bool startsComponent = previous == '/';
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 128 && (std::isalnum(byte) || c == '_' || c == '-');
    if (startsComponent ? !plain : !plain && c != '.' && c != '/') return false;
    previous = c;
  }
  return previous != '/';
}

Diagnostic Archive::error(std::string message, std::string remedy) const {
  if (remedy.empty()) remedy = "the bundle is damaged or was made by another tool: save it again";
  return {name_, 0, 0, std::move(message), std::move(remedy)};
}

Result<std::string> Archive::text(const std::string& name, uint64_t limit) {
  const Result<uint64_t> bytes = size(name);
  if (!bytes) return failure(bytes.error());
  if (*bytes > limit)
    return failure(error(fmt::format("{} has {} bytes, the limit is {}", name, *bytes, limit)));
  Result<std::unique_ptr<EntryReader>> file = reader(name);
  if (!file) return failure(file.error());
  std::string content(*bytes, '\0');
  TS_CHECK((*file)->read({reinterpret_cast<uint8_t*>(content.data()), content.size()}));
  TS_CHECK((*file)->finish());
  return content;
}

Result<std::unique_ptr<Archive>> Archive::open(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return failure(Diagnostic{path, 0, 0, "there is no such file or folder", {}});
  if (std::filesystem::is_directory(status)) return openDirectory(path);
  if (std::filesystem::is_regular_file(status)) return openZip(path);
  return failure(Diagnostic{path, 0, 0, "is neither a file nor a folder", "give a .tsb bundle"});
}

Result<std::unique_ptr<Archive>> Archive::openBytes(std::span<const uint8_t> bytes,
                                                    const std::string& name) {
  return openZipBytes(bytes, name);
}

}  // namespace tilesight::launch
