#include "arrow/metadata.h"

#include <cstring>

#include <fmt/format.h>

#include "arrow/flatbuffer.h"

namespace tilesight::arrow {

namespace {

// Numbers of Arrow's unions and enums.
constexpr int16_t kVersion5 = 4;
constexpr uint8_t kHeaderSchema = 1, kHeaderDictionary = 2, kHeaderBatch = 3;
constexpr uint8_t kTypeInt = 2, kTypeFloat = 3, kTypeUtf8 = 5, kTypeList = 12;
constexpr int16_t kDouble = 2;
constexpr int8_t kZstd = 1;

struct TypeOffset {
  uint8_t kind;
  FlatOffset at;
};

TypeOffset integer(FlatBuilder& flat, int32_t bits, bool isSigned) {
  flat.start();
  flat.field<int32_t>(0, bits);
  flat.field<uint8_t>(1, isSigned);
  return {kTypeInt, flat.end()};
}

TypeOffset empty(FlatBuilder& flat, uint8_t kind) {
  flat.start();
  return {kind, flat.end()};
}

FlatOffset field(FlatBuilder& flat, const std::string& name, TypeOffset type, FlatOffset children,
                 FlatOffset dictionary = 0) {
  const FlatOffset text = flat.text(name);
  flat.start();
  flat.reference(0, text);
  flat.field<uint8_t>(1, 0);  // no nulls
  flat.field<uint8_t>(2, type.kind);
  flat.reference(3, type.at);
  if (dictionary) flat.reference(4, dictionary);
  flat.reference(5, children);
  return flat.end();
}

FlatOffset fieldOf(FlatBuilder& flat, const Field& f, int64_t number) {
  const auto leaf = [&](TypeOffset type, FlatOffset dictionary = 0) {
    return field(flat, f.name, type, flat.vector({}), dictionary);
  };
  const auto list = [&](TypeOffset item) {
    const FlatOffset child = field(flat, "item", item, flat.vector({}));
    const FlatOffset children = flat.vector({child});
    return field(flat, f.name, empty(flat, kTypeList), children);
  };
  switch (f.type) {
    case Type::Int32: return leaf(integer(flat, 32, true));
    case Type::UInt32: return leaf(integer(flat, 32, false));
    case Type::Int64: return leaf(integer(flat, 64, true));
    case Type::Float64: {
      flat.start();
      flat.field<int16_t>(0, kDouble);
      return leaf({kTypeFloat, flat.end()});
    }
    case Type::Text: return leaf(empty(flat, kTypeUtf8));
    case Type::Name: {
      const TypeOffset index = integer(flat, 32, true);
      flat.start();
      flat.field<int64_t>(0, number);
      flat.reference(1, index.at);
      const FlatOffset dictionary = flat.end();
      return leaf(empty(flat, kTypeUtf8), dictionary);
    }
    case Type::Int32List: return list(integer(flat, 32, true));
    case Type::Int64List: return list(integer(flat, 64, true));
    case Type::TextList: return list(empty(flat, kTypeUtf8));
  }
  return 0;
}

FlatOffset schemaTable(FlatBuilder& flat, const Schema& schema) {
  std::vector<FlatOffset> fields;
  for (size_t i = 0; i < schema.fields.size(); ++i)
    fields.push_back(fieldOf(flat, schema.fields[i], static_cast<int64_t>(i)));
  const FlatOffset all = flat.vector(fields);
  flat.start();
  flat.field<int16_t>(0, 0);  // little endian
  flat.reference(1, all);
  return flat.end();
}

std::vector<uint8_t> message(FlatBuilder& flat, uint8_t kind, FlatOffset header, int64_t bodyLength) {
  flat.start();
  flat.field<int64_t>(3, bodyLength);
  flat.reference(2, header);
  flat.field<int16_t>(0, kVersion5);
  flat.field<uint8_t>(1, kind);
  return flat.finish(flat.end());
}

FlatOffset blocks(FlatBuilder& flat, const std::vector<Block>& list) {
  std::vector<int64_t> words;
  for (const Block& block : list) words.insert(words.end(), {block.offset, block.metadataLength, block.bodyLength});
  return flat.structs(words, 3);
}

std::optional<Type> typeOf(const FlatTable& field) {
  const auto type = field.table(3);
  if (!type) return std::nullopt;
  switch (field.value<uint8_t>(2)) {
    case kTypeInt: {
      const auto bits = type->value<int32_t>(0);
      const bool isSigned = type->value<uint8_t>(1);
      if (bits == 64 && isSigned) return Type::Int64;
      if (bits == 32) return isSigned ? Type::Int32 : Type::UInt32;
      return std::nullopt;
    }
    case kTypeFloat: return type->value<int16_t>(0) == kDouble ? std::optional(Type::Float64) : std::nullopt;
    case kTypeUtf8: return field.table(4) ? Type::Name : Type::Text;
    case kTypeList: {
      const auto children = field.tables(5);
      if (!children || children->size() != 1) return std::nullopt;
      const FlatTable& child = children->front();
      // Lists of lists are not written; a crafted file could nest them without end.
      if (child.value<uint8_t>(2) == kTypeList) return std::nullopt;
      const auto item = typeOf(child);
      if (item == Type::Int32) return Type::Int32List;
      if (item == Type::Int64) return Type::Int64List;
      if (item == Type::Text) return Type::TextList;
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::vector<Block> blocksOf(const FlatTable& footer, uint16_t number) {
  std::vector<Block> result;
  const auto words = footer.structs(number, 3);
  for (size_t i = 0; words && i < words->size(); i += 3)
    result.push_back({(*words)[i], static_cast<int32_t>((*words)[i + 1]), (*words)[i + 2]});
  return result;
}

}  // namespace

std::vector<uint8_t> envelope(const std::vector<uint8_t>& metadata) {
  const auto length = static_cast<uint32_t>(metadata.size());
  std::vector<uint8_t> bytes(8 + metadata.size(), 0xff);
  std::memcpy(bytes.data() + 4, &length, 4);
  std::memcpy(bytes.data() + 8, metadata.data(), metadata.size());
  return bytes;
}

std::vector<uint8_t> schemaMetadata(const Schema& schema) {
  FlatBuilder flat;
  return message(flat, kHeaderSchema, schemaTable(flat, schema), 0);
}

std::vector<uint8_t> batchMetadata(const BatchLayout& layout, int64_t bodyLength) {
  FlatBuilder flat;
  const FlatOffset buffers = flat.structs(layout.buffers, 2);
  const FlatOffset nodes = flat.structs(layout.nodes, 2);
  FlatOffset compression = 0;
  if (layout.compressed) {
    flat.start();
    flat.field<int8_t>(0, kZstd);
    compression = flat.end();
  }
  flat.start();
  flat.field<int64_t>(0, layout.rows);
  flat.reference(1, nodes);
  flat.reference(2, buffers);
  if (compression) flat.reference(3, compression);
  const FlatOffset batch = flat.end();
  if (layout.dictionary < 0) return message(flat, kHeaderBatch, batch, bodyLength);
  flat.start();
  flat.field<int64_t>(0, layout.dictionary);
  flat.reference(1, batch);
  return message(flat, kHeaderDictionary, flat.end(), bodyLength);
}

std::vector<uint8_t> footerMetadata(const Footer& footer) {
  FlatBuilder flat;
  const FlatOffset schema = schemaTable(flat, footer.schema);
  const FlatOffset batches = blocks(flat, footer.batches);
  const FlatOffset dictionaries = blocks(flat, footer.dictionaries);
  flat.start();
  flat.reference(1, schema);
  flat.reference(2, dictionaries);
  flat.reference(3, batches);
  flat.field<int16_t>(0, kVersion5);
  return flat.finish(flat.end());
}

Result<Footer> readFooter(std::span<const uint8_t> bytes) {
  const auto root = FlatTable::root(bytes);
  const auto schema = root ? root->table(1) : std::nullopt;
  const auto fields = schema ? schema->tables(1) : std::nullopt;
  if (!fields) return failure("its footer is broken");
  Footer footer;
  for (const FlatTable& field : *fields) {
    const auto name = field.text(0);
    const auto type = typeOf(field);
    if (!name) return failure("its footer is broken");
    if (!type) return failure(fmt::format("its column \"{}\" has a type that traces do not have", *name));
    footer.schema.fields.push_back({*name, *type, {}});
  }
  footer.dictionaries = blocksOf(*root, 2);
  footer.batches = blocksOf(*root, 3);
  return footer;
}

Result<BatchLayout> readBatchMetadata(std::span<const uint8_t> bytes) {
  const auto root = FlatTable::root(bytes);
  auto header = root ? root->table(2) : std::nullopt;
  if (!header) return failure("the metadata of a batch is broken");
  BatchLayout layout;
  const auto kind = root->value<uint8_t>(1);
  if (kind == kHeaderDictionary) {
    layout.dictionary = header->value<int64_t>(0);
    header = header->table(1);
  } else if (kind != kHeaderBatch) {
    return failure("what stands where a batch should is none");
  }
  auto nodes = header ? header->structs(1, 2) : std::nullopt;
  auto buffers = header ? header->structs(2, 2) : std::nullopt;
  if (!nodes || !buffers) return failure("the metadata of a batch is broken");
  layout.rows = header->value<int64_t>(0);
  layout.nodes = std::move(*nodes);
  layout.buffers = std::move(*buffers);
  if (const auto compression = header->table(3)) {
    if (compression->value<int8_t>(0) != kZstd) return failure("it is compressed otherwise than with zstd");
    layout.compressed = true;
  }
  return layout;
}

}  // namespace tilesight::arrow
