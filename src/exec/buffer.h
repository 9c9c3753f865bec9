// Reference-counted element buffers from a per-thread pool. Last-in-first-out reuse keeps the working
// set of a program in cache; a buffer with one reference may be overwritten in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilesight::exec {

class BufferPool;

struct alignas(64) Buffer {
  uint32_t refs = 0;
  uint32_t sizeClass = 0;
  BufferPool* pool = nullptr;
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
};

/// Not thread-safe: one pool a thread.
class BufferPool {
 public:
  BufferPool() = default;
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  Buffer* take(size_t bytes);
  void give(Buffer* buffer) { free_[buffer->sizeClass].push_back(buffer); }

 private:
  std::vector<Buffer*> free_[64];
};

class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) { ++buffer_->refs; }
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_) ++buffer_->refs;
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ && --buffer_->refs == 0) buffer_->pool->give(buffer_);
  }
  explicit operator bool() const { return buffer_ != nullptr; }
  uint8_t* bytes() const { return buffer_->bytes(); }
  bool unique() const { return buffer_ && buffer_->refs == 1; }
  /// What it takes of memory, at least.
  size_t held() const { return buffer_ ? sizeof(Buffer) + (size_t{1} << buffer_->sizeClass) : 0; }

 private:
  Buffer* buffer_ = nullptr;
};

}  // namespace tilesight::exec
