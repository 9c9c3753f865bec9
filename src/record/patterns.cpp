#include "record/patterns.h"

#include <algorithm>

namespace tilesight::record {

namespace {

bool boxed(const ts_mask& mask) { return mask.form == TS_FORM_AFFINE || mask.form == TS_FORM_SEPARABLE; }

}  // namespace

Pattern Pattern::of(const ts_access& access) {
  Pattern p;
  p.op = access.op;
  p.kind = access.kind;
  p.faults = access.faults;
  p.element = access.element;
  p.elementBytes = access.element_bytes;
  p.form = access.form;
  p.mask = access.mask.form;
  p.argument = access.argument;
  p.maskAll = p.mask == TS_FORM_SPLAT && access.mask.all;
  p.elements = access.elements;
  p.shape.assign(access.shape, access.shape + access.rank);
  if (p.form == TS_FORM_SPLAT) p.strides.assign(access.rank, 0);
  if (p.form == TS_FORM_AFFINE) p.strides.assign(access.strides, access.strides + access.rank);
  if (boxed(access.mask)) {
    p.low.assign(access.mask.lo, access.mask.lo + access.rank);
    p.high.assign(access.mask.hi, access.mask.hi + access.rank);
  } else if (p.mask == TS_FORM_SPLAT) {
    p.low.assign(access.rank, 0);
    if (p.maskAll) p.high = p.shape;
    else p.high.assign(access.rank, 0);
  }
  if (!p.exact()) return p;
  p.active = access.active;
  if (p.active <= 0) return p;
  for (uint32_t d = 0; d < access.rank; ++d) {
    const int64_t first = p.strides[d] * std::max<int64_t>(0, p.low[d]), last = p.strides[d] * (std::min(p.high[d], p.shape[d]) - 1);
    p.lowByte += std::min(first, last);
    p.endByte += std::max(first, last);
  }
  p.endByte += p.elementBytes;
  return p;
}

bool Pattern::fits(const ts_access& access) const {
  if (op != access.op || form != access.form || mask != access.mask.form || argument != access.argument ||
      faults != access.faults || kind != access.kind || elementBytes != access.element_bytes ||
      shape.size() != access.rank || elements != access.elements)
    return false;
  if (mask == TS_FORM_SPLAT && maskAll != (access.mask.all != 0)) return false;
  if (exact() && active != access.active) return false;
  const bool box = boxed(access.mask);
  for (uint32_t d = 0; d < access.rank; ++d) {
    if (shape[d] != access.shape[d]) return false;
    if (form == TS_FORM_AFFINE && strides[d] != access.strides[d]) return false;
    if (box && (low[d] != access.mask.lo[d] || high[d] != access.mask.hi[d])) return false;
  }
  return true;
}

uint32_t Patterns::number(const ts_access& access) {
  if (access.op >= lastOf_.size()) lastOf_.resize(access.op + 1, kNone);
  uint32_t& last = lastOf_[access.op];
  if (last == kNone || !all_[last].fits(access)) last = number(Pattern::of(access));
  return last;
}

uint32_t Patterns::number(const Pattern& pattern) {
  uint64_t hash = 1469598103934665603u;
  const auto mix = [&](int64_t value) { hash = (hash ^ static_cast<uint64_t>(value)) * 1099511628211u, hash ^= hash >> 29; };
  for (int64_t value : {static_cast<int64_t>(pattern.op), static_cast<int64_t>(pattern.form), static_cast<int64_t>(pattern.mask),
                        static_cast<int64_t>(pattern.maskAll), static_cast<int64_t>(pattern.argument)})
    mix(value);
  for (const auto* list : {&pattern.shape, &pattern.strides, &pattern.low, &pattern.high})
    for (int64_t value : *list) mix(value);
  const auto [it, fresh] = byHash_.emplace(hash, kNone);
  for (uint32_t at = it->second; at != kNone; at = next_[at])
    if (all_[at] == pattern) return at;
  const auto number = static_cast<uint32_t>(all_.size());
  all_.push_back(pattern);
  next_.push_back(it->second);
  it->second = number;
  return number;
}

void Patterns::clear() {
  all_.clear();
  next_.clear();
  byHash_.clear();
  std::fill(lastOf_.begin(), lastOf_.end(), kNone);
}

}  // namespace tilesight::record
