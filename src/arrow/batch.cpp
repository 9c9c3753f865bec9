#include "arrow/batch.h"

#include <cassert>
#include <cstring>

#include "arrow/metadata.h"

namespace tilesight::arrow {

namespace {

void pad(std::vector<uint8_t>& bytes) {
  while (bytes.size() % 8) bytes.push_back(0);
}

class Body {
 public:
  void node(int64_t rows) { layout_.nodes.insert(layout_.nodes.end(), {rows, 0}); }
  void none() { layout_.buffers.insert(layout_.buffers.end(), {static_cast<int64_t>(bytes_.size()), 0}); }
  void add(const Buffer& buffer, Packer& packer) {
    const Packed packed = buffer.packed ? buffer.packed : packer.pack(buffer.raw);
    layout_.buffers.insert(layout_.buffers.end(), {static_cast<int64_t>(bytes_.size()), static_cast<int64_t>(packed->size())});
    bytes_.insert(bytes_.end(), packed->begin(), packed->end());
    pad(bytes_);
  }
  Message finish(int64_t rows, int64_t dictionary) {
    layout_.rows = rows;
    layout_.compressed = packs();
    layout_.dictionary = dictionary;
    Message message;
    message.bytes = envelope(batchMetadata(layout_, static_cast<int64_t>(bytes_.size())));
    message.metadataLength = static_cast<int32_t>(message.bytes.size());
    message.bodyLength = static_cast<int64_t>(bytes_.size());
    message.rows = rows;
    message.bytes.insert(message.bytes.end(), bytes_.begin(), bytes_.end());
    return message;
  }

 private:
  BatchLayout layout_;
  std::vector<uint8_t> bytes_;
};

Buffer bytesOf(const std::string& text) {
  return {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}, nullptr};
}

}  // namespace

Message encodeBatch(const Schema& schema, int64_t rows, const std::vector<Column>& columns, Packer& packer) {
  assert(columns.size() == schema.fields.size());
  Body body;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    body.node(rows);
    body.none();
    switch (schema.fields[c].type) {
      case Type::Int32List:
      case Type::Int64List:
        body.add(column.buffers[0], packer);
        body.node(column.items);
        body.none();
        body.add(column.buffers[1], packer);
        break;
      case Type::TextList:
        body.add(column.buffers[0], packer);
        body.node(column.items);
        body.none();
        body.add(column.buffers[1], packer);
        body.add(column.buffers[2], packer);
        break;
      default:
        for (const Buffer& buffer : column.buffers) body.add(buffer, packer);
    }
  }
  return body.finish(rows, -1);
}

Message encodeDictionary(int64_t id, const std::vector<std::string>& texts, Packer& packer) {
  std::vector<int32_t> offsets{0};
  std::string all;
  for (const std::string& text : texts) {
    all += text;
    offsets.push_back(static_cast<int32_t>(all.size()));
  }
  Body body;
  body.node(static_cast<int64_t>(texts.size()));
  body.none();
  body.add(Buffer::of(offsets), packer);
  body.add(bytesOf(all), packer);
  return body.finish(static_cast<int64_t>(texts.size()), id);
}

Rows::Rows(const Schema& schema) : schema_(schema), data_(schema.fields.size()), names_(schema.fields.size()) {}

Rows::Data& Rows::next(const Field** field) {
  *field = &schema_.fields[column_];
  Data& data = data_[column_];
  if (++column_ == schema_.fields.size()) {
    column_ = 0;
    ++rows_;
  }
  return data;
}

Rows& Rows::add(int64_t value) {
  const Field* field;
  Data& data = next(&field);
  assert(field->type == Type::Int32 || field->type == Type::UInt32 || field->type == Type::Int64);
  if (field->type == Type::Int64) data.wide.push_back(value);
  else data.narrow.push_back(static_cast<int32_t>(value));
  return *this;
}

Rows& Rows::add(double value) {
  const Field* field;
  Data& data = next(&field);
  assert(field->type == Type::Float64);
  data.floats.push_back(value);
  return *this;
}

Rows& Rows::add(const std::string& text) {
  const size_t column = column_;
  const Field* field;
  Data& data = next(&field);
  assert(field->type == Type::Text || field->type == Type::Name);
  if (field->type == Type::Name) {
    data.narrow.push_back(names_[column].number(text));
  } else {
    data.bytes += text;
    data.offsets.push_back(static_cast<int32_t>(data.bytes.size()));
  }
  return *this;
}

Rows& Rows::add(const std::vector<int64_t>& values) {
  const Field* field;
  Data& data = next(&field);
  assert(field->type == Type::Int64List || field->type == Type::Int32List);
  for (int64_t value : values) {
    if (field->type == Type::Int64List) data.wide.push_back(value);
    else data.narrow.push_back(static_cast<int32_t>(value));
  }
  data.offsets.push_back(static_cast<int32_t>(data.wide.size() + data.narrow.size()));
  return *this;
}

Rows& Rows::add(const std::vector<std::string>& texts) {
  const Field* field;
  Data& data = next(&field);
  assert(field->type == Type::TextList);
  for (const std::string& text : texts) {
    data.bytes += text;
    data.textOffsets.push_back(static_cast<int32_t>(data.bytes.size()));
  }
  data.offsets.push_back(static_cast<int32_t>(data.textOffsets.size() - 1));
  return *this;
}

Message Rows::encode(Packer& packer) const {
  std::vector<Column> columns;
  for (size_t c = 0; c < data_.size(); ++c) {
    const Data& data = data_[c];
    Column column;
    switch (schema_.fields[c].type) {
      case Type::Int32:
      case Type::UInt32:
      case Type::Name: column.buffers = {Buffer::of(data.narrow)}; break;
      case Type::Int64: column.buffers = {Buffer::of(data.wide)}; break;
      case Type::Float64: column.buffers = {Buffer::of(data.floats)}; break;
      case Type::Text: column.buffers = {Buffer::of(data.offsets), bytesOf(data.bytes)}; break;
      case Type::Int32List: column.buffers = {Buffer::of(data.offsets), Buffer::of(data.narrow)}; break;
      case Type::Int64List: column.buffers = {Buffer::of(data.offsets), Buffer::of(data.wide)}; break;
      case Type::TextList:
        column.buffers = {Buffer::of(data.offsets), Buffer::of(data.textOffsets), bytesOf(data.bytes)};
        break;
    }
    column.items = data.offsets.back();
    columns.push_back(std::move(column));
  }
  return encodeBatch(schema_, rows_, columns, packer);
}

void Rows::clear() {
  for (Data& data : data_) data = {};
  rows_ = 0;
  column_ = 0;
}

}  // namespace tilesight::arrow
