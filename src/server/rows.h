// The rows of contiguous elements that an access touches.
#pragma once

#include <cstdint>
#include <vector>

#include "tilesight/client.h"

namespace tilesight::server {

class Rows {
 public:
  explicit Rows(const ts_host& host) : host_(&host) {}

  /// visit(argument, address, elements, times). Costs a step a row where addresses and mask have a form, else one an element.
  template <typename Visit>
  void each(const ts_access& access, Visit&& visit);

 private:
  /// An axis of the tile, as far as it is active: `count` indices, `stride` bytes apart, or with these offsets.
  struct Axis {
    int64_t count = 0, stride = 0;
    size_t list = SIZE_MAX;  // index in lists_
    size_t at = 0;
  };
  /// Fills axes_ (outer ones, outermost first), base_, run_ and times_. False: the access has no such form, or touches nothing.
  bool axes(const ts_access& access);
  bool axis(const ts_access& access, uint32_t d, Axis& axis);

  const ts_host* host_;
  std::vector<Axis> axes_;
  std::vector<std::vector<int64_t>> lists_;
  size_t used_ = 0;  // of lists_
  int64_t base_ = 0, run_ = 1, times_ = 1;
  std::vector<int64_t> addresses_;
  std::vector<uint8_t> mask_;
  std::vector<int32_t> arguments_;
};

template <typename Visit>
void Rows::each(const ts_access& access, Visit&& visit) {
  if (access.active <= 0) return;
  if (access.argument >= 0 && access.form != TS_FORM_DENSE && access.mask.form != TS_FORM_DENSE) {
    if (!axes(access)) return;
    int64_t address = base_;
    for (;;) {
      visit(access.argument, address, run_, times_);
      size_t d = axes_.size();
      for (; d > 0; --d) {
        Axis& axis = axes_[d - 1];
        const auto* list = axis.list == SIZE_MAX ? nullptr : lists_[axis.list].data();
        const int64_t was = list ? list[axis.at] : axis.stride * static_cast<int64_t>(axis.at);
        if (++axis.at < static_cast<size_t>(axis.count)) {
          address += (list ? list[axis.at] : axis.stride * static_cast<int64_t>(axis.at)) - was;
          break;
        }
        axis.at = 0;
        address += (list ? list[0] : 0) - was;
      }
      if (d == 0) return;
    }
  }
  const int64_t bytes = access.element_bytes;
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
