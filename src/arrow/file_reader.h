// Reads the files that file_writer writes, from bytes that may be anything.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrow/metadata.h"
#include "arrow/schema.h"
#include "support/result.h"

namespace tilesight::arrow {

/// The values of one column of one batch: what its type says, the rest is empty.
struct Values {
  std::vector<int64_t> ints;       // integers; of lists, all values
  std::vector<double> floats;
  std::vector<std::string> texts;  // Text, Name; of TextList, all values
  std::vector<int32_t> offsets;    // lists: rows + 1
};

struct Batch {
  int64_t rows = 0;
  std::vector<Values> columns;
};

class FileReader {
 public:
  /// Batches of more rows are refused, as are lists with more values: no writer of ours makes them.
  static constexpr int64_t kMaxRows = 1 << 20, kMaxItems = int64_t{1} << 28;

  /// Errors: it cannot be read, or is no Arrow file of ours; what is wrong is said.
  static Result<FileReader> open(const std::string& path);
  static Result<FileReader> parse(std::vector<uint8_t> bytes, const std::string& name);

  const Schema& schema() const { return footer_.schema; }
  size_t batches() const { return footer_.batches.size(); }
  /// Errors: the batch is broken.
  Result<Batch> batch(size_t number) const;

 private:
  FileReader() = default;
  Result<std::span<const uint8_t>> body(const Block& block, BatchLayout* layout) const;
  tl::unexpected<Diagnostic> broken(const std::string& what) const;

  std::string name_;
  std::vector<uint8_t> bytes_;
  Footer footer_;
  std::vector<std::vector<std::string>> dictionaries_;  // by column
};

}  // namespace tilesight::arrow
