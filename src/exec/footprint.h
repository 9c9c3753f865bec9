// Which bytes a range of programs read and wrote, so that ranges that ran side by side can be checked
// for conflicts and undone. One bit per byte of each storage; pages that nothing touches stay virtual.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
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

/// What the storages held before ranges of programs ran side by side. The first range that is about to
/// write to a page keeps the page, whichever it is, so that no range keeps what another one wrote.
class UndoLog {
 public:
  /// `logged[s]`: keep the old bytes of storage s.
  UndoLog(const LaunchMemory& memory, const std::vector<bool>& logged);
  /// Call before bytes [from, to) of a storage change; from any thread.
  void keep(size_t storage, int64_t from, int64_t to);
  /// Restores what was kept. Call when no range runs any more.
  void undo();

 private:
  static constexpr int kPageBits = 12;
  struct Logged {
    uint8_t* data = nullptr;
    int64_t bytes = 0;
    std::unique_ptr<std::atomic<bool>[]> kept;  // per page; null: not logged
  };
  struct Page {
    uint8_t* at;
    int64_t bytes;
    size_t offset;  // in bytes_
  };
  std::vector<Logged> storages_;
  std::mutex mutex_;  // pages_, bytes_, and setting `kept`
  std::vector<Page> pages_;
  std::vector<uint8_t> bytes_;
};

/// What ranges that run side by side keep until all have ended: updates that were put off, and what was printed.
class HeldBytes {
 public:
  /// Of all ranges of a launch together.
  static constexpr size_t kLimit = size_t{256} << 20;
  /// From any thread. False if that is too much: the launch is then done in order, where nothing is kept.
  bool add(size_t bytes) { return bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kLimit; }

 private:
  std::atomic<size_t> bytes_{0};
};

class Footprint {
 public:
  /// `undo` hears of every write before it happens, `held` of what is kept for later. `written[s]`: some program may
  /// write storage s. Who reads others meets nobody, so that is not recorded.
  Footprint(const LaunchMemory& memory, const std::vector<bool>& written, UndoLog& undo, HeldBytes& held);
  void read(const LaunchMemory& memory, BufferPool& pool, const Resolved& access);
  /// Call before the bytes change.
  void write(const LaunchMemory& memory, BufferPool& pool, const Resolved& access);
  /// The same for bytes of a storage that lie side by side and are there.
  void read(size_t storage, int64_t at, int64_t bytes) {
    if (written_[storage]) reads_[storage].set(at, at + bytes);
  }
  void write(size_t storage, int64_t at, int64_t bytes) {
    writes_[storage].set(at, at + bytes);
    undo_.keep(storage, at, at + bytes);
  }
  /// An update of bytes that is made when all ranges have ended: updates of the same bytes do not conflict.
  void update(const LaunchMemory& memory, const Resolved& access);
  /// False if the range keeps more than there is room for.
  bool hold(size_t bytes) { return held_.add(bytes); }
  /// Did one write or update what the other read, or wrote, or (updates aside) updated?
  static bool conflict(const Footprint& a, const Footprint& b);
  /// Did it read or write what it was still to update?
  bool conflictsWithItself() const;

 private:
  const std::vector<bool>& written_;
  UndoLog& undo_;
  HeldBytes& held_;
  std::vector<BitSpan> reads_, writes_, updates_;
};

}  // namespace tilesight::exec
