#include "launch/memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "launch/memory_fill.h"
#include "support/memory.h"

namespace tilesight::launch {
namespace {

constexpr uint64_t smallBytes = 256 << 10;  // below this, plain heap memory
constexpr uint64_t alignment = 64;

tl::unexpected<Diagnostic> outOfMemory(uint64_t bytes) {
  return failure(fmt::format("no memory for a storage of {} bytes", bytes),
                 "check fewer launches at once, or on a machine with more memory");
}

std::shared_ptr<uint8_t> unmapLater(void* start, uint64_t bytes) {
  return {static_cast<uint8_t*>(start), [bytes](uint8_t* data) { support::freePages(data, bytes); }};
}

bool allZero(std::span<const uint8_t> pattern) {
  return std::all_of(pattern.begin(), pattern.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Result<std::shared_ptr<uint8_t>> allocate(uint64_t bytes, std::span<const uint8_t> pattern) {
  if (bytes > maxStorageBytes)
    return failure(fmt::format("a storage of {} bytes is larger than the limit of {} bytes", bytes,
                               maxStorageBytes));
  const bool zero = allZero(pattern);
  if (bytes < smallBytes) {
    const uint64_t size = std::max<uint64_t>(bytes, 1);
    auto* data = static_cast<uint8_t*>(
        ::operator new(size, std::align_val_t{alignment}, std::nothrow));
    if (!data) return outOfMemory(bytes);
    std::memset(data, 0, size);
    if (!zero) repeatPattern(data, bytes, pattern);
    return std::shared_ptr<uint8_t>(
        data, [](uint8_t* p) { ::operator delete(p, std::align_val_t{alignment}); });
  }
  void* start = support::allocatePages(bytes);
  if (!start) return outOfMemory(bytes);
  std::shared_ptr<uint8_t> memory = unmapLater(start, bytes);
  if (!zero && !fillPages(memory.get(), bytes, pattern)) return outOfMemory(bytes);
  return memory;
}

size_t patternLength(const uint8_t* data, uint64_t bytes) {
  for (const size_t length : {1, 2, 4, 8, 16})
    if (bytes >= length && std::memcmp(data, data + length, bytes - length) == 0) return length;
  return 0;
}

}  // namespace tilesight::launch
