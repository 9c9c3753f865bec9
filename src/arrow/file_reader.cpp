#include "arrow/file_reader.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "arrow/packing.h"

namespace tilesight::arrow {

namespace {

// Takes the nodes and buffers of a batch one by one.
class Parts {
 public:
  Parts(const BatchLayout& layout, std::span<const uint8_t> body) : layout_(layout), body_(body) {}

  Result<int64_t> node() {
    if (node_ + 2 > layout_.nodes.size()) return failure("a batch has too few columns");
    const int64_t length = layout_.nodes[node_], nulls = layout_.nodes[node_ + 1];
    node_ += 2;
    if (nulls != 0) return failure("a column has nulls");
    TS_CHECK(skip());  // validity
    return length;
  }
  /// `count` values of `bytes` each.
  Result<std::vector<uint8_t>> buffer(uint64_t count, uint64_t bytes) {
    auto raw = next(count * bytes + 64);  // writers may pad
    if (raw && raw->size() < count * bytes) return failure("a buffer is too short");
    return raw;
  }
  /// `rows` + 1 offsets that go up and end at most at `limit`.
  Result<std::vector<int32_t>> offsets(int64_t rows, int64_t limit) {
    auto raw = buffer(static_cast<uint64_t>(rows) + 1, 4);
    if (!raw) return failure(std::move(raw).error());
    std::vector<int32_t> result(static_cast<size_t>(rows) + 1);
    std::memcpy(result.data(), raw->data(), result.size() * 4);
    if (result[0] != 0) return failure("a list does not begin where it should");
    for (size_t i = 1; i < result.size(); ++i)
      if (result[i] < result[i - 1]) return failure("the offsets of a list go down");
    if (result.back() > limit) return failure("a list is longer than its values");
    return result;
  }
  Result<std::vector<std::string>> texts(int64_t rows) {
    auto ends = offsets(rows, FileReader::kMaxItems);
    if (!ends) return failure(std::move(ends).error());
    auto bytes = buffer(static_cast<uint64_t>(ends->back()), 1);
    if (!bytes) return failure(std::move(bytes).error());
    std::vector<std::string> result;
    for (size_t i = 0; i + 1 < ends->size(); ++i)
      result.emplace_back(reinterpret_cast<const char*>(bytes->data()) + (*ends)[i], static_cast<size_t>((*ends)[i + 1] - (*ends)[i]));
    return result;
  }
  Result<std::vector<int64_t>> integers(int64_t rows, Type type) {
    const bool wide = type == Type::Int64 || type == Type::Int64List;
    auto raw = buffer(static_cast<uint64_t>(rows), wide ? 8 : 4);
    if (!raw) return failure(std::move(raw).error());
    std::vector<int64_t> result(static_cast<size_t>(rows));
    for (size_t i = 0; i < result.size(); ++i) {
      if (wide) {
        std::memcpy(&result[i], raw->data() + 8 * i, 8);
        continue;
      }
      int32_t value;
      std::memcpy(&value, raw->data() + 4 * i, 4);
      result[i] = type == Type::UInt32 ? static_cast<int64_t>(static_cast<uint32_t>(value)) : value;
    }
    return result;
  }

 private:
  Result<std::span<const uint8_t>> take() {
    if (buffer_ + 2 > layout_.buffers.size()) return failure("a batch has too few buffers");
    const int64_t offset = layout_.buffers[buffer_], length = layout_.buffers[buffer_ + 1];
    buffer_ += 2;
    if (offset < 0 || length < 0 || offset > static_cast<int64_t>(body_.size()) ||
        length > static_cast<int64_t>(body_.size()) - offset)
      return failure("a buffer lies outside its batch");
    return body_.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
  }
  Status skip() {
    const auto bytes = take();
    if (!bytes) return failure(bytes.error());
    return {};
  }
  Result<std::vector<uint8_t>> next(uint64_t limit) {
    const auto bytes = take();
    if (!bytes) return failure(bytes.error());
    return unpack(*bytes, layout_.compressed, limit);
  }

