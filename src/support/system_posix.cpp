#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "support/memory.h"
#include "support/system.h"

namespace tilesight::support {

void* allocatePages(uint64_t bytes) {
  void* start =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}

void freePages(void* start, uint64_t bytes) { munmap(start, bytes); }

Result<const uint8_t*> mapFile(const std::string& path, uint64_t bytes) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) return failure(Diagnostic{path, 0, 0, "cannot be read back", {}});
  void* start = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, number, 0);
  ::close(number);
  if (start == MAP_FAILED) return failure(Diagnostic{path, 0, 0, "cannot be mapped", {}});
  return static_cast<const uint8_t*>(start);
}

void unmapFile(const uint8_t* start, uint64_t bytes) { munmap(const_cast<uint8_t*>(start), bytes); }

void* allocateAligned(size_t alignment, size_t bytes) noexcept { return std::aligned_alloc(alignment, bytes); }
void freeAligned(void* memory) noexcept { std::free(memory); }

Status replaceFile(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return error ? failure(error.message()) : Status();
}

std::FILE* temporaryFile(const std::string& folder) {
  std::string name = folder + "/.spool-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return nullptr;
  unlink(name.c_str());
  return fdopen(file, "w+b");
}

int64_t processId() { return getpid(); }

}  // namespace tilesight::support
