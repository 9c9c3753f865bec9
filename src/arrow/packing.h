// Buffers as they lie in a file: with zstd, if the build has it and it makes them smaller.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/result.h"

namespace tilesight::arrow {

/// Is zstd built in?
bool packs();

/// A buffer of a body: its length in front if buffers are compressed, -1 there if this one is not. Shared, so that
/// equal columns of several batches are packed once.
using Packed = std::shared_ptr<const std::vector<uint8_t>>;

/// Not thread-safe: one a thread.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  Packed pack(std::span<const uint8_t> raw);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// The raw bytes of a buffer of a file whose batches say that they are (not) compressed. Errors: it is broken, or holds
/// more than `limit` bytes.
Result<std::vector<uint8_t>> unpack(std::span<const uint8_t> stored, bool compressed, uint64_t limit);

}  // namespace tilesight::arrow
