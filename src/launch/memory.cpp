#include "launch/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include <fmt/format.h>

namespace tilesight::launch {
namespace {

constexpr uint64_t smallBytes = 256 << 10;  // below this, plain heap memory
constexpr uint64_t alignment = 64;

tl::unexpected<Diagnostic> outOfMemory(uint64_t bytes) {
  return failure(fmt::format("no memory for a storage of {} bytes", bytes),
                 "check fewer launches at once, or on a machine with more memory");
}

std::shared_ptr<uint8_t> unmapLater(void* start, uint64_t bytes) {
  return {static_cast<uint8_t*>(start), [bytes](uint8_t* data) { munmap(data, bytes); }};
}

void repeatPattern(uint8_t* out, uint64_t bytes, std::span<const uint8_t> pattern) {
  std::memcpy(out, pattern.data(), std::min<uint64_t>(pattern.size(), bytes));
  // Double what is there: each copy is a multiple of the pattern long.
  for (uint64_t done = pattern.size(); done < bytes;) {
    const uint64_t count = std::min(done, bytes - done);
    std::memcpy(out + done, out, count);
    done += count;
  }
}

/// Maps one block of the pattern again and again, copy-on-write, so that a huge fill costs a block.
bool mapPattern(uint8_t* start, uint64_t bytes, std::span<const uint8_t> pattern) {
  constexpr uint64_t unit = 2 << 20;
  constexpr uint64_t maxMappings = 8192;  // the kernel allows a process about 65,000
  uint64_t block = (bytes + maxMappings - 1) / maxMappings;
  block = std::max<uint64_t>((block + unit - 1) / unit, 1) * unit;
  const int file = memfd_create("tilesight-fill", MFD_CLOEXEC);
  if (file < 0) return false;
  bool good = ftruncate(file, static_cast<off_t>(block)) == 0;
  if (good) {
    void* first = mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    good = first != MAP_FAILED;
    if (good) {
      repeatPattern(static_cast<uint8_t*>(first), block, pattern);
      munmap(first, block);
    }
  }
  for (uint64_t at = 0; good && at < bytes; at += block)
    good = mmap(start + at, std::min(block, bytes - at), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED;
  close(file);
  return good;
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
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return outOfMemory(bytes);
  std::shared_ptr<uint8_t> memory = unmapLater(start, bytes);
  if (!zero && !mapPattern(memory.get(), bytes, pattern)) return outOfMemory(bytes);
  return memory;
}

Status mapFile(uint8_t* memory, int file, uint64_t offset, uint64_t bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t mapped = 0;
  if (offset % page == 0 && reinterpret_cast<uintptr_t>(memory) % page == 0) {
    mapped = bytes / page * page;
    if (mapped && mmap(memory, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
                       static_cast<off_t>(offset)) == MAP_FAILED)
      return outOfMemory(bytes);
  }
  for (uint64_t at = mapped; at < bytes;) {
    const ssize_t count = pread(file, memory + at, bytes - at, static_cast<off_t>(offset + at));
    if (count <= 0) return failure("a file is shorter than it was");
    at += static_cast<uint64_t>(count);
  }
  return {};
}

size_t patternLength(const uint8_t* data, uint64_t bytes) {
  for (const size_t length : {1, 2, 4, 8, 16})
    if (bytes >= length && std::memcmp(data, data + length, bytes - length) == 0) return length;
  return 0;
}

}  // namespace tilesight::launch
