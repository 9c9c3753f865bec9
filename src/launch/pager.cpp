#include "launch/pager.h"

#include <algorithm>
#include <cstring>

namespace tilesight::launch {

Pager::Pager(uint8_t* host, uint64_t bytes, Fetch fetch)
    : host_(host),
      bytes_(bytes),
      fetch_(std::move(fetch)),
      state_(std::make_unique<std::atomic<uint8_t>[]>(bytes / kPageBytes + 1)) {}

Pager::Span Pager::span(uint64_t page) const {
  return {page * kPageBytes, std::min(bytes_, (page + 1) * kPageBytes)};
}

bool Pager::need(uint64_t from, uint64_t to, bool forWrite) {
  to = std::min(to, bytes_);
  if (from >= to) return true;
  const uint64_t first = from / kPageBytes, last = (to - 1) / kPageBytes;
  uint64_t page = first;
  while (page <= last && ready(page, forWrite)) ++page;
  if (page > last) return !failed_.load(std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  while (page <= last) {
    if (state_[page].load(std::memory_order_relaxed) != kMissing) {
      ++page;
      continue;
    }
    uint64_t end = page + 1;
    while (end <= last && state_[end].load(std::memory_order_relaxed) == kMissing) ++end;
    const Span run{span(page).from, span(end - 1).to};
    if (!error_) {
      const Status status = fetch_(run.from, run.to - run.from, host_ + run.from);
      if (status) fetched_.push_back(run);
      else error_ = status.error();
      failed_ = error_.has_value();
    }
    for (; page < end; ++page) state_[page].store(kPresent, std::memory_order_release);
  }
  if (!forWrite) return !error_;
  for (page = first; page <= last; ++page) {
    if (state_[page].load(std::memory_order_relaxed) == kDirty) continue;
    // Nobody writes to the page yet: whoever wants to waits for the lock.
    const Span bytes = span(page);
    before_[page].assign(host_ + bytes.from, host_ + bytes.to);
    state_[page].store(kDirty, std::memory_order_release);
  }
  return !error_;
}

std::optional<Diagnostic> Pager::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

std::vector<Pager::Span> Pager::fetched() const {
  std::lock_guard lock(mutex_);
  return fetched_;
}

std::vector<Pager::Span> Pager::changed() const {
  std::lock_guard lock(mutex_);
  std::vector<Span> runs;
  for (const auto& [page, before] : before_) {
    const Span bytes = span(page);
    if (std::memcmp(before.data(), host_ + bytes.from, before.size()) == 0) continue;
    if (!runs.empty() && runs.back().to == bytes.from) runs.back().to = bytes.to;
    else runs.push_back(bytes);
  }
  return runs;
}

}  // namespace tilesight::launch
