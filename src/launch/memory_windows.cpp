#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <io.h>

#include <algorithm>
#include <cstdio>

#include "launch/memory.h"
#include "launch/memory_fill.h"

namespace tilesight::launch {

bool fillPages(uint8_t* start, uint64_t bytes, std::span<const uint8_t> pattern) {
  // All of it becomes used memory: what would only page is refused.
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  if (GlobalMemoryStatusEx(&memory) && bytes > memory.ullAvailPhys) return false;
  repeatPattern(start, bytes, pattern);
  return true;
}

// Windows puts no file into memory that is there already: it is read.
Status mapFile(uint8_t* memory, int file, uint64_t offset, uint64_t bytes) {
  if (_lseeki64(file, static_cast<int64_t>(offset), SEEK_SET) < 0) return failure("a file is shorter than it was");
  constexpr uint64_t most = 1 << 30;
  for (uint64_t at = 0; at < bytes;) {
    const int count = _read(file, memory + at, static_cast<unsigned>(std::min(most, bytes - at)));
    if (count <= 0) return failure("a file is shorter than it was");
    at += static_cast<uint64_t>(count);
  }
  return {};
}

}  // namespace tilesight::launch
