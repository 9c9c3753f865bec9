// A build without libzip: bundles are folders.
#include "launch/archive_impl.h"
#include "launch/zip_files.h"

namespace tilesight::launch {
namespace {

constexpr const char* without = "this build of Tilesight has no libzip and reads and writes bundles as folders only";

}  // namespace

Result<std::unique_ptr<Archive>> openZip(const std::string& path) {
  return failure(Diagnostic{path, 0, 0, without, "unzip it and give the folder"});
}

Result<std::unique_ptr<Archive>> openZipBytes(std::span<const uint8_t>, const std::string& name) {
  return failure(Diagnostic{name, 0, 0, without, {}});
}

Status zipFiles(const std::string&, const std::string&, const std::vector<std::string>&) { return failure(without); }

}  // namespace tilesight::launch
