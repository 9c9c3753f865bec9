#include "exec/memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "exec/elementwise.h"
#include "exec/kernels/kernels.h"
#include "exec/runs.h"
#include "exec/stopper.h"

namespace tilesight::exec {

namespace {

// Allocations sit 2^44 bytes apart, so that an address that strays from one is not taken for
// another; the low bits are the recorded ones, so that alignment is what it was.
constexpr int64_t kApart = int64_t{1} << 44;
constexpr int64_t kAlignmentKept = 1 << 16;
constexpr int64_t kNullPage = 4096;

// Is [offset, offset + bytes) covered by elements of the lattice?
bool onLattice(const std::vector<ViewInfo::Axis>& axes, size_t at, int64_t offset, int64_t elementBytes,
               int64_t bytes) {
  if (offset < 0) return false;
  if (at == axes.size()) return offset + bytes <= elementBytes;
  const auto& axis = axes[at];
  // i * stride + rest covers offset for few i: those whose remainder the smaller axes can reach.
  int64_t last = std::min(axis.size - 1, offset / axis.stride);
  for (int64_t i = last; i >= 0; --i) {
    int64_t remainder = offset - i * axis.stride;
    if (remainder > axis.rest) break;
    if (onLattice(axes, at + 1, remainder, elementBytes, bytes)) return true;
  }
  return false;
}

// A run of bytes may span several elements that lie side by side (8-byte access on 4-byte elements).
bool inView(const ViewInfo& view, int64_t address, int64_t bytes) {
  if (address < view.low || address + bytes > view.high) return false;
  if (view.contiguous) return true;
  int64_t offset = address - view.low;
  if (onLattice(view.axes, 0, offset, view.elementBytes, bytes)) return true;
  if (bytes <= 1) return false;
  for (int64_t b = 0; b < bytes; ++b)
    if (!onLattice(view.axes, 0, offset + b, view.elementBytes, 1)) return false;
  return true;
}

// May an access go anywhere in the view's allocation? A view that repeats its elements (expand, as_strided) does not
// say what a program reads that steps over it by strides of its own, as gathers and broadcasts do.
bool boundless(const ViewInfo& view, bool writes) { return view.repeats && !writes; }

// Do all elements of an affine tile over [lo, hi) lie on the lattice? Sufficient, not necessary:
// every tile axis must step along axes of the view and no digit may leave its axis.
bool affineOnLattice(const ViewInfo& view, int64_t base, const Tile& tile, const int64_t* lo, const int64_t* hi,
                     int64_t bytes) {
  if (bytes != view.elementBytes) return false;
  size_t count = view.axes.size();
  std::vector<int64_t> low(count), high(count);
  int64_t offset = base - view.low;
  auto addDigits = [&](int64_t value, int64_t repeat, bool start) {
    bool negative = value < 0;
    int64_t left = std::abs(value);
    for (size_t k = 0; k < count; ++k) {
      int64_t digit = left / view.axes[k].stride;
      left -= digit * view.axes[k].stride;
      if (negative) digit = -digit;
      if (start) {
        low[k] += digit;
        high[k] += digit;
      } else {
        low[k] += std::min<int64_t>(0, digit * repeat);
        high[k] += std::max<int64_t>(0, digit * repeat);
      }
    }
    return left == 0;
  };
  int64_t start = offset;
  for (int d = 0; d < tile.rank(); ++d) start += lo[d] * tile.stride[d];
  if (start < 0 || !addDigits(start, 1, true)) return false;
  for (int d = 0; d < tile.rank(); ++d)
    if (tile.stride[d] && !addDigits(tile.stride[d], hi[d] - lo[d] - 1, false)) return false;
  for (size_t k = 0; k < count; ++k)
    if (low[k] < 0 || high[k] >= view.axes[k].size) return false;
  return true;
}

// Virtual addresses to host addresses of one storage, as integers: the difference of the two is no
// pointer into anything.
class HostBase {
 public:
  explicit HostBase(const StorageInfo& storage)
      : difference_(reinterpret_cast<uintptr_t>(storage.data) - static_cast<uintptr_t>(storage.base)) {}
  uint8_t* operator+(int64_t address) const {
    return reinterpret_cast<uint8_t*>(difference_ + static_cast<uintptr_t>(address));
  }

