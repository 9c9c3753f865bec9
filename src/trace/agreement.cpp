#include "trace/agreement.h"

#include <cstring>

namespace tilesight::trace {

void Agreement::stored(exec::Machine& machine, const exec::Resolved& access, const exec::Tile& value) {
  other_.stored(machine, access, value);
  if (!left_) return;
  const exec::LaunchMemory& memory = *machine.context().memory;
  const exec::Tile address = exec::contiguous(machine.pool(), access.address);
  const exec::Tile mask = exec::contiguous(machine.pool(), access.mask);
  const exec::Tile dense = exec::contiguous(machine.pool(), value);
  const auto* addresses = reinterpret_cast<const int64_t*>(address.data());
  const int64_t bytes = access.elementBytes;
  for (int64_t i = 0; i < address.numel(); ++i) {
    if (!mask.data()[i]) continue;
    const exec::StorageInfo* storage = nullptr;
    const int64_t at = memory.offsetOf(access, i, addresses[i], &storage);
    if (!storage) continue;  // outside: nothing was stored
    const auto s = static_cast<size_t>(storage - memory.storages().data());
    const uint8_t* held = left_->storages[s].data;
    if (!held || std::memcmp(held + at, dense.data() + i * bytes, static_cast<size_t>(bytes)) == 0) continue;
    if (!differing_.empty() && differing_.back().storage == s && differing_.back().at + differing_.back().count == at) differing_.back().count += bytes;
    else differing_.push_back({s, at, bytes});
  }
}

std::optional<Agreement::Bytes> Agreement::changed(const launch::Launch& after) const {
  for (const Bytes& d : differing_) {
    const uint8_t* again = after.storages[d.storage].data + d.at;
    const uint8_t* held = left_->storages[d.storage].data + d.at;
    for (int64_t i = 0; i < d.count; ++i)
      if (again[i] != held[i]) return Bytes{d.storage, d.at + i, 1};
  }
  return std::nullopt;
}

}  // namespace tilesight::trace
