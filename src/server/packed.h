// Arrays in one answer: what grows with data never becomes JSON.
//
//   bytes 0..3   "TSV1"
//   bytes 4..7   H, the length of the header (little-endian)
//   bytes 8..    header: JSON {"arrays": [{"name", "dtype", "shape", "at"}], "meta": {...}}, padded with spaces so
//                that 8 + H is a multiple of 8
//   then         the arrays, row-major, little-endian; each begins `at` bytes (a multiple of 8) after the header
//
// dtypes: u8, i32, u32, f32, f64, i64. web/src/data/packed.ts reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesight::server {

class Packed {
 public:
  void add(const char* name, std::vector<int64_t> shape, const std::vector<uint8_t>& values) { put(name, "u8", shape, values.data(), 1); }
  void add(const char* name, std::vector<int64_t> shape, const std::vector<int32_t>& values) { put(name, "i32", shape, values.data(), 4); }
  void add(const char* name, std::vector<int64_t> shape, const std::vector<uint32_t>& values) { put(name, "u32", shape, values.data(), 4); }
  void add(const char* name, std::vector<int64_t> shape, const std::vector<int64_t>& values) { put(name, "i64", shape, values.data(), 8); }
  void add(const char* name, std::vector<int64_t> shape, const std::vector<float>& values) { put(name, "f32", shape, values.data(), 4); }
  void add(const char* name, std::vector<int64_t> shape, const std::vector<double>& values) { put(name, "f64", shape, values.data(), 8); }

  /// All of it. `meta` is the text of a JSON object.
  std::string bytes(const std::string& meta) const;

 private:
  void put(const char* name, const char* dtype, const std::vector<int64_t>& shape, const void* data, size_t size);

  std::string entries_, data_;
};

inline constexpr const char* kPackedType = "application/octet-stream";

}  // namespace tilesight::server
