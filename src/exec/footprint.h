// Which bytes a range of programs read and wrote, so that ranges that ran side by side can be checked
// for conflicts and undone. One bit per granule, per storage; pages that nothing touches stay virtual.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/memory.h"

namespace tilesight::exec {

class BitSpan {
 public:
  explicit BitSpan(int64_t bits);
  ~BitSpan();
  BitSpan(BitSpan&& other) noexcept;
  BitSpan(const BitSpan&) = delete;
  BitSpan& operator=(const BitSpan&) = delete;
  /// Sets bits [from, to).
  void set(int64_t from, int64_t to);
  bool intersects(const BitSpan& other) const;
  bool any() const { return low_ < high_; }

 private:
  uint64_t* words_ = nullptr;
  int64_t count_ = 0;           // words
  int64_t low_, high_;          // words touched: [low_, high_)
};

class Footprint {
 public:
  /// `logged[s]`: keep the old bytes of writes to storage s, so that undo() can restore them.
  Footprint(const LaunchMemory& memory, const std::vector<bool>& logged);
  void read(const LaunchMemory& memory, BufferPool& pool, const Resolved& access);
  /// Call before the bytes change.
  void write(const LaunchMemory& memory, BufferPool& pool, const Resolved& access);
  /// Did one write what the other read or wrote?
  static bool conflict(const Footprint& a, const Footprint& b);
  /// Restores the bytes that were logged, last first.
  void undo();

 private:
  template <typename Visit>
  void forRuns(const LaunchMemory& memory, BufferPool& pool, const Resolved& access, Visit&& visit);

  struct Logged {
    uint8_t* at;
    uint32_t bytes;
    size_t offset;
  };
  const LaunchMemory& memory_;
  std::vector<int> granule_;  // log2 of bytes per bit
  std::vector<BitSpan> reads_, writes_;
  std::vector<bool> logged_;
  std::vector<Logged> log_;
  std::vector<uint8_t> bytes_;
};

}  // namespace tilesight::exec
