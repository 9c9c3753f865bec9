#include "findings/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "support/open_flags.h"
#include "support/system.h"

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

std::string linkTarget(const std::string& path) {
  std::error_code error;
  std::filesystem::path target = path;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(target, error); ++links)
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  return target.generic_string();
}

bool isDevice(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

namespace {

/// The open stream that a path names: /dev/fd/N, or the file that standard output or error goes to. -1: none.
int openStream(const std::string& path) {
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && stop == end) return number;
  }
#if !defined(_WIN32)  // where files have no numbers that stat tells
  struct stat named, stream;
  if (stat(path.c_str(), &named) != 0) return -1;
  for (const int number : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(number, &stream) == 0 && stream.st_dev == named.st_dev && stream.st_ino == named.st_ino) return number;
#endif
  return -1;
}

bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Status writeFile(const std::string& path, const std::string& text) {
  const auto wrong = [&](int error) {
    return failure(Diagnostic{path, 0, 0,
                              error ? fmt::format("cannot be written: {}", std::strerror(error)) : "cannot be written",
                              "choose another place"});
  };
  if (const int stream = openStream(path); stream >= 0) {
    std::fflush(nullptr);
    return writeAll(stream, text) ? Status() : wrong(errno);
  }
  if (isDevice(path)) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_BINARY);
    if (file < 0) return wrong(errno);
    const bool good = writeAll(file, text);
    const int error = errno;
    return close(file) == 0 && good ? Status() : wrong(error);
  }
  const std::string target = linkTarget(path);
  // Nobody can have put a link there: the name is new.
  std::string part;
  int file = -1;
  std::random_device random;
  for (int attempt = 0; file < 0 && attempt < 100; ++attempt) {
    part = fmt::format("{}.part-{:08x}", target, random());
    file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_BINARY, 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) return wrong(errno);
  bool good = true;
#if !defined(_WIN32)
  struct stat old;
  good = stat(target.c_str(), &old) != 0 || fchmod(file, old.st_mode & 07777) == 0;
#endif
  good = good && writeAll(file, text);
  int error = good ? 0 : errno;
  if (close(file) != 0 && good) good = false, error = errno;
  if (good) {
    const Status replaced = support::replaceFile(part, target);
    if (replaced) return {};
    std::remove(part.c_str());
    return failure(Diagnostic{path, 0, 0, "cannot be written: " + replaced.error().message, "choose another place"});
  }
  std::remove(part.c_str());
  return wrong(error);
}

}  // namespace tilesight::findings
