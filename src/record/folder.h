// The files of a trace: one folder a table, of segments that are whole.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "arrow/file_writer.h"
#include "record/schema.h"

namespace tilesight::record {

/// A segment is closed after so many launches, or bytes.
inline constexpr uint32_t kMaxLaunches = 64;
inline constexpr int64_t kWorthOne = int64_t{1} << 20;

class Folder {
 public:
  /// Makes the folder of a trace. Errors: it cannot be made, or there is something in it (`shared`: other than tables).
  static Result<std::unique_ptr<Folder>> create(const std::string& path, bool shared = false);

  const std::string& path() const { return path_; }
  /// The dictionaries of a table, one a column.
  std::vector<arrow::Names>& names(Table table) { return tables_[static_cast<size_t>(table)].names; }
  arrow::Packer& packer() { return packer_; }

  /// `launch`: segments are named by the first launch that they have rows of.
  Status append(Table table, const arrow::Message& batch, uint32_t launch);
  /// All rows of a launch were appended: segments of some size are closed; with `all`, every one.
  Status endLaunch(bool all = false);
  /// Closes all segments; a table that has none gets an empty one, under this launch's number.
  Status finish(uint32_t launch);
  /// Bytes of all segments that are whole.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Files {
    std::vector<arrow::Names> names;
    std::optional<arrow::FileWriter> open;
    uint32_t launch = 0, segment = 0;
    uint32_t launches = 0;  // in the open segment
    uint64_t whole = 0;     // segments
  };
  Status close(Files& files);

  std::string path_;
  std::array<Files, kTables> tables_;
  arrow::Packer packer_;
  uint64_t bytes_ = 0;
};

}  // namespace tilesight::record
