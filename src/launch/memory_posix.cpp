#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launch/memory.h"
#include "launch/memory_fill.h"

namespace tilesight::launch {

// Maps one block of the pattern again and again, copy-on-write, so that a huge fill costs a block.
bool fillPages(uint8_t* start, uint64_t bytes, std::span<const uint8_t> pattern) {
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

Status mapFile(uint8_t* memory, int file, uint64_t offset, uint64_t bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t mapped = 0;
  if (offset % page == 0 && reinterpret_cast<uintptr_t>(memory) % page == 0) {
    mapped = bytes / page * page;
    if (mapped && mmap(memory, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
                       static_cast<off_t>(offset)) == MAP_FAILED)
      return failure(fmt::format("no memory to map {} bytes of a file", bytes), "check fewer launches at once");
  }
  for (uint64_t at = mapped; at < bytes;) {
    const ssize_t count = pread(file, memory + at, bytes - at, static_cast<off_t>(offset + at));
    if (count <= 0) return failure("a file is shorter than it was");
    at += static_cast<uint64_t>(count);
  }
  return {};
}

}  // namespace tilesight::launch