 private:
  uintptr_t difference_;
};

struct Box {
  std::array<int64_t, kMaxRank> lo{}, hi{};
  std::array<const uint8_t*, kMaxRank> mask{};
};

// The box of a mask in Splat or Box form.
bool boxOf(const Tile& mask, Box* box) {
  if (!mask.shape->symbolic()) return false;
  for (int d = 0; d < mask.rank(); ++d) {
    box->hi[d] = mask.shape->dims[d];
    if (mask.form == Form::Box) {
      box->lo[d] = std::max<int64_t>(0, mask.stride[d]);
      box->hi[d] = std::min(mask.hi[d], mask.shape->dims[d]);
      box->mask[d] = mask.axisMask(d);
    }
  }
  return mask.form == Form::Box || mask.isSplat();
}

// Smallest and largest address over a box. False if the form is dense.
bool addressRange(const Tile& address, const Box& box, Range* range, uint64_t* low) {
  if (address.form == Form::Dense) return false;
  __int128 min = address.base, max = address.base;
  uint64_t bits = static_cast<uint64_t>(address.base);
  if (address.form != Form::Splat)
    for (int d = 0; d < address.rank(); ++d) {
      int64_t lo = box.lo[d], hi = box.hi[d];
      if (address.form == Form::Separable && address.axis[d]) {
        const int64_t* v = address.axisValues(d);
        int64_t smallest = INT64_MAX, largest = INT64_MIN;
        for (int64_t i = lo; i < hi; ++i) {
          if (box.mask[d] && !box.mask[d][i]) continue;
          smallest = std::min(smallest, v[i]);
          largest = std::max(largest, v[i]);
          bits |= static_cast<uint64_t>(v[i]);
        }
        min += smallest;
        max += largest;
      } else if (address.stride[d]) {
        while (box.mask[d] && lo < hi && !box.mask[d][lo]) ++lo;
        while (box.mask[d] && lo < hi && !box.mask[d][hi - 1]) --hi;
        __int128 a = static_cast<__int128>(address.stride[d]) * lo;
        __int128 b = static_cast<__int128>(address.stride[d]) * (hi - 1);
        min += std::min(a, b);
        max += std::max(a, b);
        bits |= static_cast<uint64_t>(address.stride[d]);
      }
    }
  if (min < INT64_MIN || max > INT64_MAX) return false;
  range->min = static_cast<int64_t>(min);
  range->max = static_cast<int64_t>(max);
  *low = bits;
  return true;
}

}  // namespace

LaunchMemory::LaunchMemory(const launch::Launch& launch, Stopper* stopper) : stopper_(stopper) {
  for (size_t i = 0; i < launch.storages.size(); ++i) {
    const launch::Storage& s = launch.storages[i];
    StorageInfo info;
    info.data = s.data;
    info.bytes = static_cast<int64_t>(s.bytes);
    info.recorded = static_cast<int64_t>(s.recordedBase);
    info.base = kApart * static_cast<int64_t>(i + 1) + info.recorded % kAlignmentKept;
    info.known = s.allocationKnown;
    info.readOnly = s.readOnly;
    info.pager = s.pager.get();
    paged_ = paged_ || info.pager;
    guarded_ = guarded_ || info.readOnly;
    storages_.push_back(info);
  }
  // Allocations that no argument shows (their data_ptr() was taken) get a view of their bytes.
  std::vector<launch::Argument> arguments = launch.arguments;
  for (size_t s = 0; s < launch.storages.size(); ++s) {
    bool shown = std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const launch::Argument& a) {
      return (a.kind == launch::Argument::Kind::Tensor || a.kind == launch::Argument::Kind::Descriptor) && a.view.storage == s;
    });
    if (shown) continue;
    launch::Argument whole;
    whole.kind = launch::Argument::Kind::Tensor;
    whole.name = launch.storages[s].name;
    whole.view.element = ElementKind::I8;
    whole.view.dtype = "uint8";
    whole.view.shape = {static_cast<int64_t>(launch.storages[s].bytes)};
    whole.view.strides = {1};
    whole.view.storage = static_cast<uint32_t>(s);
    arguments.push_back(std::move(whole));
  }
  viewOfArgument_.assign(arguments.size(), -1);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const launch::Argument& a = arguments[i];
    if (a.kind != launch::Argument::Kind::Tensor && a.kind != launch::Argument::Kind::Descriptor) continue;
    ViewInfo view;
    view.argument = static_cast<uint32_t>(i);
    view.name = a.name;
    view.element = a.view.element;
    view.dtype = a.view.dtype;
    view.elementBytes = std::max<int64_t>(1, ir::elementBytes(a.view.element));
    view.shape = a.view.shape;
    view.strides = a.view.strides;
    view.storage = a.view.storage;
    view.readOnly = a.view.readOnly || storages_[view.storage].readOnly;
    guarded_ = guarded_ || view.readOnly;
    view.address = storages_[view.storage].base + a.view.offset;
    view.low = view.high = view.address;
    bool empty = false;
    for (size_t d = 0; d < view.shape.size(); ++d) {
      empty = empty || view.shape[d] == 0;
      int64_t reach = (view.shape[d] - 1) * view.strides[d] * view.elementBytes;
      if (view.shape[d] > 1) (reach < 0 ? view.low : view.high) += reach;
      view.repeats = view.repeats || (view.shape[d] > 1 && view.strides[d] == 0);
      if (view.shape[d] > 1 && view.strides[d])
        view.axes.push_back({std::abs(view.strides[d]) * view.elementBytes, view.shape[d], 0});
    }
    if (empty) {
      view.low = view.high = view.address;
    } else {
      view.high += view.elementBytes;
    }
    std::sort(view.axes.begin(), view.axes.end(), [](const auto& x, const auto& y) { return x.stride > y.stride; });
    int64_t rest = view.elementBytes - 1;
    view.contiguous = true;
    for (size_t k = view.axes.size(); k-- > 0;) {
      if (view.axes[k].stride > rest + 1) view.contiguous = false;
      view.axes[k].rest = rest;
      rest += view.axes[k].stride * (view.axes[k].size - 1);
    }
    // A descriptor may promise more than its tensor has.
    const StorageInfo& whole = storages_[view.storage];
    view.high = std::max(view.low, std::min(view.high, whole.base + whole.bytes));
    viewOfArgument_[i] = static_cast<int32_t>(views_.size());
    views_.push_back(std::move(view));
  }
}

