#include "diff/touched.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "exec/machine.h"
#include "exec/runs.h"
#include "tilesight/client.hpp"

namespace tilesight::diff {

namespace {

constexpr uint64_t kAll = ~uint64_t{0};

/// Calls visit(word, mask) for the words that bits [from, to) lie in.
template <typename Visit>
void forWords(int64_t from, int64_t to, Visit&& visit) {
  for (int64_t at = from; at < to;) {
    const int64_t word = at >> 6, end = std::min(to, (word + 1) << 6);
    const int64_t count = end - at;
    visit(static_cast<size_t>(word), (count == 64 ? kAll : (uint64_t{1} << count) - 1) << (at & 63));
    at = end;
  }
}

/// No fork: it runs on one thread, in program order.
struct Watcher {
  static constexpr const char* name = "diff";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;
  Watcher(const ts_host& host, const char*) : host(&host) {}

  void on_load(const ts_access& access) { take(access, true, false); }
  void on_store(const ts_access& access) { take(access, false, true); }
  void on_atomic(const ts_access& access) { take(access, true, true); }

  void take(const ts_access& access, bool reads, bool writes) {
    const auto& core = *static_cast<const exec::AccessCore*>(access.core);
    exec::forRuns(*core.machine->context().memory, *core.resolved, [&](size_t storage, int64_t at, int64_t bytes) {
      if (reads) touched.read[storage].set(at, at + bytes);
      if (writes) touched.written[storage].set(at, at + bytes);
      for (size_t i = 0; i < watched.size(); ++i) {
        const Watched& w = watched[i];
        if (w.storage != storage || at >= w.to || at + bytes <= w.from || !(w.write ? writes : reads)) continue;
        if (w.write || !touches[i]) touches[i] = touch(access, *core.machine);
      }
    });
  }

  Touch touch(const ts_access& access, exec::Machine& machine) const {
    Touch touch;
    std::copy(access.program->id, access.program->id + 3, touch.program.begin());
    const char* file = nullptr;
    uint32_t column = 0;
    host->op_place(access.core, access.op, &file, &touch.line, &column);
    if (file) touch.file = file;
    for (const findings::Iteration& iteration : machine.iterations()) touch.trips.emplace_back(iteration.name, iteration.trip);
    return touch;
  }

  const ts_host* host;
  Touched touched;
  std::vector<Watched> watched;
  std::vector<std::optional<Touch>> touches;
};

}  // namespace

void Bytes::Free::operator()(uint64_t* words) const { std::free(words); }

Bytes::Bytes(int64_t bytes)
    : bytes_(bytes), words_(static_cast<uint64_t*>(std::calloc(static_cast<size_t>(bytes / 64 + 1), sizeof(uint64_t)))) {}

void Bytes::set(int64_t from, int64_t to) {
  forWords(from, to, [&](size_t word, uint64_t mask) {
    if ((words_[word] & mask) != mask) words_[word] |= mask;
  });
}

void Bytes::clear(int64_t from, int64_t to) {
  forWords(from, to, [&](size_t word, uint64_t mask) {
    if (words_[word] & mask) words_[word] &= ~mask;
  });
}

bool Bytes::any(int64_t from, int64_t to) const {
  bool found = false;
  forWords(from, to, [&](size_t word, uint64_t mask) { found = found || (words_[word] & mask); });
  return found;
}

int64_t Bytes::count() const {
  int64_t sum = 0;
  for (int64_t word = 0; word <= bytes_ / 64; ++word) sum += std::popcount(words_[static_cast<size_t>(word)]);
  return sum;
}

bool Bytes::operator==(const Bytes& other) const {
  return bytes_ == other.bytes_ && std::memcmp(words_.get(), other.words_.get(), static_cast<size_t>(bytes_ / 64 + 1) * 8) == 0;
}

Bytes Bytes::copy() const {
  Bytes result(bytes_);
  for (int64_t word = 0; word <= bytes_ / 64; ++word)
    if (words_[static_cast<size_t>(word)]) result.words_[static_cast<size_t>(word)] = words_[static_cast<size_t>(word)];
  return result;
}

Result<Ran> runTouching(const exec::Kernel& kernel, const launch::Launch& launch, const std::vector<Watched>& watched) {
  Watcher watcher(exec::host(), "");
  for (const launch::Storage& storage : launch.storages) {
    watcher.touched.read.emplace_back(static_cast<int64_t>(storage.bytes));
    watcher.touched.written.emplace_back(static_cast<int64_t>(storage.bytes));
  }
  watcher.watched = watched;
  watcher.touches.resize(watched.size());
  exec::RunOptions options;
  options.clients.push_back({&client_table<Watcher>(), "", &watcher});
  options.silent = true;
  auto report = exec::run(kernel, launch, options);
  if (!report) return failure(std::move(report).error());
  return Ran{std::move(*report), std::move(watcher.touched), std::move(watcher.touches)};
}

}  // namespace tilesight::diff
