#include "tools/text_files.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

namespace tilesight::tools {

namespace fs = std::filesystem;

namespace {
constexpr size_t maxTextBytes = 256 << 20;
}

Result<std::string> readText(const std::string& file) {
  const auto wrong = [&](std::string what) { return failure(Diagnostic{file, 0, 0, std::move(what), {}}); };
  std::ostringstream out;
  if (file == "-") {
    out << std::cin.rdbuf();
  } else {
    std::error_code error;
    if (!fs::exists(file, error)) return wrong("there is no such file");
    if (!fs::is_regular_file(file, error) && fs::is_directory(file, error)) return wrong("is a folder, not IR text");
    std::ifstream in(file, std::ios::binary);
    if (!in) return wrong("cannot be read");
    out << in.rdbuf();
  }
  std::string text = std::move(out).str();
  if (text.size() > maxTextBytes) return wrong("is larger than 256 MiB");
  if (text.find('\0') != std::string::npos) return wrong("is not text");
  if (text.starts_with("PK")) return wrong("is a bundle, not IR text; tilesight info shows what is in it");
  return text;
}

Status writeWhole(const std::string& file, const std::string& text) {
  const std::string part = fmt::format("{}.part{}", file, static_cast<unsigned>(std::hash<std::string>{}(text) & 0xFFFFFF));
  const auto wrong = [&](std::string what) {
    std::error_code ignored;
    fs::remove(part, ignored);
    return failure(Diagnostic{file, 0, 0, std::move(what), {}});
  };
  {
    std::ofstream out(part, std::ios::binary);
    if (!out) return wrong("cannot be written");
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.flush();
    if (!out) return wrong("could not be written whole");
  }
  std::error_code error;
  // Devices and pipes cannot be replaced.
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    fs::remove(part, error);
    return out ? Status{} : wrong("could not be written whole");
  }
  fs::rename(part, file, error);
  return error ? wrong("cannot be written: " + error.message()) : Status{};
}

}  // namespace tilesight::tools