const ViewInfo* LaunchMemory::view(int32_t argument) const {
  if (argument < 0 || argument >= static_cast<int32_t>(viewOfArgument_.size())) return nullptr;
  int32_t index = viewOfArgument_[argument];
  return index < 0 ? nullptr : &views_[index];
}

const StorageInfo* LaunchMemory::byAddress(int64_t* address) const {
  for (const StorageInfo& s : storages_) {
    if (*address >= s.base && *address < s.base + s.bytes) return &s;
    if (s.recorded && *address >= s.recorded && *address < s.recorded + s.bytes) {
      *address += s.base - s.recorded;
      return &s;
    }
  }
  return nullptr;
}

// The storage and view that one element's address is judged against; integers that were data
// pointers are translated.
const StorageInfo* LaunchMemory::storageOf(const Resolved& access, int64_t element, int64_t* address,
                                           const ViewInfo** view) const {
  int32_t origin = access.address.origin;
  if (origin == kOriginMixed)
    origin = reinterpret_cast<const int32_t*>(access.address.origins.bytes())[element];
  *view = this->view(origin);
  if (*view) return &storages_[(*view)->storage];
  return byAddress(address);
}

Tile LaunchMemory::adopt(BufferPool& pool, Tile pointer) const {
  // The view that begins at the address, else one that holds it, else the first of the storage.
  auto originOf = [&](int64_t* address) {
    const StorageInfo* storage = byAddress(address);
    if (!storage) return kOriginUnknown;
    const ViewInfo* best = nullptr;
    int bestRank = 0;
    for (const ViewInfo& view : views_) {
      if (&storages_[view.storage] != storage) continue;
      int rank = view.address == *address ? 3 : *address >= view.low && *address < view.high ? 2 : 1;
      if (rank > bestRank) best = &view, bestRank = rank;
    }
    return best ? static_cast<int32_t>(best->argument) : kOriginUnknown;
  };
  pointer.kind = ElementKind::Pointer;
  if (pointer.isSplat()) {
    pointer.origin = originOf(&pointer.base);
    return pointer;
  }
  if (pointer.numel() == 1) {
    int64_t address = elementBits(pointer, 0);
    int32_t origin = originOf(&address);
    Tile result = splatTile(ElementKind::Pointer, address, pointer.shape);
    result.origin = origin;
    return result;
  }
  Tile dense = contiguous(pool, pointer);
  Tile result = denseTile(pool, ElementKind::Pointer, pointer.shape);
  const auto* from = reinterpret_cast<const int64_t*>(dense.data());
  auto* to = reinterpret_cast<int64_t*>(denseData(result));
  BufferRef origins(pool.take(static_cast<size_t>(result.numel()) * sizeof(int32_t)));
  auto* each = reinterpret_cast<int32_t*>(origins.bytes());
  bool same = true;
  for (int64_t i = 0; i < result.numel(); ++i) {
    to[i] = from[i];
    each[i] = originOf(&to[i]);
    same = same && each[i] == each[0];
  }
  result.origin = same ? each[0] : kOriginMixed;
  if (!same) result.origins = std::move(origins);
  return result;
}

