#include "launch/zip_files.h"

#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "launch/archive.h"

namespace tilesight::launch {
namespace {

namespace fs = std::filesystem;

/// A zip being written. Entries are stored, and have a fixed time, so that equal bundles are equal files.
class ZipWriter {
 public:
  explicit ZipWriter(zip_t* zip) : zip_(zip) {}

  /// Adds a file of `folder`.
  Status add(const std::string& folder, const std::string& name) {
    const std::string path = folder + "/" + name;
    zip_source_t* source = zip_source_file(zip_, path.c_str(), 0, -1);
    const zip_int64_t index = source ? zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      if (source) zip_source_free(source);
      return failure(zip_strerror(zip_));
    }
    const auto number = static_cast<zip_uint64_t>(index);
    constexpr time_t year1980 = 315619200;
    if (zip_set_file_compression(zip_, number, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_mtime(zip_, number, year1980, 0) != 0)
      return failure(zip_strerror(zip_));
    std::error_code error;
    return align(number, name, fs::file_size(path, error));
  }

 private:
  /// Makes large entries begin at a multiple of entryAlignment, by an extra field of the kind that zipalign uses.
  Status align(zip_uint64_t number, const std::string& name, uint64_t bytes) {
    constexpr uint64_t large = 1 << 20, record = 30, extraHead = 4, sizes64 = 20;
    constexpr zip_uint16_t alignmentField = 0xd935;
    offset_ += record + name.size() + (bytes >= UINT32_MAX ? sizes64 : 0);
    if (bytes >= large) {
      std::vector<uint8_t> field{entryAlignment & 0xff, entryAlignment >> 8};
      const uint64_t begin = offset_ + extraHead + field.size();
      field.resize(field.size() + (entryAlignment - begin % entryAlignment) % entryAlignment);
      offset_ += extraHead + field.size();
      if (zip_file_extra_field_set(zip_, number, alignmentField, ZIP_EXTRA_FIELD_NEW, field.data(),
                                   static_cast<zip_uint16_t>(field.size()), ZIP_FL_LOCAL) != 0)
        return failure(zip_strerror(zip_));
    }
    offset_ += bytes;
    return {};
  }

  zip_t* zip_;
  uint64_t offset_ = 0;
};

}  // namespace

Status zipFiles(const std::string& path, const std::string& folder, const std::vector<std::string>& files) {
  int code = 0;
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code);
  if (!zip) return failure("no permission");
  Status status;
  ZipWriter writer(zip);
  for (const std::string& name : files)
    if (status) status = writer.add(folder, name);
  if (status && zip_close(zip) != 0) status = failure(zip_strerror(zip));
  else if (status) zip = nullptr;
  if (zip) zip_discard(zip);
  return status;
}
}  // namespace tilesight::launch
