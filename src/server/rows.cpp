#include "server/rows.h"

#include <algorithm>

namespace tilesight::server {

bool Rows::axis(const ts_access& access, uint32_t d, Axis& axis) {
  const ts_mask& mask = access.mask;
  int64_t lo = 0, hi = access.shape[d];
  if (mask.form == TS_FORM_AFFINE || mask.form == TS_FORM_SEPARABLE) lo = mask.lo[d], hi = mask.hi[d];
  if (hi <= lo) return false;
  const uint8_t* active = mask.form == TS_FORM_SEPARABLE && mask.axis ? mask.axis[d] : nullptr;
  const int64_t* table = access.form == TS_FORM_SEPARABLE && access.axis ? access.axis[d] : nullptr;
  const int64_t stride = access.form == TS_FORM_SPLAT || !access.strides ? 0 : access.strides[d];
  if (!active && !table) {
    base_ += lo * stride;
    axis.count = hi - lo, axis.stride = stride;
    return true;
  }
  if (used_ == lists_.size()) lists_.emplace_back();
  std::vector<int64_t>& list = lists_[used_];
  list.clear();
  for (int64_t i = lo; i < hi; ++i)
    if (!active || active[i]) list.push_back(table ? table[i] : stride * i);
  if (list.empty()) return false;
  axis.count = static_cast<int64_t>(list.size());
  bool regular = true;
  const int64_t step = axis.count > 1 ? list[1] - list[0] : 0;
  for (size_t i = 2; i < list.size() && regular; ++i) regular = list[i] - list[i - 1] == step;
  if (regular) {
    base_ += list[0];
    axis.stride = step;
  } else {
    axis.list = used_++;
  }
  return true;
}

bool Rows::axes(const ts_access& access) {
  axes_.clear();
  used_ = 0;
  base_ = access.base, run_ = times_ = 1;
  for (uint32_t d = 0; d < access.rank; ++d) {
    Axis one;
    if (!axis(access, d, one)) return false;
    if (one.count == 1 && one.list == SIZE_MAX) continue;
    if (one.list == SIZE_MAX && one.stride == 0) times_ *= one.count;
    else axes_.push_back(one);
  }
  // Axes that go on where a row ends make it longer, whatever their order.
  const int64_t bytes = access.element_bytes;
  for (bool found = true; found;) {
    found = false;
    for (size_t d = axes_.size(); d-- > 0 && !found;)
      if (axes_[d].list == SIZE_MAX && axes_[d].stride == run_ * bytes) {
        run_ *= axes_[d].count;
        axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(d));
        found = true;
      }
  }
  for (Axis& one : axes_)
    if (one.list != SIZE_MAX) base_ += lists_[one.list][0];
  return true;
}

}  // namespace tilesight::server