Tile LaunchMemory::addresses(BufferPool& pool, const Tile& pointer) const {
  if (pointer.origin != kOriginMixed) {
    Tile result = pointer;
    const int64_t shift = shiftToRecorded(pointer.origin);
    if (shift && pointer.form == Form::Dense) {
      Tile dense = contiguous(pool, pointer);
      result = denseTile(pool, ElementKind::Pointer, pointer.shape);
      const auto* from = reinterpret_cast<const int64_t*>(dense.data());
      auto* to = reinterpret_cast<int64_t*>(denseData(result));
      for (int64_t i = 0; i < result.numel(); ++i) to[i] = from[i] + shift;
      result.taint = pointer.taint;
    } else {
      result.base += shift;
    }
    result.origin = kOriginUnknown;
    return result;
  }
  Tile dense = contiguous(pool, pointer);
  Tile result = denseTile(pool, ElementKind::Pointer, pointer.shape);
  const auto* from = reinterpret_cast<const int64_t*>(dense.data());
  const auto* origins = reinterpret_cast<const int32_t*>(pointer.origins.bytes());
  auto* to = reinterpret_cast<int64_t*>(denseData(result));
  for (int64_t i = 0; i < result.numel(); ++i) to[i] = from[i] + shiftToRecorded(origins[i]);
  result.taint = pointer.taint;
  return result;
}

int64_t LaunchMemory::shiftToRecorded(int32_t origin) const {
  const ViewInfo* view = this->view(origin);
  if (!view) return 0;
  const StorageInfo& storage = storages_[view->storage];
  return storage.recorded ? storage.recorded - storage.base : 0;
}

Resolved LaunchMemory::resolve(BufferPool& pool, const Tile& pointer, const Tile* mask,
                               uint32_t elementBytes, Use use) const {
  Resolved access;
  access.writes = use == Use::Write;
  access.elementBytes = elementBytes;
  access.address = pointer;
  access.mask = mask ? *mask : maskSplat(true, pointer.shape);
  if (access.mask.form == Form::Dense) {
    Tile box;
    if (toBox(pool, access.mask, &box)) access.mask = std::move(box);
  }
  access.active = countTrue(pool, access.mask);
  if (access.active == 0) return access;

  Box box;
  bool boxed = boxOf(access.mask, &box);
  if (pointer.origin >= 0) {
    access.view = view(pointer.origin);
    if (access.view) access.storage = &storages_[access.view->storage];
  } else if (pointer.origin == kOriginUnknown && boxed && pointer.form != Form::Dense) {
    // A data pointer that went through an integer: move the whole tile to its allocation.
    Range range;
    uint64_t bits;
    if (addressRange(pointer, box, &range, &bits)) {
      int64_t low = range.min, high = range.max;
      const StorageInfo* s = byAddress(&low);
      if (s && byAddress(&high) == s) {
        access.storage = s;
        access.address.base += low - range.min;
      }
    }
  }

  const bool refused = guarded_ && access.writes &&
                       ((access.view && access.view->readOnly) || (access.storage && access.storage->readOnly));
  if (access.storage && pointer.origin != kOriginMixed && !refused) {
    const bool whole = !access.view || boundless(*access.view, access.writes);
    int64_t low = whole ? access.storage->base : access.view->low;
    int64_t high = whole ? access.storage->base + access.storage->bytes : access.view->high;
    bool gapless = whole || access.view->contiguous;
    Range range;
    uint64_t bits = 0;
    bool ranged = boxed && addressRange(access.address, box, &range, &bits);
    if (!ranged && access.address.form == Form::Dense && access.mask.isSplat() && isContiguous(access.address)) {
      const auto* values = reinterpret_cast<const int64_t*>(access.address.data());
      kernels().minMaxI64(values, access.address.numel(), &range.min, &range.max);
      for (int64_t i = 0; i < access.address.numel(); ++i) bits |= static_cast<uint64_t>(values[i]);
      ranged = true;
    }
    if (ranged && range.min >= low && range.max <= high - elementBytes && (bits & (elementBytes - 1)) == 0) {
      if (gapless) return access;
      if (access.address.isSplat() && inView(*access.view, range.min, elementBytes)) return access;
      if (access.address.form == Form::Affine &&
          affineOnLattice(*access.view, access.address.base, access.address, box.lo.data(), box.hi.data(), elementBytes))
        return access;
    }
  }

  // Element by element.
  Tile address = contiguous(pool, access.address);
  Tile maskBytes = access.mask.isSplat() ? access.mask : contiguous(pool, access.mask);
  const auto* values = reinterpret_cast<const int64_t*>(address.data());
  for (int64_t i = 0; i < address.numel(); ++i) {
    if (!maskBytes.isSplat() && !maskBytes.data()[i]) continue;
    access.faults |= faultsAt(access, i, values[i]);
  }
  access.clean = access.faults == 0;
  return access;
}

