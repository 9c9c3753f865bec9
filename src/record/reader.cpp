#include "record/reader.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace tilesight::record {

namespace fs = std::filesystem;

bool isTrace(const std::string& path) {
  std::error_code error;
  return fs::is_directory(fs::path(path) / schemaOf(Table::Accesses).table, error) &&
         fs::is_directory(fs::path(path) / schemaOf(Table::Launches).table, error);
}

Result<Trace> Trace::open(const std::string& path) {
  if (!isTrace(path))
    return failure(Diagnostic{path, 0, 0, "is no trace: it has no folders launches and accesses", "tilesight trace writes traces"});
  Trace trace;
  for (Table table : kAllTables) {
    std::error_code error;
    std::vector<std::string>& segments = trace.segments_[static_cast<size_t>(table)];
    for (const auto& entry : fs::directory_iterator(fs::path(path) / schemaOf(table).table, error)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".arrow") && name[0] != '.') segments.push_back(entry.path().string());
    }
    std::sort(segments.begin(), segments.end());
  }
  return trace;
}

Status Trace::each(Table table, const std::function<Status(const arrow::Batch&)>& visit) const {
  const arrow::Schema& wanted = schemaOf(table);
  for (const std::string& path : segments(table)) {
    const auto file = arrow::FileReader::open(path);
    if (!file) return failure(file.error());
    const auto& fields = file->schema().fields;
    const bool same = std::equal(fields.begin(), fields.end(), wanted.fields.begin(), wanted.fields.end(),
                                 [](const arrow::Field& a, const arrow::Field& b) { return a.name == b.name && a.type == b.type; });
    if (!same)
      return failure(Diagnostic{path, 0, 0, fmt::format("has other columns than the table {} of this version", wanted.table),
                                "trace the launch again"});
    for (size_t i = 0; i < file->batches(); ++i) {
      const auto batch = file->batch(i);
      if (!batch) return failure(batch.error());
      TS_CHECK(visit(*batch));
    }
  }
  return {};
}

}  // namespace tilesight::record