  const BatchLayout& layout_;
  std::span<const uint8_t> body_;
  size_t node_ = 0, buffer_ = 0;
};

Status readColumn(Parts& parts, const Field& field, const std::vector<std::string>& dictionary, int64_t rows, Values& values) {
  const auto length = parts.node();
  if (!length) return failure(length.error());
  if (*length != rows) return failure(fmt::format("column {} has {} rows of {}", field.name, *length, rows));
  const auto items = [&]() -> Result<int64_t> {
    auto offsets = parts.offsets(rows, FileReader::kMaxItems);
    if (!offsets) return failure(std::move(offsets).error());
    values.offsets = std::move(*offsets);
    const auto count = parts.node();
    if (!count) return failure(count.error());
    if (*count != values.offsets.back()) return failure("a list has other values than it says");
    return *count;
  };
  const auto integers = [&](int64_t count) -> Status {
    auto got = parts.integers(count, field.type);
    if (!got) return failure(std::move(got).error());
    values.ints = std::move(*got);
    return {};
  };
  switch (field.type) {
    case Type::Int32:
    case Type::UInt32:
    case Type::Int64: return integers(rows);
    case Type::Float64: {
      const auto raw = parts.buffer(static_cast<uint64_t>(rows), 8);
      if (!raw) return failure(raw.error());
      values.floats.resize(static_cast<size_t>(rows));
      if (rows) std::memcpy(values.floats.data(), raw->data(), values.floats.size() * 8);
      return {};
    }
    case Type::Name: {
      const auto numbers = parts.integers(rows, Type::Int32);
      if (!numbers) return failure(numbers.error());
      for (int64_t number : *numbers) {
        if (number < 0 || static_cast<size_t>(number) >= dictionary.size())
          return failure(fmt::format("column {} has a number that is not in its dictionary", field.name));
        values.texts.push_back(dictionary[static_cast<size_t>(number)]);
      }
      return {};
    }
    case Type::Text: {
      auto texts = parts.texts(rows);
      if (!texts) return failure(std::move(texts).error());
      values.texts = std::move(*texts);
      return {};
    }
    case Type::Int32List:
    case Type::Int64List: {
      const auto count = items();
      if (!count) return failure(count.error());
      return integers(*count);
    }
    case Type::TextList: {
      const auto count = items();
      if (!count) return failure(count.error());
      auto texts = parts.texts(*count);
      if (!texts) return failure(std::move(texts).error());
      values.texts = std::move(*texts);
      return {};
    }
  }
  return {};
}

}  // namespace

tl::unexpected<Diagnostic> FileReader::broken(const std::string& what) const {
  return failure(Diagnostic{name_, 0, 0, what, "trace the launch again"});
}

Result<FileReader> FileReader::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(Diagnostic{path, 0, 0, fmt::format("cannot be read: {}", std::strerror(errno)), {}});
  std::vector<uint8_t> bytes;
  for (std::array<char, 1 << 16> part; file.read(part.data(), part.size()) || file.gcount();)
    bytes.insert(bytes.end(), part.data(), part.data() + file.gcount());
  return parse(std::move(bytes), path);
}

Result<FileReader> FileReader::parse(std::vector<uint8_t> bytes, const std::string& name) {
  FileReader reader;
  reader.name_ = name;
  reader.bytes_ = std::move(bytes);
  const std::vector<uint8_t>& all = reader.bytes_;
  if (all.size() < 20 || std::memcmp(all.data(), kMagic, 6) != 0) return reader.broken("is no Arrow file");
  if (std::memcmp(all.data() + all.size() - 6, kMagic, 6) != 0) return reader.broken("is not whole: its end is missing");
  int32_t length = 0;
  std::memcpy(&length, all.data() + all.size() - 10, 4);
  if (length <= 0 || static_cast<size_t>(length) > all.size() - 18) return reader.broken("its footer is broken");
  auto footer = readFooter(std::span(all).subspan(all.size() - 10 - static_cast<size_t>(length), static_cast<size_t>(length)));
  if (!footer) return reader.broken(footer.error().message);
  reader.footer_ = std::move(*footer);
  reader.dictionaries_.resize(reader.footer_.schema.fields.size());
  for (const Block& block : reader.footer_.dictionaries) {
    BatchLayout layout;
    const auto body = reader.body(block, &layout);
    if (!body) return failure(body.error());
    if (layout.dictionary < 0 || static_cast<size_t>(layout.dictionary) >= reader.dictionaries_.size())
      return reader.broken("has a dictionary of no column");
    Parts parts(layout, *body);
    const auto count = parts.node();
    if (!count) return reader.broken(count.error().message);
    if (*count < 0 || *count > kMaxRows) return reader.broken("has a dictionary that is too large");
    auto texts = parts.texts(*count);
    if (!texts) return reader.broken(texts.error().message);
    reader.dictionaries_[static_cast<size_t>(layout.dictionary)] = std::move(*texts);
  }
  return reader;
}

Result<std::span<const uint8_t>> FileReader::body(const Block& block, BatchLayout* layout) const {
  const auto size = static_cast<int64_t>(bytes_.size());
  if (block.offset < 8 || block.metadataLength < 8 || block.bodyLength < 0 || block.offset > size ||
      block.metadataLength > size - block.offset || block.bodyLength > size - block.offset - block.metadataLength)
    return broken("has a batch outside the file");
  const auto all = std::span(bytes_).subspan(static_cast<size_t>(block.offset));
  uint32_t mark = 0;
  int32_t length = 0;
  std::memcpy(&mark, all.data(), 4);
  std::memcpy(&length, all.data() + 4, 4);
  if (mark != 0xffffffff || length < 0 || length > block.metadataLength - 8)
    return broken("has a batch that does not begin as one");
  auto read = readBatchMetadata(all.subspan(8, static_cast<size_t>(length)));
  if (!read) return broken(read.error().message);
  *layout = std::move(*read);
  return all.subspan(static_cast<size_t>(block.metadataLength), static_cast<size_t>(block.bodyLength));
}

Result<Batch> FileReader::batch(size_t number) const {
  BatchLayout layout;
  const auto bytes = body(footer_.batches.at(number), &layout);
  if (!bytes) return failure(bytes.error());
  if (layout.dictionary >= 0) return broken("has a dictionary where a batch should be");
  if (layout.rows < 0 || layout.rows > kMaxRows) return broken("has a batch of too many rows");
  Batch batch;
  batch.rows = layout.rows;
  batch.columns.resize(schema().fields.size());
  Parts parts(layout, *bytes);
  for (size_t c = 0; c < batch.columns.size(); ++c)
    if (const Status read = readColumn(parts, schema().fields[c], dictionaries_[c], batch.rows, batch.columns[c]); !read)
      return broken(read.error().message);
  return batch;
}

}  // namespace tilesight::arrow