uint32_t LaunchMemory::faultsAt(const Resolved& access, int64_t element, int64_t value) const {
  const ViewInfo* view = nullptr;
  int64_t address = value;
  const StorageInfo* storage = storageOf(access, element, &address, &view);
  uint32_t faults = 0;
  int64_t bytes = access.elementBytes;
  if (address & (bytes - 1)) faults |= TS_FAULT_MISALIGNED;
  if (!storage) return address >= 0 && address < kNullPage ? static_cast<uint32_t>(TS_FAULT_NULL) : faults | TS_FAULT_FOREIGN;
  if (address < storage->base || address + bytes > storage->base + storage->bytes)
    return faults | TS_FAULT_OUT_OF_BOUNDS;
  if (view && !boundless(*view, access.writes) && !inView(*view, address, bytes)) faults |= TS_FAULT_OUT_OF_VIEW;
  if (access.writes && (storage->readOnly || (view && view->readOnly))) faults |= TS_FAULT_READ_ONLY;
  return faults;
}

bool LaunchMemory::gapless(const ViewInfo& view, bool writes) { return view.contiguous || boundless(view, writes); }

void LaunchMemory::faultBits(BufferPool& pool, const Resolved& access, uint8_t* out) const {
  Tile address = contiguous(pool, access.address);
  Tile mask = access.mask.isSplat() ? access.mask : contiguous(pool, access.mask);
  const auto* values = reinterpret_cast<const int64_t*>(address.data());
  for (int64_t i = 0; i < address.numel(); ++i) {
    bool active = mask.isSplat() ? mask.base != 0 : mask.data()[i] != 0;
    out[i] = active ? static_cast<uint8_t>(faultsAt(access, i, values[i])) : 0;
  }
}

int64_t LaunchMemory::offsetOf(const Resolved& access, int64_t element, int64_t address,
                               const StorageInfo** storage) const {
  const ViewInfo* view = nullptr;
  const StorageInfo* s = storageOf(access, element, &address, &view);
  const bool inside = s && address >= s->base && address + access.elementBytes <= s->base + s->bytes;
  const bool refused = guarded_ && inside && access.writes && (s->readOnly || (view && view->readOnly));
  *storage = inside && !refused ? s : nullptr;
  return *storage ? address - s->base : 0;
}

uint8_t* LaunchMemory::host(const Resolved& access, int64_t element, int64_t address) const {
  const StorageInfo* storage = nullptr;
  const int64_t at = offsetOf(access, element, address, &storage);
  if (!storage) return nullptr;
  if (storage->pager) fetch(*storage, at, at + access.elementBytes, access.writes);
  return storage->data + at;
}

void LaunchMemory::bring(const Resolved& access) const {
  if (!paged_ || (access.storage && !access.storage->pager)) return;
  // Page by page first, so that neighbours are fetched in one go whatever the order of the elements is.
  constexpr auto kPage = static_cast<int64_t>(launch::Pager::kPageBytes);
  std::vector<std::vector<int64_t>> pages(storages_.size());
  forRuns(*this, access, [&](size_t s, int64_t at, int64_t bytes) {
    const launch::Pager* pager = storages_[s].pager;
    if (!pager) return;
    for (int64_t page = at / kPage; page <= (at + bytes - 1) / kPage; ++page)
      if (!pager->ready(page, access.writes) && (pages[s].empty() || pages[s].back() != page)) pages[s].push_back(page);
  });
  for (size_t s = 0; s < pages.size(); ++s) {
    std::sort(pages[s].begin(), pages[s].end());
    for (size_t i = 0; i < pages[s].size();) {
      size_t end = i + 1;
      while (end < pages[s].size() && pages[s][end] <= pages[s][end - 1] + 1) ++end;
      fetch(storages_[s], pages[s][i] * kPage, (pages[s][end - 1] + 1) * kPage, access.writes);
      i = end;
    }
  }
}

