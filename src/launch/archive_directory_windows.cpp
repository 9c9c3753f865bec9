// Bundles as directories, on Windows: no component of a name may be a link or a junction, so that a name cannot
// lead out of the directory. (Windows opens no file relative to an open folder: who can change the folder
// while it is read can put a link there after the look.)
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "launch/archive_impl.h"

namespace tilesight::launch {
namespace {

namespace fs = std::filesystem;

class FileReader : public EntryReader {
 public:
  FileReader(const Archive& archive, std::string name, std::ifstream file)
      : archive_(archive), name_(std::move(name)), file_(std::move(file)) {}

  Status read(std::span<uint8_t> out) override {
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (file_.bad()) return failure(archive_.error(fmt::format("{} cannot be read", name_)));
    if (static_cast<size_t>(file_.gcount()) != out.size())
      return failure(archive_.error(fmt::format("{} is shorter than it says", name_)));
    return {};
  }

  Status finish() override {
    if (file_.peek() != std::ifstream::traits_type::eof())
      return failure(archive_.error(fmt::format("{} is longer than it says", name_)));
    return {};
  }

 private:
  const Archive& archive_;
  std::string name_;
  std::ifstream file_;
};

class DirectoryArchive : public Archive {
 public:
  DirectoryArchive(std::string name, fs::path root) : Archive(std::move(name)), root_(std::move(root)) {}

  Result<uint64_t> size(const std::string& name) override {
    const Result<fs::path> path = pathOf(name);
    if (!path) return failure(path.error());
    std::error_code error;
    const uint64_t bytes = fs::file_size(*path, error);
    if (error) return failure(this->error(fmt::format("{} is missing or a link", name)));
    return bytes;
  }

  Result<std::unique_ptr<EntryReader>> reader(const std::string& name) override {
    const Result<fs::path> path = pathOf(name);
    if (!path) return failure(path.error());
    std::ifstream file(*path, std::ios::binary);
    if (!file) return failure(error(fmt::format("{} is missing or a link", name)));
    return std::make_unique<FileReader>(*this, name, std::move(file));
  }

  /// Files are read (see mapFile).
  std::optional<FilePlace> place(const std::string&) override { return {}; }

 private:
  Result<fs::path> pathOf(const std::string& name) const {
    if (!isSafeName(name)) return failure(error(fmt::format("\"{}\" leads out of the bundle", name.substr(0, 80))));
    fs::path path = root_;
    fs::file_type type = fs::file_type::directory;
    for (const fs::path& component : fs::path(name)) {
      std::error_code ignored;
      if (type == fs::file_type::directory) type = fs::symlink_status(path /= component, ignored).type();
      else return failure(error(fmt::format("{} is missing or a link", name)));
    }
    if (type == fs::file_type::directory) return failure(error(fmt::format("{} is not a file", name)));
    if (type != fs::file_type::regular) return failure(error(fmt::format("{} is missing or a link", name)));
    return path;
  }

  fs::path root_;
};

}  // namespace

Result<std::unique_ptr<Archive>> openDirectory(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return failure(Diagnostic{path, 0, 0, "the folder cannot be opened", {}});
  return std::make_unique<DirectoryArchive>(path, path);
}

}  // namespace tilesight::launch
