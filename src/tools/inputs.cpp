#include "tools/inputs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "launch/bundle.h"
#include "record/origin.h"
#include "record/reader.h"

namespace tilesight::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t lookedAt = 4096;

tl::unexpected<Diagnostic> wrong(const std::string& path, std::string what, std::string remedy) {
  return failure(Diagnostic{path, 0, 0, std::move(what), std::move(remedy)});
}

std::string beginning(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(lookedAt, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

std::vector<std::string> bundlesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".tsb") paths.push_back(entry.path().generic_string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// As their launches were made: by the number of the first launch, then by name; those that cannot be read last.
std::vector<std::string> inOrderOfLaunches(const std::vector<std::string>& paths) {
  std::vector<std::pair<uint64_t, std::string>> numbered;
  for (const std::string& path : paths) {
    const auto bundle = launch::BundleReader::open(path);
    const auto number = bundle && bundle->launches() ? bundle->launchNumber(0) : failure("");
    numbered.emplace_back(number ? *number : UINT64_MAX, path);
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> ordered;
  for (auto& [number, path] : numbered) ordered.push_back(std::move(path));
  return ordered;
}

bool looksLikeIr(const std::string& path, std::string_view text) {
  const std::string extension = fs::path(path).extension().string();
  for (const char* known : {".ttir", ".ttgir", ".mlir"})
    if (extension == known) return true;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return false;
  text.remove_prefix(first);
  for (const char* start : {"module", "#loc", "tt.func", "\"builtin.module\"", "// -----"})
    if (text.starts_with(start)) return true;
  return false;
}

}  // namespace

Result<InputKind> inputKind(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return wrong(path, "there is no such file or folder", {});
  if (fs::is_directory(path, error)) {
    if (fs::exists(fs::path(path) / "bundle.json", error)) return InputKind::Bundle;
    if (record::isTrace(path)) return InputKind::Trace;
    if (!bundlesIn(path).empty()) return InputKind::FolderOfBundles;
    return wrong(path, "is a folder without bundles: it has neither .tsb files nor a bundle.json",
                 "tilesight run --save writes bundles");
  }
  if (!fs::is_regular_file(path, error)) return wrong(path, "is neither a file nor a folder", "give a .tsb bundle");
  if (!std::ifstream(path, std::ios::binary)) return wrong(path, "cannot be read", {});
  const std::string text = beginning(path);
  if (text.empty()) return wrong(path, "is an empty file", "tilesight run --save writes bundles");
  if (text.starts_with("PK")) return InputKind::Bundle;
  if (path.ends_with(".py"))
    return wrong(path, "is a Python program, no bundle", fmt::format("tilesight run {} checks its kernels", path));
  if (text.find("\"tilesight-report\"") != text.npos)
    return wrong(path, "is a report that --json wrote, no bundle", "tilesight run --save writes bundles");
  if (text.find("\"tilesight-baseline\"") != text.npos)
    return wrong(path, "is a baseline, no bundle", fmt::format("give it with --baseline {}", path));
  if (text.find('\0') != text.npos)
    return wrong(path, "is neither a bundle (a zip file) nor text", "tilesight run --save writes bundles");
  return InputKind::Text;
}

Result<std::vector<std::string>> bundlesAt(const std::string& path) {
  const Result<InputKind> kind = inputKind(path);
  if (!kind) return failure(kind.error());
  if (*kind == InputKind::FolderOfBundles) return inOrderOfLaunches(bundlesIn(path));
  if (*kind == InputKind::Bundle) return std::vector<std::string>{path};
  if (*kind == InputKind::Trace) {
    auto bundles = record::originOf(path);
    if (!bundles) return failure(bundles.error());
    if (bundles->empty())
      return wrong(path, "is a trace without its launches: there is no bundle in its folder bundles",
                   "its tables can be read all the same (tilesight info); tilesight trace FILE -o NEW keeps launches");
    return inOrderOfLaunches(std::move(*bundles));
  }
  if (looksLikeIr(path, beginning(path)))
    return wrong(path, "is IR text: a kernel without a launch, so there is no grid and there are no arguments to run",
                 fmt::format("tilesight info {} shows it; tilesight run --save keeps launches", path));
  return wrong(path, "is a text file, no bundle", "a bundle ends in .tsb and is written by tilesight run --save");
}

}  // namespace tilesight::tools
