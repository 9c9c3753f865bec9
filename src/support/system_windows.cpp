#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>

#include "support/memory.h"
#include "support/system.h"

namespace tilesight::support {

void* allocatePages(uint64_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void freePages(void* start, uint64_t) { VirtualFree(start, 0, MEM_RELEASE); }

Result<const uint8_t*> mapFile(const std::string& path, uint64_t bytes) {
  const HANDLE file = CreateFileW(std::filesystem::path(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                  nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return failure(Diagnostic{path, 0, 0, "cannot be read back", {}});
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  CloseHandle(file);
  void* start = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes) : nullptr;
  if (mapping) CloseHandle(mapping);  // the view keeps it
  if (!start) return failure(Diagnostic{path, 0, 0, "cannot be mapped", {}});
  return static_cast<const uint8_t*>(start);
}

void unmapFile(const uint8_t* start, uint64_t) { UnmapViewOfFile(start); }

void* allocateAligned(size_t alignment, size_t bytes) noexcept { return _aligned_malloc(bytes, alignment); }
void freeAligned(void* memory) noexcept { _aligned_free(memory); }

Status replaceFile(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return error ? failure(error.message()) : Status();
}

std::FILE* temporaryFile(const std::string& folder) {
  static std::atomic<unsigned> counter{0};
  const std::string name = folder + "/.spool-" + std::to_string(processId()) + "-" + std::to_string(counter.fetch_add(1));
  const int file = _open(name.c_str(), _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
  return file < 0 ? nullptr : _fdopen(file, "w+b");
}

int64_t processId() { return GetCurrentProcessId(); }

}  // namespace tilesight::support
