// Filling the memory of a storage with a pattern.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace tilesight::launch {

inline void repeatPattern(uint8_t* out, uint64_t bytes, std::span<const uint8_t> pattern) {
  std::memcpy(out, pattern.data(), std::min<uint64_t>(pattern.size(), bytes));
  // Double what is there: each copy is a multiple of the pattern long.
  for (uint64_t done = pattern.size(); done < bytes;) {
    const uint64_t count = std::min(done, bytes - done);
    std::memcpy(out + done, out, count);
    done += count;
  }
}

/// Fills pages from support::allocatePages with a pattern of 1 to 16 bytes. False if there is no memory.
/// On POSIX a huge fill costs one block of memory, the rest as it is written; on Windows all of it.
bool fillPages(uint8_t* start, uint64_t bytes, std::span<const uint8_t> pattern);

}  // namespace tilesight::launch
