#include "exec/footprint.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <vector>

#include "exec/runs.h"
#include "support/memory.h"

namespace tilesight::exec {

namespace {

// Mappings that launches before have used and cleared: a fresh one costs a page fault for every 4 KiB that
// is touched, which is a good part of a short launch.
class Mappings {
 public:
  /// At least `words` zeroed words; their count comes back in `words`. Null if there is no memory.
  uint64_t* take(int64_t* words) {
    {
      std::lock_guard lock(mutex_);
      for (auto it = free_.rbegin(); it != free_.rend(); ++it)
        if (it->words >= *words && it->words <= 2 * *words) {
          uint64_t* memory = it->memory;
          *words = it->words;
          free_.erase(std::next(it).base());
          return memory;
        }
    }
    // Untouched pages cost nothing.
    return static_cast<uint64_t*>(support::allocatePages(static_cast<uint64_t>(*words) * 8));
  }

  /// Takes a mapping back of which words [low, high) were touched.
  void give(uint64_t* memory, int64_t words, int64_t low, int64_t high) {
    if (high - low <= kKeptWords) {
      if (low < high) std::memset(memory + low, 0, static_cast<size_t>(high - low) * 8);
      std::lock_guard lock(mutex_);
      if (free_.size() < kKept) {
        free_.push_back({memory, words});
        return;
      }
    }
    support::freePages(memory, static_cast<uint64_t>(words) * 8);
  }

 private:
  static constexpr size_t kKept = 64;
  static constexpr int64_t kKeptWords = 1 << 16;  // 512 KiB: clearing more costs as much as faults
  struct Mapping {
    uint64_t* memory;
    int64_t words;
  };
  std::mutex mutex_;
  std::vector<Mapping> free_;
};

Mappings& mappings() {
  static Mappings* all = new Mappings;  // never destroyed: threads may outlive static objects
  return *all;
}

}  // namespace

BitSpan::BitSpan(int64_t bits) : count_((bits + 63) / 64 + 1), low_(count_), high_(0) {}

BitSpan::~BitSpan() {
  if (words_) mappings().give(words_, count_, low_, high_);
}

BitSpan::BitSpan(BitSpan&& other) noexcept
    : words_(std::exchange(other.words_, nullptr)), count_(other.count_), low_(other.low_), high_(other.high_) {}

void BitSpan::set(int64_t from, int64_t to) {
  if (from >= to) return;
  if (!any()) words_ = mappings().take(&count_);  // most spans are never touched
  int64_t first = from / 64, last = (to - 1) / 64;
  low_ = std::min(low_, first);
  high_ = std::max(high_, last + 1);
  if (!words_) return;  // no memory for the bits: intersects() answers by what it knows
  uint64_t head = ~uint64_t{0} << (from % 64), tail = ~uint64_t{0} >> (63 - (to - 1) % 64);
  if (first == last) {
    words_[first] |= head & tail;
    return;
  }
  words_[first] |= head;
  std::memset(words_ + first + 1, 0xff, static_cast<size_t>(last - first - 1) * 8);
  words_[last] |= tail;
}

bool BitSpan::intersects(const BitSpan& other) const {
  if (!any() || !other.any()) return false;
  if (!words_ || !other.words_) return true;
  int64_t low = std::max(low_, other.low_), high = std::min(high_, other.high_);
  constexpr int64_t kBlock = 64;  // words looked at in one go, by vector instructions
  while (low < high) {
    const int64_t end = std::min(low + kBlock, high);
    uint64_t common = 0;
    for (int64_t i = low; i < end; ++i) common |= words_[i] & other.words_[i];
    if (common) return true;
    low = end;
  }
  return false;
}

UndoLog::UndoLog(const LaunchMemory& memory, const std::vector<bool>& logged) : storages_(memory.storages().size()) {
  for (size_t s = 0; s < storages_.size(); ++s) {
    if (!logged[s]) continue;
    const StorageInfo& info = memory.storages()[s];
    storages_[s].data = info.data;
    storages_[s].bytes = static_cast<int64_t>(info.bytes);
    storages_[s].kept = std::make_unique<std::atomic<bool>[]>(static_cast<size_t>((info.bytes >> kPageBits) + 1));
  }
}

void UndoLog::keep(size_t storage, int64_t from, int64_t to) {
  Logged& logged = storages_[storage];
  if (!logged.kept || from >= to) return;
  for (int64_t page = from >> kPageBits; page <= (to - 1) >> kPageBits; ++page) {
    if (logged.kept[page].load(std::memory_order_acquire)) continue;
    std::lock_guard lock(mutex_);
    if (logged.kept[page].load(std::memory_order_relaxed)) continue;
    uint8_t* at = logged.data + (page << kPageBits);
    int64_t bytes = std::min<int64_t>(int64_t{1} << kPageBits, logged.bytes - (page << kPageBits));
    pages_.push_back({at, bytes, bytes_.size()});
    bytes_.insert(bytes_.end(), at, at + bytes);
    logged.kept[page].store(true, std::memory_order_release);
  }
}

void UndoLog::undo() {
  for (const Page& page : pages_) std::memcpy(page.at, bytes_.data() + page.offset, static_cast<size_t>(page.bytes));
}

Footprint::Footprint(const LaunchMemory& memory, const std::vector<bool>& written, UndoLog& undo, HeldBytes& held)
    : written_(written), undo_(undo), held_(held) {
  for (size_t s = 0; s < memory.storages().size(); ++s) {
    int64_t bits = memory.storages()[s].bytes;
    reads_.emplace_back(bits);
    writes_.emplace_back(bits);
    updates_.emplace_back(bits);
  }
}

void Footprint::read(const LaunchMemory& memory, BufferPool&, const Resolved& access) {
  if (access.storage && !written_[static_cast<size_t>(access.storage - memory.storages().data())]) return;
  forRuns(memory, access, [&](size_t s, int64_t at, int64_t bytes) {
    if (written_[s]) reads_[s].set(at, at + bytes);
  });
}

void Footprint::write(const LaunchMemory& memory, BufferPool&, const Resolved& access) {
  memory.bring(access);  // what is kept below must be there
  forRuns(memory, access, [&](size_t s, int64_t at, int64_t bytes) {
    writes_[s].set(at, at + bytes);
    undo_.keep(s, at, at + bytes);
  });
}

void Footprint::update(const LaunchMemory& memory, const Resolved& access) {
  forRuns(memory, access, [&](size_t s, int64_t at, int64_t bytes) { updates_[s].set(at, at + bytes); });
}

bool Footprint::conflict(const Footprint& a, const Footprint& b) {
  for (size_t s = 0; s < a.reads_.size(); ++s)
    if (a.writes_[s].intersects(b.writes_[s]) || a.writes_[s].intersects(b.reads_[s]) ||
        a.reads_[s].intersects(b.writes_[s]) || a.updates_[s].intersects(b.reads_[s]) ||
        a.updates_[s].intersects(b.writes_[s]) || a.reads_[s].intersects(b.updates_[s]) ||
        a.writes_[s].intersects(b.updates_[s]))
      return true;
  return false;
}

bool Footprint::conflictsWithItself() const {
  for (size_t s = 0; s < updates_.size(); ++s)
    if (updates_[s].intersects(reads_[s]) || updates_[s].intersects(writes_[s])) return true;
  return false;
}

}  // namespace tilesight::exec
