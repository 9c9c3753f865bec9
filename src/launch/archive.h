// The files inside a bundle, read-only: a zip with stored entries, or a directory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launch/file.h"
#include "support/result.h"

namespace tilesight::launch {

/// True for the names a bundle may use: relative, `/` between components of letters, digits and
/// `._-`, no component that begins with a dot, at most 255 characters. Such a name cannot lead out of
/// the archive.
bool isSafeName(std::string_view name);

/// Large storages begin at multiples of this in a zip, so that they can be mapped where they lie.
constexpr uint64_t entryAlignment = 4096;

/// One file being read from its start to its end.
class EntryReader {
 public:
  virtual ~EntryReader() = default;
  /// Fills `out`; an error if fewer bytes are left.
  virtual Status read(std::span<uint8_t> out) = 0;
  /// To be called after the last read: an error if bytes are left or the checksum is wrong.
  virtual Status finish() = 0;
};

/// Where bytes lie in a file of the system.
struct FilePlace {
  std::shared_ptr<const File> file;
  uint64_t offset = 0;
};

/// Never writes, never follows a link, never leaves the file or folder it was opened with. Names are
/// refused unless isSafeName.
class Archive {
 public:
  virtual ~Archive() = default;
  /// Opens a zip file or a directory. Errors: not there, not a bundle, damaged.
  static Result<std::unique_ptr<Archive>> open(const std::string& path);
  /// Opens a zip in memory; `bytes` must outlive the archive. `name` is for messages.
  static Result<std::unique_ptr<Archive>> openBytes(std::span<const uint8_t> bytes,
                                                    const std::string& name);

  /// Size of a file in bytes. Never larger than the archive itself.
  virtual Result<uint64_t> size(const std::string& name) = 0;
  virtual Result<std::unique_ptr<EntryReader>> reader(const std::string& name) = 0;
  /// Where the bytes of a file lie as they are, to be mapped; none if they have to be read.
  virtual std::optional<FilePlace> place(const std::string& name) = 0;

  /// A whole file as text; an error if it is larger than `limit` bytes.
  Result<std::string> text(const std::string& name, uint64_t limit);
  /// What messages call the archive: its path.
  const std::string& name() const { return name_; }
  /// An error about this archive, with the usual remedy for damage unless another is given.
  Diagnostic error(std::string message, std::string remedy = {}) const;

 protected:
  explicit Archive(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

}  // namespace tilesight::launch
