// Bundles as zip files, through libzip. All entries must be stored, not compressed: their sizes are
// then bounded by the file's own size, and tools can map them in place.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <unordered_map>

#include <fmt/format.h>
#include <zip.h>

#include "launch/archive_impl.h"
#include "launch/zip_offsets.h"

namespace tilesight::launch {
namespace {

struct ZipCloser {
  void operator()(zip_t* zip) const { zip_discard(zip); }
};
struct ZipFileCloser {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, ZipCloser>;

class ZipEntryReader : public EntryReader {
 public:
  ZipEntryReader(const Archive& archive, std::string name, zip_file_t* file)
      : archive_(archive), name_(std::move(name)), file_(file) {}

  Status read(std::span<uint8_t> out) override {
    while (!out.empty()) {
      const zip_int64_t count = zip_fread(file_.get(), out.data(), out.size());
      if (count < 0) return failure(damaged());
      if (count == 0) return failure(archive_.error(fmt::format("{} is shorter than it says", name_)));
      out = out.subspan(static_cast<size_t>(count));
    }
    return {};
  }

  Status finish() override {
    uint8_t extra = 0;
    const zip_int64_t count = zip_fread(file_.get(), &extra, 1);  // checks the CRC at the end
    if (count < 0) return failure(damaged());
    if (count > 0) return failure(archive_.error(fmt::format("{} is longer than it says", name_)));
    return {};
  }

 private:
  Diagnostic damaged() {
    return archive_.error(
        fmt::format("{} cannot be read: {}", name_, zip_error_strerror(zip_file_get_error(file_.get()))));
  }

  const Archive& archive_;
  std::string name_;
  std::unique_ptr<zip_file_t, ZipFileCloser> file_;
};

class ZipArchive : public Archive {
 public:
  /// `file`: the zip's, if it lies in one.
  ZipArchive(std::string name, Zip zip, std::shared_ptr<const File> file)
      : Archive(std::move(name)), zip_(std::move(zip)), file_(std::move(file)) {}

  /// Reads the list of entries and refuses what a bundle never has.
  Status index(uint64_t archiveBytes) {
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const auto number = static_cast<zip_uint64_t>(i);
      zip_stat_t info;
      zip_stat_init(&info);
      if (zip_stat_index(zip_.get(), number, ZIP_FL_ENC_RAW, &info) != 0 || !info.name)
        return failure(error(fmt::format("entry {} of the zip cannot be read", i)));
      std::string entry = info.name;
      if (entry.ends_with('/') && isSafeName(entry.substr(0, entry.size() - 1)))
        continue;  // a folder
      if (!isSafeName(entry))
        return failure(error(fmt::format("the zip names \"{}\", which is not a name a bundle may use",
                                         printable(entry)),
                             "do not trust this file: it may be made to write outside its folder"));
      if (info.comp_method != ZIP_CM_STORE || info.encryption_method != ZIP_EM_NONE)
        return failure(error(fmt::format("{} is compressed or encrypted, entries must be stored", entry),
                             "zip it again with zip -0"));
      if (info.size > archiveBytes || info.comp_size > archiveBytes)
        return failure(error(fmt::format("{} claims {} bytes, the whole file has {}", entry, info.size,
                                         archiveBytes)));
      if (!entries_.try_emplace(entry, Entry{number, info.size}).second)
        return failure(error(fmt::format("{} is there twice", entry)));
    }
    return {};
  }

  Result<uint64_t> size(const std::string& name) override {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return failure(missing(name));
    return found->second.bytes;
  }

  Result<std::unique_ptr<EntryReader>> reader(const std::string& name) override {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return failure(missing(name));
    zip_file_t* file = zip_fopen_index(zip_.get(), found->second.number, 0);
    if (!file)
      return failure(error(fmt::format("{} cannot be opened: {}", name, zip_strerror(zip_.get()))));
    return std::make_unique<ZipEntryReader>(*this, name, file);
  }

  std::optional<FilePlace> place(const std::string& name) override {
    const auto entry = entries_.find(name);
    if (!file_ || entry == entries_.end()) return {};
    if (!offsets_) offsets_ = zipOffsets(file_->number());
    const auto found = offsets_->find(name);
    struct stat info {};
    if (found == offsets_->end() || fstat(file_->number(), &info) != 0) return {};
    const auto bytes = static_cast<uint64_t>(info.st_size);
    if (found->second > bytes || entry->second.bytes > bytes - found->second) return {};
    return FilePlace{file_, found->second};
  }

 private:
  struct Entry {
    zip_uint64_t number;
    uint64_t bytes;
  };

  static std::string printable(const std::string& name) {
    std::string out;
    for (char c : name.substr(0, 80)) out += c < ' ' || c > '~' ? '?' : c;
    return out;
  }

  Diagnostic missing(const std::string& name) const {
    if (!isSafeName(name))
      return error(fmt::format("\"{}\" leads out of the bundle", printable(name)));
    return error(fmt::format("{} is missing", name));
  }

  Zip zip_;
  std::shared_ptr<const File> file_;
  std::unordered_map<std::string, Entry> entries_;
  std::optional<std::unordered_map<std::string, uint64_t>> offsets_;  // once one is asked for
};

/// Takes `source` over.
Result<std::unique_ptr<Archive>> openSource(zip_source_t* source, const std::string& name,
                                            std::shared_ptr<const File> file = nullptr) {
  zip_stat_t info;
  zip_stat_init(&info);
  uint64_t bytes = 0;
  if (zip_source_stat(source, &info) == 0 && (info.valid & ZIP_STAT_SIZE)) bytes = info.size;
  zip_error_t zipError;
  zip_error_init(&zipError);
  zip_t* zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &zipError);
  if (!zip) {
    const std::string reason = zip_error_strerror(&zipError);
    zip_error_fini(&zipError);
    zip_source_free(source);
    return failure(Diagnostic{name, 0, 0, "is not a whole zip file: " + reason,
                              "it is cut off, damaged or no bundle: copy or save it again"});
  }
  zip_error_fini(&zipError);
  auto archive = std::make_unique<ZipArchive>(name, Zip(zip), std::move(file));
  TS_CHECK(archive->index(bytes));
  return archive;
}

}  // namespace

Result<std::unique_ptr<Archive>> openZip(const std::string& path) {
  // One file for libzip and for what is mapped, even if another one gets its name meanwhile.
  auto file = std::make_shared<const File>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::FILE* stream = *file ? fdopen(fcntl(file->number(), F_DUPFD_CLOEXEC, 0), "rb") : nullptr;
  zip_error_t zipError;
  zip_error_init(&zipError);
  zip_source_t* source = stream ? zip_source_filep_create(stream, 0, -1, &zipError) : nullptr;
  zip_error_fini(&zipError);
  if (!source) {
    if (stream) std::fclose(stream);
    return failure(Diagnostic{path, 0, 0, "cannot be opened", {}});
  }
  return openSource(source, path, std::move(file));
}

Result<std::unique_ptr<Archive>> openZipBytes(std::span<const uint8_t> bytes,
                                              const std::string& name) {
  zip_error_t zipError;
  zip_error_init(&zipError);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &zipError);
  zip_error_fini(&zipError);
  if (!source) return failure(Diagnostic{name, 0, 0, "cannot be opened", {}});
  return openSource(source, name);
}

}  // namespace tilesight::launch
