// Private writable memory for the storages of a bundle.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "support/result.h"

namespace tilesight::launch {

/// The largest storage that is accepted.
constexpr uint64_t maxStorageBytes = uint64_t{1} << 40;

/// `bytes` of private, writable memory that repeats `pattern` (1, 2, 4, 8 or 16 bytes; empty means
/// zeros), page-aligned when large. Nothing is touched until it is used: a terabyte of zeros or of a
/// pattern costs address space only. Errors: over `maxStorageBytes`, or no memory.
Result<std::shared_ptr<uint8_t>> allocate(uint64_t bytes, std::span<const uint8_t> pattern = {});

/// Puts `bytes` bytes of a file, from `offset` on, into `memory` that `allocate` has made: whole pages are mapped, privately,
/// so that nothing is read until it is used; the rest is read. The file must keep its bytes as long as the memory lives.
/// Errors: the file is shorter.
Status mapFile(uint8_t* memory, int file, uint64_t offset, uint64_t bytes);

/// The shortest pattern of 1, 2, 4, 8 or 16 bytes that `data` repeats; 0 if there is none. A single
/// look decides for most data.
size_t patternLength(const uint8_t* data, uint64_t bytes);

}  // namespace tilesight::launch
