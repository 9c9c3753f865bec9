// Memory that lies elsewhere (on a GPU): host memory of the same size, into which pages are fetched when
// the engine first touches them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "support/result.h"

namespace tilesight::launch {

class Pager {
 public:
  static constexpr uint64_t kPageBytes = 64 << 10;

  struct Span {
    uint64_t from = 0, to = 0;  // bytes [from, to) of the storage
    friend bool operator==(const Span&, const Span&) = default;
  };
  /// Copies `bytes` to `to`, which is byte `from` of the host memory. Called by one thread at a time.
  using Fetch = std::function<Status(uint64_t from, uint64_t bytes, uint8_t* to)>;

  /// `host` are `bytes` bytes that outlive the pager.
  Pager(uint8_t* host, uint64_t bytes, Fetch fetch);

  /// Is there anything to do before bytes of this page are read, or written?
  bool ready(uint64_t page, bool forWrite) const {
    return state_[page].load(std::memory_order_acquire) >= (forWrite ? kDirty : kPresent);
  }
  /// Fetches what is missing of the pages of [from, to), neighbours in one call; `forWrite` also keeps
  /// what they hold, so that changes can be told. From any thread. False if a fetch has failed, this one or
  /// one before: it left zeros, and `error` says why.
  bool need(uint64_t from, uint64_t to, bool forWrite);

  /// What the first failed fetch said.
  std::optional<Diagnostic> error() const;
  /// What was fetched, one span a call of the callback.
  std::vector<Span> fetched() const;
  /// Runs of pages whose bytes are no longer those that were fetched, in order. Call when nothing runs.
  std::vector<Span> changed() const;

  uint8_t* host() const { return host_; }
  uint64_t bytes() const { return bytes_; }

 private:
  enum State : uint8_t { kMissing, kPresent, kDirty };
  Span span(uint64_t page) const;

  uint8_t* host_;
  uint64_t bytes_;
  Fetch fetch_;
  std::unique_ptr<std::atomic<uint8_t>[]> state_;  // a State per page
  mutable std::mutex mutex_;                       // all below, and changes of state_
  std::map<uint64_t, std::vector<uint8_t>> before_;  // dirty page -> its bytes before the first write
  std::vector<Span> fetched_;
  std::optional<Diagnostic> error_;
  std::atomic<bool> failed_ = false;  // there is an error
};

}  // namespace tilesight::launch
