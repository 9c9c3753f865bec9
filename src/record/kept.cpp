#include "record/kept.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace tilesight::record {

namespace fs = std::filesystem;

std::string bundlesFolder(const std::string& trace) { return (fs::path(trace) / kBundles).generic_string(); }

std::vector<std::string> bundlesOf(const std::string& trace) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(bundlesFolder(trace), error))
    if (entry.path().extension() == ".tsb" && entry.path().filename().string()[0] != '.')
      paths.push_back(entry.path().generic_string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status Kept::add(const std::string& trace, uint32_t number, const launch::Launch& launch, launch::BundleWriter::Data data) {
  if (!writer_) {
    const std::string folder = bundlesFolder(trace);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return failure(Diagnostic{folder, 0, 0, fmt::format("cannot be made: {}", error.message()), {}});
    path_ = fmt::format("{}/{:06}.tsb", folder, number);
    auto writer = launch::BundleWriter::open(path_);
    if (!writer) return failure(std::move(writer).error());
    writer_.emplace(std::move(*writer));
    launches_ = 0;
  }
  ++launches_;
  return writer_->add(launch, data);
}

Status Kept::close() {
  if (!writer_) return {};
  const Status done = writer_->finish();
  writer_.reset();
  TS_CHECK(done);
  std::error_code error;
  const auto size = fs::file_size(path_, error);
  bytes_ += error ? 0 : size;
  return {};
}

}  // namespace tilesight::record
