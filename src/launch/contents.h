// Turns the storages of successive launches into the contents of a bundle: what is uniform, or was
// stored before, is not stored again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/launch.h"
#include "launch/manifest.h"

namespace tilesight::launch {

/// A read-only mapping of a whole file.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path, uint64_t bytes);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  const uint8_t* data() const { return data_; }

 private:
  const uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
};

class ContentStore {
 public:
  /// Files go to `folder`/storages, which exists.
  explicit ContentStore(std::string folder) : folder_(std::move(folder)) {}

  /// The number of a content that has the storage's bytes as they are now.
  Result<uint32_t> add(const Storage& storage);
  const std::vector<Content>& contents() const { return contents_; }
  /// Lets go of the files: nothing can be added any more.
  void unmap() { files_.clear(); }
  uint64_t storedBytes() const { return storedBytes_; }

 private:
  /// The bytes of a chunk in content `number`; null means that all are zero. Only for contents that
  /// fill with zeros.
  const uint8_t* chunk(uint32_t number, uint64_t offset) const;
  bool equals(uint32_t number, const Storage& storage) const;
  Result<uint32_t> store(const Storage& storage, Content content);

  /// The versions of one storage: the first whole one, and the last one.
  struct Versions {
    uint32_t root = 0, last = 0;
  };
  std::string folder_;
  std::vector<Content> contents_;
  std::vector<MappedFile> files_;                            // one a content
  std::vector<std::map<uint64_t, std::pair<uint64_t, uint64_t>>> places_;  // offset -> bytes, in file
  std::map<std::pair<uint64_t, uint64_t>, Versions> known_;  // by recorded base and size
  uint64_t storedBytes_ = 0;
};

}  // namespace tilesight::launch