void LaunchMemory::fetch(const StorageInfo& storage, int64_t from, int64_t to, bool forWrite) const {
  if (storage.pager->need(static_cast<uint64_t>(from), static_cast<uint64_t>(to), forWrite) || !stopper_) return;
  stopper_->stop("a tensor cannot be read from its device");
}

namespace {

// Visits the rows (last axis) of a tile over a box: first index, then [lo, hi) of the last axis.
template <typename Visit>
void forBoxRows(const Shape& shape, const Box& box, Visit&& visit) {
  int rank = shape.rank(), last = rank - 1;
  std::array<int64_t, kMaxRank> index = box.lo;
  for (int d = 0; d < rank; ++d)
    if (box.lo[d] >= box.hi[d]) return;
  if (rank == 0) {
    visit(index, 0, 1);
    return;
  }
  while (true) {
    bool active = true;
    for (int d = 0; d < last; ++d) active = active && (!box.mask[d] || box.mask[d][index[d]]);
    if (active) visit(index, box.lo[last], box.hi[last]);
    int d = last - 1;
    for (; d >= 0; --d) {
      if (++index[d] < box.hi[d]) break;
      index[d] = box.lo[d];
    }
    if (d < 0) return;
  }
}

int64_t rowAddress(const Tile& address, const std::array<int64_t, kMaxRank>& index, int last) {
  int64_t value = address.base;
  if (address.form == Form::Splat) return value;
  for (int d = 0; d < last; ++d)
    value += address.form == Form::Separable && address.axis[d] ? address.axisValues(d)[index[d]]
                                                                : address.stride[d] * index[d];
  return value;
}

}  // namespace

void LaunchMemory::written(const std::vector<bool>& storages) {
  for (size_t s = 0; s < storages_.size(); ++s) {
    StorageInfo& mine = storages_[s];
    mine.constant = !storages[s] && !mine.pager;
  }
}

namespace {

// All elements where they lie in memory, as a dense tile without a buffer; Empty if they have to be copied.
Tile borrowed(const Resolved& access, ElementKind kind, bool readOnce) {
  const Tile& address = access.address;
  const StorageInfo& storage = *access.storage;
  const int64_t bytes = access.elementBytes;
  const uint8_t* data = storage.data + (address.base - storage.base);
  if (!storage.constant || kind == ElementKind::Pointer || address.form != Form::Affine || reinterpret_cast<uintptr_t>(data) % bytes) return {};
  Tile tile;
  tile.form = Form::Dense;
  tile.kind = kind;
  tile.shape = address.shape;
  tile.axis[0] = data;
  int64_t inner = 1;  // stride of the innermost axis that has several elements
  for (int d = address.rank() - 1; d >= 0; --d) {
    if (address.stride[d] < 0 || address.stride[d] % bytes) return {};
    tile.stride[d] = address.stride[d] / bytes;
    if (address.shape->dims[d] > 1 && std::exchange(inner, 0) && tile.stride[d] != 1) return {};
  }
  if (!readOnce && !isContiguous(tile)) return {};
  return tile;
}

}  // namespace

