// The bytes of an access, as runs.
#pragma once

#include <algorithm>
#include <array>

#include "exec/memory.h"

namespace tilesight::exec {

/// Calls visit(storage number, byte offset in it, bytes) for runs of the active elements that lie inside
/// a storage. Elements that are side by side may come as one run, equal ones once or several times.
template <typename Visit>
void forRuns(const LaunchMemory& memory, const Resolved& access, Visit&& visit) {
  if (access.active == 0) return;
  const int64_t bytes = access.elementBytes;
  const Tile& address = access.address;
  if (!access.clean || !access.storage || address.form == Form::Dense || access.mask.form == Form::Dense ||
      !address.shape->symbolic()) {
    for (int64_t i = 0; i < address.numel(); ++i) {
      if (!elementBits(access.mask, i)) continue;
      const StorageInfo* storage = nullptr;
      const int64_t at = memory.offsetOf(access, i, elementBits(address, i), &storage);
      if (storage) visit(static_cast<size_t>(storage - memory.storages().data()), at, bytes);
    }
    return;
  }
  const auto storage = static_cast<size_t>(access.storage - memory.storages().data());
  const int rank = address.rank(), last = rank - 1;
  std::array<int64_t, kMaxRank> lo{}, hi{}, index{};
  std::array<const uint8_t*, kMaxRank> active{};
  const auto vectorOf = [&](int d) {
    return address.form == Form::Separable && address.axis[d] ? address.axisValues(d) : nullptr;
  };
  for (int d = 0; d < rank; ++d) {
    hi[d] = address.shape->dims[d];
    if (access.mask.form == Form::Box) {
      lo[d] = std::max<int64_t>(0, access.mask.stride[d]);
      hi[d] = std::min(access.mask.hi[d], hi[d]);
      active[d] = access.mask.axisMask(d);
    }
    if (!vectorOf(d) && (address.isSplat() || address.stride[d] == 0)) {
      // Its elements have one address: one that is active stands for all.
      while (active[d] && lo[d] < hi[d] && !active[d][lo[d]]) ++lo[d];
      active[d] = nullptr;
      hi[d] = std::min(hi[d], lo[d] + 1);
    }
    if (lo[d] >= hi[d]) return;
    index[d] = lo[d];
  }
  if (rank == 0) return visit(storage, address.base - access.storage->base, bytes);
  const int64_t* values = vectorOf(last);
  const int64_t step = address.isSplat() ? 0 : address.stride[last];
  const auto offset = [&](int64_t i) { return values ? values[i] : i * step; };
  while (true) {
    int64_t row = address.base - access.storage->base;
    bool here = true;
    for (int d = 0; d < last; ++d) {
      here = here && (!active[d] || active[d][index[d]]);
      if (address.isSplat()) continue;
      const int64_t* each = vectorOf(d);
      row += each ? each[index[d]] : index[d] * address.stride[d];
    }
    if (here && !values && !active[last] && (step == bytes || hi[last] - lo[last] == 1)) {
      visit(storage, row + offset(lo[last]), (hi[last] - lo[last]) * bytes);
    } else if (here) {
      // Runs of neighbours: what `% M` tails and row gathers mostly are.
      for (int64_t i = lo[last]; i < hi[last];) {
        int64_t end = i + 1;
        if (!active[last] || active[last][i]) {
          while (end < hi[last] && offset(end) == offset(end - 1) + bytes && (!active[last] || active[last][end])) ++end;
          visit(storage, row + offset(i), (end - i) * bytes);
        }
        i = end;
      }
    }
    int d = last - 1;
    for (; d >= 0; --d) {
      if (++index[d] < hi[d]) break;
      index[d] = lo[d];
    }
    if (d < 0) return;
  }
}

}  // namespace tilesight::exec
