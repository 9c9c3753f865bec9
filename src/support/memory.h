// Memory from the operating system, the same on POSIX and Windows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilesight::support {

/// `bytes` of zeroed private memory, page-aligned; null if there is none. On POSIX, pages that nobody
/// touches cost address space only; Windows counts all of them against its commit limit.
void* allocatePages(uint64_t bytes);
/// Gives back what allocatePages returned for the same `bytes`.
void freePages(void* start, uint64_t bytes);

/// `bytes`, a multiple of `alignment`, at a multiple of it (a power of two); null if there is none.
void* allocateAligned(size_t alignment, size_t bytes) noexcept;
void freeAligned(void* memory) noexcept;

}  // namespace tilesight::support