Tile LaunchMemory::load(BufferPool& pool, const Resolved& access, ElementKind kind, const Tile* other, bool readOnce) const {
  const Shape* shape = access.address.shape;
  uint32_t bytes = access.elementBytes;
  const KernelSet& k = kernels();
  bool all = access.mask.isSplat() && access.mask.base;
  bring(access);

  if (access.clean && access.storage && shape->numel == 1 && all) {
    int64_t bits = 0;
    int64_t at = access.address.isSplat() ? access.address.base : elementBits(access.address, 0);
    std::memcpy(&bits, access.storage->data + (at - access.storage->base), bytes);
    return splatTile(kind, bits, shape);
  }
  if (access.active == 0) {
    if (other) return *other;
    return splatTile(kind, 0, shape);
  }
  if (access.clean && access.storage && all)
    if (Tile tile = borrowed(access, kind, readOnce); tile.form != Form::Empty) return tile;
  // A load that does not vary along an axis is done once for it.
  Box box;
  bool boxed = boxOf(access.mask, &box);
  if (access.clean && access.storage && boxed && access.address.form != Form::Dense) {
    const HostBase memory(*access.storage);
    uint32_t axes = 0;
    if (all) axes = dependence(access.address);
    else axes = ~0u;
    Tile result;
    result.form = Form::Dense;
    result.kind = kind;
    result.shape = shape;
    int64_t count = 1;
    Box reduced = box;
    for (int d = shape->rank() - 1; d >= 0; --d) {
      if (!((axes >> d) & 1)) {
        reduced.hi[d] = 1;
        continue;
      }
      result.stride[d] = shape->dims[d] == 1 ? 0 : count;
      count *= shape->dims[d];
    }
    result.buffer = BufferRef(pool.take(static_cast<size_t>(count) * bytes));
    uint8_t* out = result.buffer.bytes();
    result.axis[0] = out;
    if (!all) {
      if (other && !other->isSplat()) {
        Tile fill = contiguous(pool, *other);
        std::memcpy(out, fill.data(), static_cast<size_t>(count) * bytes);
      } else {
        int64_t zero = other ? other->base : 0;
        k.fillSplat(bytes, out, &zero, count);
      }
    }
    int last = shape->rank() - 1;
    const Tile& address = access.address;
    forBoxRows(*shape, reduced, [&](const auto& index, int64_t lo, int64_t hi) {
      int64_t at = rowAddress(address, index, last);
      uint8_t* to = out;
      for (int d = 0; d < last; ++d) to += index[d] * result.stride[d] * bytes;
      if (last < 0) {
        std::memcpy(to, memory + at, bytes);
        return;
      }
      const uint8_t* rowMask = reduced.mask[last];
      if (rowMask || (address.form == Form::Separable && address.axis[last])) {
        const int64_t* values = address.form == Form::Separable ? address.axisValues(last) : nullptr;
        if (!rowMask && values) {
          k.gatherOffsets(bytes, to + lo * bytes, memory + at, values + lo, hi - lo);
          return;
        }
        for (int64_t i = lo; i < hi; ++i) {
          if (rowMask && !rowMask[i]) continue;
          int64_t offset = values ? values[i] : address.isSplat() ? 0 : address.stride[last] * i;
          std::memcpy(to + i * bytes, memory + (at + offset), bytes);
        }
        return;
      }
      int64_t step = address.isSplat() ? 0 : address.stride[last];
      const uint8_t* from = memory + (at + step * lo);
      if (step == bytes) std::memcpy(to + lo * bytes, from, (hi - lo) * bytes);
      else k.gatherStrided(bytes, to + lo * bytes, from, step, hi - lo);
    });
    return result;
  }

  Tile address = contiguous(pool, access.address);
  const auto* values = reinterpret_cast<const int64_t*>(address.data());
  Tile result = denseTile(pool, kind, shape);
  uint8_t* out = denseData(result);
  if (access.clean && access.storage && all) {
    k.gatherOffsets(bytes, out, HostBase(*access.storage) + 0, values, shape->numel);
    return result;
  }
  Tile mask = all ? access.mask : contiguous(pool, access.mask);
  Tile fill = other && !other->isSplat() ? contiguous(pool, *other) : Tile{};
  int64_t zero = other && other->isSplat() ? other->base : 0;
  for (int64_t i = 0; i < shape->numel; ++i) {
    uint8_t* to = out + i * bytes;
    if (!all && !mask.data()[i]) {
      std::memcpy(to, fill.form == Form::Dense ? fill.data() + i * bytes : reinterpret_cast<uint8_t*>(&zero), bytes);
      continue;
    }
    const uint8_t* from = host(access, i, values[i]);
    if (from) std::memcpy(to, from, bytes);
    else std::memset(to, 0, bytes);
  }
  return result;
}

