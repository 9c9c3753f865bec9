// Arrow's metadata (Schema.fbs, Message.fbs, File.fbs), written and read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrow/schema.h"
#include "support/result.h"

namespace tilesight::arrow {

inline constexpr char kMagic[] = "ARROW1";

/// Of a record batch or a dictionary.
struct BatchLayout {
  int64_t rows = 0;
  std::vector<int64_t> nodes;    // pairs: length, nulls
  std::vector<int64_t> buffers;  // pairs: offset in the body, length
  bool compressed = false;
  int64_t dictionary = -1;       // its id; -1: a record batch
};

/// Where a message lies in the file: offset, metadata length, body length.
struct Block {
  int64_t offset = 0;
  int32_t metadataLength = 0;
  int64_t bodyLength = 0;
};

struct Footer {
  Schema schema;
  std::vector<Block> dictionaries, batches;
};

/// Metadata with its length in front, padded to 8 bytes.
std::vector<uint8_t> envelope(const std::vector<uint8_t>& metadata);
std::vector<uint8_t> schemaMetadata(const Schema& schema);
std::vector<uint8_t> batchMetadata(const BatchLayout& layout, int64_t bodyLength);
std::vector<uint8_t> footerMetadata(const Footer& footer);

/// Errors: it is broken, or has a type that this library does not write.
Result<Footer> readFooter(std::span<const uint8_t> bytes);
Result<BatchLayout> readBatchMetadata(std::span<const uint8_t> bytes);

}  // namespace tilesight::arrow
