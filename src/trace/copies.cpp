#include "trace/copies.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "exec/parameters.h"
#include "launch/pager.h"

namespace tilesight::trace {

namespace {

// Memory of copies that are gone: fresh pages cost more than the copy itself.
class Recycled {
 public:
  static Recycled& all() {
    static Recycled* recycled = new Recycled;  // never destroyed: launches may outlive static objects
    return *recycled;
  }

  /// At least `bytes`, and `*held` of them; null if there is none.
  uint8_t* take(uint64_t bytes, uint64_t* held) {
    std::lock_guard lock(mutex_);
    for (size_t i = blocks_.size(); i-- > 0;) {
      if (blocks_[i].bytes < bytes || blocks_[i].bytes > bytes + bytes / 4) continue;
      const Block block = blocks_[i];
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
      total_ -= block.bytes;
      *held = block.bytes;
      return block.memory;
    }
    return nullptr;
  }

  void give(uint8_t* memory, uint64_t bytes) {
    std::lock_guard lock(mutex_);
    if (bytes > kLimit) return std::free(memory);
    while (total_ + bytes > kLimit) {  // the oldest go
      std::free(blocks_.front().memory);
      total_ -= blocks_.front().bytes;
      blocks_.erase(blocks_.begin());
    }
    blocks_.push_back({memory, bytes});
    total_ += bytes;
  }

 private:
  static constexpr uint64_t kLimit = uint64_t{64} << 20;
  struct Block {
    uint8_t* memory;
    uint64_t bytes;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_;
  uint64_t total_ = 0;
};

std::shared_ptr<uint8_t> copied(const launch::Storage& storage) {
  uint64_t held = storage.bytes;
  if (uint8_t* again = Recycled::all().take(storage.bytes, &held)) {
    std::memcpy(again, storage.data, storage.bytes);
    return {again, [held](uint8_t* p) { Recycled::all().give(p, held); }};
  }
  // Pages of zeros that are only looked at cost nothing.
  const std::shared_ptr<uint8_t> bytes(static_cast<uint8_t*>(std::calloc(storage.bytes, 1)),
                                       [held](uint8_t* p) { Recycled::all().give(p, held); });
  constexpr uint64_t kChunk = 65536;
  static const std::vector<uint8_t> zeros(kChunk);
  for (uint64_t at = 0; at < storage.bytes; at += kChunk) {
    const uint64_t size = std::min(kChunk, storage.bytes - at);
    if (std::memcmp(storage.data + at, zeros.data(), size) != 0) std::memcpy(bytes.get() + at, storage.data + at, size);
  }
  return bytes;
}

std::shared_ptr<launch::Launch> withCopies(const launch::Launch& launch, const std::vector<bool>& chosen) {
  auto copy = std::make_shared<launch::Launch>(launch);
  for (size_t s = 0; s < copy->storages.size(); ++s) {
    launch::Storage& storage = copy->storages[s];
    if (!chosen[s] || !storage.bytes) continue;
    if (storage.pager) storage.pager->need(0, storage.bytes, false);
    storage.pager.reset();
    const std::shared_ptr<uint8_t> bytes = copied(storage);
    storage.data = bytes.get();
    storage.owner = bytes;
  }
  return copy;
}

}  // namespace

std::shared_ptr<launch::Launch> copyForRun(const exec::Kernel& kernel, const launch::Launch& launch) {
  return withCopies(launch, exec::mayWrite(kernel, launch));
}

std::shared_ptr<launch::Launch> copyForLater(const exec::Kernel& kernel, const launch::Launch& launch) {
  const exec::TouchedStorages touched = exec::mayTouch(kernel, launch);
  std::vector<bool> both(touched.read.size());
  // What lies on a device is given back to it, so it is not there later to be compared with.
  for (size_t s = 0; s < both.size(); ++s) both[s] = touched.written[s] && (touched.read[s] || launch.storages[s].pager);
  return withCopies(launch, both);
}

}  // namespace tilesight::trace
