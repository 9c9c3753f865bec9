// What a view of a whole launch needs, added up while the launch runs: accesses per element of each tensor, and totals
// per operation and per program. So the page never asks for single accesses of a launch.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tilesight/client.h"

namespace tilesight::server {

/// How often the elements of one tensor argument were accessed. They are counted from its lowest to its highest
/// address, gaps of strided views included, in units of its element.
struct ElementMap {
  int64_t first = 0;          // virtual address of the lowest byte, that of the margin
  int64_t count = 0;          // elements, margins included; 0: no tensor, an empty one, or one of more than kMaxCounted
  int64_t margin = 0;         // elements that are counted before the first one and behind the last one
  int64_t bytes = 1;          // of an element
  std::vector<int32_t> reads, writes;  // empty: none
  std::vector<uint32_t> toucher;       // program number + 1 of the first one that reads or writes it; empty: none
  std::vector<uint32_t> writer;        // program number + 1 of the last one; kShared: others wrote it too; empty: none
  uint64_t outside = 0;       // accesses by way of this argument that lie elsewhere
};
inline constexpr uint32_t kShared = 1u << 31;
inline constexpr int64_t kMaxCounted = 1 << 27, kMargin = 4096;

struct OpTotals {
  uint64_t accesses = 0, elements = 0, active = 0, read = 0, written = 0, faults = 0;
};

struct ProgramTotals {
  std::vector<uint32_t> accesses, faults;
  std::vector<double> read, written, masked;  // bytes, bytes, elements that masks left out
};

/// The client. It has no fork: run it on one thread.
class Survey {
 public:
  static constexpr const char* name = "survey";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  Survey(const ts_host& host, const char*) : host_(&host) {}

  void launch_begin(const ts_launch& launch);
  void argument(const ts_argument& argument);
  void on_load(const ts_access& access) { take(access, true, false); }
  void on_store(const ts_access& access) { take(access, false, true); }
  void on_atomic(const ts_access& access) { take(access, true, true); }
  /// Call it once after the run: until then the counts are differences.
  void finish();

  const std::vector<ElementMap>& maps() const { return maps_; }  // by argument
  const std::map<uint32_t, OpTotals>& ops() const { return ops_; }
  const ProgramTotals& programs() const { return programs_; }

 private:
  void take(const ts_access& access, bool reads, bool writes);

  const ts_host* host_;
  std::vector<ElementMap> maps_;
  std::map<uint32_t, OpTotals> ops_;
  ProgramTotals programs_;
};

/// The rows of contiguous elements that an access touches: visit(argument, address, elements, times). Costs a step a
/// row where addresses and mask have a form, else one an element.
class Rows {
 public:
  explicit Rows(const ts_host& host) : host_(&host) {}
  template <typename Visit>
  void each(const ts_access& access, Visit&& visit);

 private:
  bool axes(const ts_access& access);

  const ts_host* host_;
  std::vector<std::vector<int64_t>> offsets_;  // per axis, of active indices
  std::vector<int64_t> addresses_;
  std::vector<uint8_t> mask_;
  std::vector<int32_t> arguments_;
};

template <typename Visit>
void Rows::each(const ts_access& access, Visit&& visit) {
  const int64_t bytes = access.element_bytes;
  if (access.active <= 0) return;
  if (access.argument >= 0 && axes(access)) {
    int64_t times = 1;
    size_t run = SIZE_MAX;
    std::vector<const std::vector<int64_t>*> outer;
    for (size_t d = 0; d < offsets_.size(); ++d) {
      const auto& axis = offsets_[d];
      if (axis.empty()) return;
      bool same = true, next = axis.size() > 1;
      for (size_t i = 1; i < axis.size() && (same || next); ++i) {
        same = same && axis[i] == axis[0];
        next = next && axis[i] - axis[i - 1] == bytes;
      }
      if (same && axis.size() > 1) times *= static_cast<int64_t>(axis.size()), outer.push_back(nullptr);
      else if (next && (run == SIZE_MAX || axis.size() > offsets_[run].size())) run = d, outer.push_back(&axis);
      else outer.push_back(&axis);
    }
    std::vector<size_t> at(offsets_.size(), 0);
    for (;;) {
      int64_t address = access.base;
      for (size_t d = 0; d < at.size(); ++d) address += offsets_[d][at[d]];
      visit(access.argument, address, run == SIZE_MAX ? int64_t{1} : static_cast<int64_t>(offsets_[run].size()), times);
      size_t d = at.size();
      while (d-- > 0) {
        if (d == run || !outer[d]) continue;
        if (++at[d] < outer[d]->size()) break;
        at[d] = 0;
      }
      if (d == SIZE_MAX) return;
    }
  }
  const size_t n = static_cast<size_t>(access.elements);
  addresses_.resize(n);
  mask_.resize(n);
  host_->addresses(&access, addresses_.data());
  host_->mask_bytes(&access, mask_.data());
  arguments_.assign(n, access.argument);
  if (access.argument < 0) host_->arguments(&access, arguments_.data());
  for (size_t i = 0; i < n;) {
    if (!mask_[i]) { ++i; continue; }
    size_t end = i + 1;
    while (end < n && mask_[end] && arguments_[end] == arguments_[i] && addresses_[end] == addresses_[end - 1] + bytes) ++end;
    visit(arguments_[i], addresses_[i], static_cast<int64_t>(end - i), int64_t{1});
    i = end;
  }
}

}  // namespace tilesight::server
