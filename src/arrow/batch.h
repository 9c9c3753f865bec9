// Columns, and their encoding as a record batch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/packing.h"
#include "arrow/schema.h"

namespace tilesight::arrow {

/// A message of the file as it lies there: metadata and body, a multiple of 8 bytes.
struct Message {
  std::vector<uint8_t> bytes;
  int32_t metadataLength = 0;
  int64_t bodyLength = 0;
  int64_t rows = 0;
};

/// One buffer: raw, or packed already.
struct Buffer {
  std::span<const uint8_t> raw;
  Packed packed = nullptr;

  template <typename T>
  static Buffer of(const std::vector<T>& values) {
    return {{reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)}, nullptr};
  }
};

/// The buffers of a column in the order of the format, validity left out: values; Text: offsets, bytes; lists: offsets,
/// values; TextList: offsets, offsets, bytes. `items`: of lists, how many values all rows have.
struct Column {
  std::vector<Buffer> buffers;
  int64_t items = 0;
};

/// Columns as the schema has them. The metadata is the same for equal sizes: encoding is deterministic.
Message encodeBatch(const Schema& schema, int64_t rows, const std::vector<Column>& columns, Packer& packer);
/// The dictionary of a Name column: `id` is the column's number.
Message encodeDictionary(int64_t id, const std::vector<std::string>& texts, Packer& packer);

/// Rows of a small table, one value after the other.
class Rows {
 public:
  explicit Rows(const Schema& schema);

  /// One value a call, in the order of the columns; the type is the column's.
  Rows& add(int64_t value);
  Rows& add(double value);
  Rows& add(const std::string& text);
  Rows& add(const std::vector<int64_t>& values);
  Rows& add(const std::vector<std::string>& texts);

  int64_t size() const { return rows_; }
  /// Name columns take their numbers from `names`, one a column.
  Message encode(Packer& packer) const;
  /// The dictionaries, one a column; empty for other types.
  std::vector<Names>& names() { return names_; }
  void clear();

 private:
  struct Data {
    std::vector<int32_t> offsets{0}, textOffsets{0}, narrow;
    std::vector<int64_t> wide;
    std::vector<double> floats;
    std::string bytes;
  };
  Data& next(const Field** field);

  const Schema& schema_;
  std::vector<Data> data_;
  std::vector<Names> names_;
  size_t column_ = 0;
  int64_t rows_ = 0;
};

}  // namespace tilesight::arrow