void LaunchMemory::store(BufferPool& pool, const Resolved& access, const Tile& value) const {
  if (access.active == 0) return;
  if (value.form == Form::Dense && !value.buffer) return store(pool, access, owned(pool, value));  // it may lie where it is stored
  bring(access);
  const Shape* shape = access.address.shape;
  uint32_t bytes = access.elementBytes;
  const KernelSet& k = kernels();
  Box box;
  bool boxed = boxOf(access.mask, &box);
  int last = shape->rank() - 1;
  if (access.clean && access.storage && boxed && access.address.form != Form::Dense) {
    const HostBase memory(*access.storage);
    const Tile& address = access.address;
    Tile dense = value.isSplat() ? value : strided(pool, value);
    bool splat = dense.isSplat();
    int64_t inner = splat || last < 0 ? 0 : dense.stride[last];
    if (!splat && last >= 0 && inner != 1 && shape->dims[last] > 1) {
      dense = contiguous(pool, dense);
      inner = dense.stride[last];
    }
    forBoxRows(*shape, box, [&](const auto& index, int64_t lo, int64_t hi) {
      uint8_t* to = memory + rowAddress(address, index, last);
      const uint8_t* from = reinterpret_cast<const uint8_t*>(&dense.base);
      if (!splat) {
        from = dense.data();
        for (int d = 0; d < last; ++d) from += index[d] * dense.stride[d] * bytes;
      }
      if (last < 0) {
        std::memcpy(to, from, bytes);
        return;
      }
      const int64_t* values = address.form == Form::Separable ? address.axisValues(last) : nullptr;
      int64_t step = address.isSplat() ? 0 : address.stride[last];
      const uint8_t* rowMask = box.mask[last];
      if (!rowMask && !values && inner == 1) {
        if (step == bytes) std::memcpy(to + lo * bytes, from + lo * bytes, (hi - lo) * bytes);
        else k.scatterStrided(bytes, to + step * lo, step, from + lo * bytes, hi - lo);
        return;
      }
      if (!rowMask && !values && step == bytes) {
        k.fillSplat(bytes, to + lo * bytes, from, hi - lo);
        return;
      }
      for (int64_t i = lo; i < hi; ++i) {
        if (rowMask && !rowMask[i]) continue;
        std::memcpy(to + (values ? values[i] : step * i), from + i * inner * bytes, bytes);
      }
    });
    return;
  }
  Tile address = contiguous(pool, access.address);
  const auto* values = reinterpret_cast<const int64_t*>(address.data());
  bool all = access.mask.isSplat() && access.mask.base;
  Tile mask = all ? access.mask : contiguous(pool, access.mask);
  Tile dense = contiguous(pool, value);
  for (int64_t i = 0; i < shape->numel; ++i) {
    if (!all && !mask.data()[i]) continue;
    if (uint8_t* to = host(access, i, values[i])) std::memcpy(to, dense.data() + i * bytes, bytes);
  }
}

std::vector<int64_t> LaunchMemory::indexOf(const ViewInfo& view, int64_t address, int64_t stepBytes) {
  size_t rank = view.shape.size();
  std::vector<int64_t> index(rank, 0);
  if (rank == 0) return index;
  // Axes by stride, largest first; the first takes what is beyond the tensor.
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(view.strides[a]) > std::abs(view.strides[b]);
  });
  int64_t offset = address - view.address;
  int64_t element = offset >= 0 ? offset / view.elementBytes : -((-offset + view.elementBytes - 1) / view.elementBytes);
  // Axes that run backwards are counted from their last element, and turned round at the end.
  for (size_t d = 0; d < rank; ++d)
    if (view.strides[d] < 0) element -= std::max<int64_t>(0, view.shape[d] - 1) * view.strides[d];
  // The axis that runs over: the one the tile steps along, else the outermost.
  size_t over = 0;
  for (size_t k = 0; k < rank; ++k)
    if (stepBytes && view.shape[order[k]] > 1 &&
        std::abs(view.strides[order[k]]) * view.elementBytes == std::abs(stepBytes)) {
      over = k;
      break;
    }
  for (size_t k = 0; k < rank; ++k) {
    int64_t stride = std::abs(view.strides[order[k]]);
    if (stride == 0) continue;
    int64_t i = element / stride;
    if (element - i * stride < 0) --i;
    if (k < over && view.shape[order[k]] > 0) i = std::clamp<int64_t>(i, 0, view.shape[order[k]] - 1);
    if (k > over && view.shape[order[k]] > 0 && k + 1 == rank && stride == 1) i = element / stride;
    index[order[k]] = view.strides[order[k]] > 0 ? i : std::max<int64_t>(0, view.shape[order[k]] - 1) - i;
    element -= i * stride;
  }
  return index;
}

}  // namespace tilesight::exec
