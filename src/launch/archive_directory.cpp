// Bundles as directories. Components are opened one by one and no link is followed, so that a name
// cannot lead out of the directory.
#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "launch/archive_impl.h"
#include "launch/file.h"

namespace tilesight::launch {
namespace {

class FileReader : public EntryReader {
 public:
  FileReader(const Archive& archive, std::string name, File file)
      : archive_(archive), name_(std::move(name)), file_(std::move(file)) {}

  Status read(std::span<uint8_t> out) override {
    while (!out.empty()) {
      const ssize_t count = ::read(file_.number(), out.data(), out.size());
      if (count < 0) return failure(archive_.error(fmt::format("{} cannot be read", name_)));
      if (count == 0) return failure(archive_.error(fmt::format("{} is shorter than it says", name_)));
      out = out.subspan(static_cast<size_t>(count));
    }
    return {};
  }

  Status finish() override {
    uint8_t extra = 0;
    if (::read(file_.number(), &extra, 1) > 0)
      return failure(archive_.error(fmt::format("{} is longer than it says", name_)));
    return {};
  }

 private:
  const Archive& archive_;
  std::string name_;
  File file_;
};

class DirectoryArchive : public Archive {
 public:
  DirectoryArchive(std::string name, File root) : Archive(std::move(name)), root_(std::move(root)) {}

  Result<uint64_t> size(const std::string& name) override {
    const Result<File> file = openFile(name);
    if (!file) return failure(file.error());
    struct stat info {};
    fstat(file->number(), &info);
    return static_cast<uint64_t>(info.st_size);
  }

  Result<std::unique_ptr<EntryReader>> reader(const std::string& name) override {
    Result<File> file = openFile(name);
    if (!file) return failure(file.error());
    return std::make_unique<FileReader>(*this, name, std::move(*file));
  }

  std::optional<FilePlace> place(const std::string& name) override {
    Result<File> file = openFile(name);
    if (!file) return {};
    return FilePlace{std::make_shared<File>(std::move(*file)), 0};
  }

 private:
  Result<File> openFile(const std::string& name) const {
    if (!isSafeName(name))
      return failure(error(fmt::format("\"{}\" leads out of the bundle", name.substr(0, 80))));
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    File folder;
    size_t start = 0;
    for (size_t slash; (slash = name.find('/', start)) != name.npos; start = slash + 1) {
      const std::string component = name.substr(start, slash - start);
      const int parent = folder ? folder.number() : root_.number();
      folder = File(openat(parent, component.c_str(), flags | O_DIRECTORY));
      if (!folder) return failure(error(fmt::format("{} is missing or a link", name)));
    }
    const int parent = folder ? folder.number() : root_.number();
    File file(openat(parent, name.c_str() + start, flags));
    if (!file) return failure(error(fmt::format("{} is missing or a link", name)));
    struct stat info {};
    if (fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode))
      return failure(error(fmt::format("{} is not a file", name)));
    return file;
  }

  File root_;
};

}  // namespace

Result<std::unique_ptr<Archive>> openDirectory(const std::string& path) {
  File root(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return failure(Diagnostic{path, 0, 0, "the folder cannot be opened", {}});
  return std::make_unique<DirectoryArchive>(path, std::move(root));
}

}  // namespace tilesight::launch
