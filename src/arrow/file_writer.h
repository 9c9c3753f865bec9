// An Arrow file that appears under its name when it is whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrow/batch.h"
#include "arrow/metadata.h"
#include "support/result.h"

namespace tilesight::arrow {

class FileWriter {
 public:
  /// Writes beside `path`, under a name that begins with a dot, until finish(). Errors: the place cannot be written.
  static Result<FileWriter> open(const std::string& path, const Schema& schema);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&& other) noexcept;
  /// What was not finished is removed.
  ~FileWriter();

  /// Errors: as the system says them, with the file's name ("No space left on device").
  Status append(const Message& batch);
  Status append(std::span<const uint8_t> bytes, int32_t metadataLength, int64_t bodyLength);
  /// `names`: the dictionaries, one a column.
  Status finish(const std::vector<Names>& names, Packer& packer);
  int64_t bytes() const { return offset_; }

 private:
  FileWriter() = default;
  Status write(std::span<const uint8_t> bytes);
  void drop();

  std::string path_, temporary_;
  int fd_ = -1;
  int64_t offset_ = 0;
  Footer footer_;
};

}  // namespace tilesight::arrow
