// Encoded batches of a range of programs until it is known that they count. Many of them go to a file without a name.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arrow/batch.h"
#include "support/result.h"

namespace tilesight::record {

class Spool {
 public:
  /// `folder`: where the file would lie.
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  Spool(Spool&&) noexcept = default;
  Spool& operator=(Spool&&) noexcept = default;

  /// Errors: the file cannot be written.
  Status add(arrow::Message message);
  /// All batches in order.
  Status drain(const std::function<Status(const arrow::Message&)>& take);

 private:
  static constexpr size_t kInMemory = size_t{12} << 20;
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Status spill();

  std::string folder_;
  std::vector<arrow::Message> messages_;  // with bytes, or, if they are in the file, without
  size_t spilled_ = 0;                    // messages in the file
  size_t inMemory_ = 0;                   // bytes
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace tilesight::record
