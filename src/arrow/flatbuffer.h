// FlatBuffers: the encoding of Arrow's metadata. A builder that writes from the end to the beginning, and a reader that
// never leaves its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilesight::arrow {

/// What was built lies at an offset from the buffer's end.
using FlatOffset = uint32_t;

class FlatBuilder {
 public:
  FlatOffset text(std::string_view text);
  FlatOffset vector(const std::vector<FlatOffset>& items);
  /// Structs of 64-bit words, `words` of them each.
  FlatOffset structs(const std::vector<int64_t>& values, size_t words);

  /// A table: start, its fields by number, then end. Nothing else may be built in between.
  void start();
  template <typename T>
  void field(uint16_t number, T value) {
    align(sizeof(T));
    push(value);
    fields_.emplace_back(number, size());
  }
  void reference(uint16_t number, FlatOffset to);
  FlatOffset end();

  /// The whole buffer, a multiple of 8 bytes long.
  std::vector<uint8_t> finish(FlatOffset root);

 private:
  FlatOffset size() const { return static_cast<FlatOffset>(reversed_.size()); }
  /// Pads so that after `more` bytes the position is a multiple of `to`.
  void align(size_t to, size_t more = 0);
  template <typename T>
  void push(T value) {
    uint8_t bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (size_t i = sizeof(T); i-- > 0;) reversed_.push_back(bytes[i]);
  }

  std::vector<uint8_t> reversed_;
  std::vector<std::pair<uint16_t, FlatOffset>> fields_;
  FlatOffset tableStart_ = 0;
};

/// A table in bytes that may be anything: what is not there, or not inside the bytes, is absent.
class FlatTable {
 public:
  /// The root of a buffer.
  static std::optional<FlatTable> root(std::span<const uint8_t> bytes);

  template <typename T>
  T value(uint16_t number, T otherwise = {}) const {
    const size_t at = position(number);
    T result = otherwise;
    if (at && at + sizeof(T) <= bytes_.size()) std::memcpy(&result, bytes_.data() + at, sizeof(T));
    return result;
  }
  std::optional<FlatTable> table(uint16_t number) const;
  std::optional<std::string> text(uint16_t number) const;
  /// Absent: no such field, or a vector that does not lie inside the bytes.
  std::optional<std::vector<FlatTable>> tables(uint16_t number) const;
  /// The 64-bit words of a vector of structs of `words` each.
  std::optional<std::vector<int64_t>> structs(uint16_t number, size_t words) const;

 private:
  FlatTable(std::span<const uint8_t> bytes, size_t at) : bytes_(bytes), at_(at) {}
  static std::optional<FlatTable> at(std::span<const uint8_t> bytes, size_t position);
  size_t position(uint16_t field) const;
  /// Of what a field refers to; 0: nothing.
  size_t target(uint16_t field) const;
  uint32_t word(size_t at) const;

  std::span<const uint8_t> bytes_;
  size_t at_;
};

}  // namespace tilesight::arrow
