#include "record/folder.h"

#include <filesystem>

#include <fmt/format.h>

#include "record/kept.h"

namespace tilesight::record {

namespace {

namespace fs = std::filesystem;

// A reader may want one segment in memory, and a writer that is killed loses the one that is open.
constexpr int64_t kMaxSegment = int64_t{64} << 20;

/// To a trace that another process writes, too.
bool belongs(const std::string& name) {
  if (name == kBundles) return true;
  for (Table table : kAllTables)
    if (name == schemaOf(table).table) return true;
  return false;
}

}  // namespace

Result<std::unique_ptr<Folder>> Folder::create(const std::string& path, bool shared) {
  const auto wrong = [&](const std::string& what, const std::string& remedy = {}) {
    return failure(Diagnostic{path, 0, 0, what, remedy});
  };
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error))
    return wrong("is a file: a trace is a folder", "name a new folder");
  if (fs::is_directory(path, error))
    for (const auto& entry : fs::directory_iterator(path, error))
      if (!shared || !belongs(entry.path().filename().string()))
        return wrong("is not empty: a trace needs a folder of its own", "name a new folder, or remove this one");
  auto folder = std::make_unique<Folder>();
  folder->path_ = path;
  for (Table table : kAllTables) {
    fs::create_directories(fs::path(path) / schemaOf(table).table, error);
    if (error) return wrong(fmt::format("cannot be made: {}", error.message()));
    folder->names(table).resize(schemaOf(table).fields.size());
  }
  return folder;
}

Status Folder::append(Table table, const arrow::Message& batch, uint32_t launch) {
  Files& files = tables_[static_cast<size_t>(table)];
  if (files.open && files.open->bytes() > kMaxSegment) TS_CHECK(close(files));
  if (!files.open) {
    files.segment = files.launch == launch && files.whole ? files.segment + 1 : 0;
    files.launch = launch;
    auto file = arrow::FileWriter::open(fmt::format("{}/{}/{:06}-{:04}.arrow", path_, schemaOf(table).table, launch, files.segment),
                                        schemaOf(table));
    if (!file) return failure(std::move(file).error());
    files.open = std::move(*file);
    files.launches = 0;
  }
  return files.open->append(batch);
}

Status Folder::close(Files& files) {
  if (!files.open) return {};
  TS_CHECK(files.open->finish(files.names, packer_));
  bytes_ += static_cast<uint64_t>(files.open->bytes());
  files.open.reset();
  ++files.whole;
  return {};
}

Status Folder::endLaunch(bool all) {
  for (Files& files : tables_)
    if (files.open && (++files.launches >= kMaxLaunches || files.open->bytes() > kWorthOne || all)) TS_CHECK(close(files));
  return {};
}

Status Folder::finish(uint32_t launch) {
  for (Table table : kAllTables) {
    Files& files = tables_[static_cast<size_t>(table)];
    TS_CHECK(close(files));
    if (files.whole) continue;
    TS_CHECK(append(table, arrow::Rows(schemaOf(table)).encode(packer_), launch));
    TS_CHECK(close(files));
  }
  return {};
}

}  // namespace tilesight::record
