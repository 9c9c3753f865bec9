#include "server/packed.h"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilesight::server {

void Packed::put(const char* name, const char* dtype, const std::vector<int64_t>& shape, const void* data, size_t size) {
  data_.resize((data_.size() + 7) / 8 * 8);
  size_t count = 1;
  for (int64_t extent : shape) count *= static_cast<size_t>(extent);
  if (!entries_.empty()) entries_ += ",";
  entries_ += fmt::format(R"({{"name":"{}","dtype":"{}","shape":[{}],"at":{}}})", name, dtype, fmt::join(shape, ","),
                          data_.size());
  const size_t at = data_.size();
  data_.resize(at + count * size);
  if (count) std::memcpy(data_.data() + at, data, count * size);
}

std::string Packed::bytes(const std::string& meta) const {
  std::string header = fmt::format(R"({{"arrays":[{}],"meta":{}}})", entries_, meta);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string all = "TSV1";
  const uint32_t length = static_cast<uint32_t>(header.size());
  for (int byte = 0; byte < 4; ++byte) all += static_cast<char>(length >> (8 * byte) & 0xff);
  all += header;
  all += data_;
  return all;
}

}  // namespace tilesight::server
