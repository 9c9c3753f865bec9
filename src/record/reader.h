// A trace on disk, read and checked: whatever lies in its folder is a trace, or a clear error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrow/file_reader.h"
#include "record/schema.h"

namespace tilesight::record {

/// Does this look like a trace's folder?
bool isTrace(const std::string& path);

class Trace {
 public:
  /// Finds the segments. Errors: it is no trace, or one without segments.
  static Result<Trace> open(const std::string& path);

  const std::vector<std::string>& segments(Table table) const { return segments_[static_cast<size_t>(table)]; }
  /// All rows of a table in order, a batch at a time, with the columns that schemaOf says. Errors: a segment is broken,
  /// or has other columns.
  Status each(Table table, const std::function<Status(const arrow::Batch&)>& visit) const;

 private:
  std::array<std::vector<std::string>, kTables> segments_;
};

}  // namespace tilesight::record
