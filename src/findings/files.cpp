#include "findings/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace tilesight::findings {

Result<std::string> readFile(const std::string& path, size_t maxBytes) {
  const auto wrong = [&](std::string what) { return failure(Diagnostic{path, 0, 0, std::move(what), {}}); };
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return wrong("there is no such file");
  if (std::filesystem::is_directory(path, error)) return wrong("is a folder");
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return wrong(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  size_t got = 0;
  while (text.size() <= maxBytes && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, got);
  const bool bad = std::ferror(file) != 0;
  std::fclose(file);
  if (bad) return wrong("cannot be read");
  if (text.size() > maxBytes) return wrong("is too large");
  return text;
}

bool isDevice(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

Status writeFile(const std::string& path, const std::string& text) {
  // What a link leads to is replaced, not the link; /dev/null and pipes are written to as they are.
  std::error_code error;
  const bool device = isDevice(path);
  const std::string target =
      !device && std::filesystem::exists(path, error) ? std::filesystem::canonical(path, error).string() : path;
  const std::string written = device ? path : fmt::format("{}.part-{}", target, getpid());
  errno = 0;
  std::FILE* file = std::fopen(written.c_str(), "wb");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  if (good && (device || std::rename(written.c_str(), target.c_str()) == 0)) return {};
  const std::string why = errno ? fmt::format(": {}", std::strerror(errno)) : "";
  if (!device) std::remove(written.c_str());
  return failure(Diagnostic{path, 0, 0, "cannot be written" + why, "choose another place"});
}

}  // namespace tilesight::findings
