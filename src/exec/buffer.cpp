#include "exec/buffer.h"

#include <bit>
#include <new>

namespace tilesight::exec {

BufferPool::~BufferPool() {
  for (auto& list : free_)
    for (Buffer* buffer : list) ::operator delete(buffer, std::align_val_t{alignof(Buffer)});
}

Buffer* BufferPool::take(size_t bytes) {
  uint32_t sizeClass = bytes <= 64 ? 6 : static_cast<uint32_t>(std::bit_width(bytes - 1));
  auto& list = free_[sizeClass];
  if (!list.empty()) {
    Buffer* buffer = list.back();
    list.pop_back();
    return buffer;
  }
  // Kernels may read a vector past the last element: keep one cache line of slack.
  void* memory = ::operator new(sizeof(Buffer) + (size_t{1} << sizeClass) + 64,
                                std::align_val_t{alignof(Buffer)});
  auto* buffer = new (memory) Buffer;
  buffer->sizeClass = sizeClass;
  buffer->pool = this;
  return buffer;
}

}  // namespace tilesight::exec
