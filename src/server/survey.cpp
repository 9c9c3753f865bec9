#include "server/survey.h"

#include <algorithm>

#include "ir/type.h"

namespace tilesight::server {
namespace {

constexpr int64_t kMaxProgramTotals = 1 << 26;

/// Elements first..past of the map that a row touches, clipped; false if none.
bool clip(ElementMap& map, int64_t address, int64_t elements, int64_t bytes, int64_t& first, int64_t& past) {
  const int64_t from = address - map.first, to = from + elements * bytes;
  first = from >= 0 ? from / map.bytes : 0;
  past = std::min((std::max<int64_t>(to, 0) + map.bytes - 1) / map.bytes, map.count);
  const int64_t inside = std::max<int64_t>(0, std::min(past, map.count - map.margin) - std::max(first, map.margin));
  const int64_t wanted = (elements * bytes + map.bytes - 1) / map.bytes;
  if (wanted > inside) map.outside += static_cast<uint64_t>(wanted - inside);
  return past > first;
}

void difference(std::vector<int32_t>& counts, const ElementMap& map, int64_t first, int64_t past, int64_t times) {
  if (counts.empty()) counts.resize(static_cast<size_t>(map.count) + 1);
  counts[static_cast<size_t>(first)] += static_cast<int32_t>(times);
  counts[static_cast<size_t>(past)] -= static_cast<int32_t>(times);
}

}  // namespace

bool Rows::axes(const ts_access& access) {
  const bool addressForm = access.form != TS_FORM_DENSE;
  const ts_mask& mask = access.mask;
  if (!addressForm || mask.form == TS_FORM_DENSE) return false;
  offsets_.resize(access.rank);
  for (uint32_t d = 0; d < access.rank; ++d) {
    auto& axis = offsets_[d];
    axis.clear();
    int64_t lo = 0, hi = access.shape[d];
    if (mask.form == TS_FORM_AFFINE || mask.form == TS_FORM_SEPARABLE) lo = mask.lo[d], hi = mask.hi[d];
    const uint8_t* active = mask.form == TS_FORM_SEPARABLE && mask.axis ? mask.axis[d] : nullptr;
    const int64_t* table = access.form == TS_FORM_SEPARABLE && access.axis ? access.axis[d] : nullptr;
    const int64_t stride = access.form == TS_FORM_SPLAT || !access.strides ? 0 : access.strides[d];
    for (int64_t i = lo; i < hi; ++i)
      if (!active || active[i]) axis.push_back(table ? table[i] : stride * i);
  }
  return true;
}

void Survey::launch_begin(const ts_launch& launch) {
  maps_.assign(launch.argument_count, {});
  int64_t programs = 1;
  for (int64_t extent : launch.grid) programs = extent > 0 && programs <= kMaxProgramTotals / extent ? programs * extent : 0;
  const size_t n = static_cast<size_t>(programs);
  programs_ = {std::vector<uint32_t>(n), std::vector<uint32_t>(n), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
}

void Survey::argument(const ts_argument& argument) {
  if (!argument.is_tensor || argument.index >= maps_.size()) return;
  ElementMap& map = maps_[argument.index];
  map.bytes = std::max<int64_t>(1, ir::elementBytes(static_cast<ir::ElementKind>(argument.element)));
  __int128 low = 0, high = 0;
  for (uint32_t d = 0; d < argument.rank; ++d) {
    if (argument.shape[d] <= 0) return;
    const __int128 reach = static_cast<__int128>(argument.shape[d] - 1) * argument.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  if (high - low + 1 > kMaxCounted) return;
  map.margin = kMargin;
  map.count = static_cast<int64_t>(high - low + 1) + 2 * map.margin;
  map.first = static_cast<int64_t>(argument.address) + (static_cast<int64_t>(low) - map.margin) * map.bytes;
}

void Survey::take(const ts_access& access, bool reads, bool writes) {
  OpTotals& op = ops_[access.op];
  const uint64_t bytes = static_cast<uint64_t>(access.active) * access.element_bytes;
  op.accesses += 1;
  op.elements += static_cast<uint64_t>(access.elements);
  op.active += static_cast<uint64_t>(access.active);
  op.faults += access.faults != 0;
  if (reads) op.read += bytes;
  if (writes) op.written += bytes;
  const size_t program = static_cast<size_t>(access.program->linear);
  if (program < programs_.accesses.size()) {
    programs_.accesses[program] += 1;
    programs_.faults[program] += access.faults != 0;
    if (reads) programs_.read[program] += static_cast<double>(bytes);
    if (writes) programs_.written[program] += static_cast<double>(bytes);
    programs_.masked[program] += static_cast<double>(access.elements - access.active);
  }

  Rows rows(*host_);
  const uint32_t me = static_cast<uint32_t>(program) + 1;
  rows.each(access, [&](int32_t argument, int64_t address, int64_t elements, int64_t times) {
    if (argument < 0 || static_cast<size_t>(argument) >= maps_.size()) return;
    ElementMap& map = maps_[static_cast<size_t>(argument)];
    int64_t first = 0, past = 0;
    if (!map.count || !clip(map, address, elements, access.element_bytes, first, past)) return;
    if (map.toucher.empty()) map.toucher.resize(static_cast<size_t>(map.count));
    for (int64_t i = first; i < past; ++i)
      if (uint32_t& earliest = map.toucher[static_cast<size_t>(i)]; !earliest) earliest = me;
    if (reads) difference(map.reads, map, first, past, times);
    if (!writes) return;
    difference(map.writes, map, first, past, times);
    if (map.writer.empty()) map.writer.resize(static_cast<size_t>(map.count));
    for (int64_t i = first; i < past; ++i) {
      uint32_t& last = map.writer[static_cast<size_t>(i)];
      const bool others = last && ((last & kShared) || last != me);
      last = me | (others && !reads ? kShared : 0);
    }
  });
}

void Survey::finish() {
  for (ElementMap& map : maps_)
    for (std::vector<int32_t>* counts : {&map.reads, &map.writes}) {
      int32_t sum = 0;
      for (int32_t& value : *counts) value = sum += value;
    }
}

}  // namespace tilesight::server
