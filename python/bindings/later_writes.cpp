#include "later_writes.h"

#include <map>
#include <mutex>

namespace tilesight::binding {

namespace {

struct Written {
  uint64_t begin, launch;
  std::string kernel;
};

std::mutex mutex;
uint64_t launches = 0;
std::map<uint64_t, Written>& all() {  // by the address past the last byte; none overlap
  static auto* map = new std::map<uint64_t, Written>;
  return *map;
}

}  // namespace

uint64_t launchesSoFar() {
  std::lock_guard lock(mutex);
  return launches;
}

void countLaunch() {
  std::lock_guard lock(mutex);
  ++launches;
}

void noteWrite(const launch::Storage& storage, const std::string& kernel) {
  if (!storage.bytes) return;
  const auto begin = reinterpret_cast<uint64_t>(storage.data), end = begin + storage.bytes;
  std::lock_guard lock(mutex);
  auto it = all().upper_bound(begin);
  while (it != all().end() && it->second.begin < end) {
    // What sticks out on either side stays as it was.
    const Written old = it->second;
    const uint64_t oldEnd = it->first;
    it = all().erase(it);
    if (old.begin < begin) all().emplace(begin, old);
    if (oldEnd > end) it = std::next(all().emplace(oldEnd, Written{end, old.launch, old.kernel}).first);
  }
  all().emplace(end, Written{begin, launches, kernel});
}

std::optional<std::string> writtenSince(const launch::Storage& storage, uint64_t then) {
  const auto begin = reinterpret_cast<uint64_t>(storage.data), end = begin + storage.bytes;
  std::lock_guard lock(mutex);
  for (auto it = all().upper_bound(begin); it != all().end() && it->second.begin < end; ++it)
    if (it->second.launch > then) return it->second.kernel;
  return std::nullopt;
}

}  // namespace tilesight::binding
