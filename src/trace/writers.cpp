#include "trace/writers.h"

#include <vector>

#include "exec/kernel.h"
#include "tilesight/client.hpp"
#include "trace/copies.h"

namespace tilesight::trace {

namespace {

// Do elements of this access touch [low, high)? True where that is not known without looking at each.
bool mayReach(const ts_access& access, int64_t low, int64_t high) {
  const auto width = static_cast<int64_t>(access.element_bytes);
  int64_t first = access.base, last = access.base;
  if (access.form == TS_FORM_AFFINE)
    for (uint32_t d = 0; d < access.rank; ++d) (access.strides[d] < 0 ? first : last) += (access.shape[d] - 1) * access.strides[d];
  else if (access.form != TS_FORM_SPLAT)
    return true;
  return low < last + width && first < high;
}

// The addresses of the active elements of an access.
class Addresses {
 public:
  explicit Addresses(const ts_host& host) : host_(&host) {}
  const ts_host& host() const { return *host_; }

  /// `visit(address)` returns false to end it.
  template <typename Visit>
  void each(const ts_access& access, Visit&& visit) {
    addresses_.resize(static_cast<size_t>(access.elements));
    mask_.resize(static_cast<size_t>(access.elements));
    host_->addresses(&access, addresses_.data());
    host_->mask_bytes(&access, mask_.data());
    for (size_t i = 0; i < addresses_.size(); ++i)
      if (mask_[i] && !visit(addresses_[i])) return;
  }

 private:
  const ts_host* host_;
  std::vector<int64_t> addresses_;
  std::vector<uint8_t> mask_;
};

// One range of programs after another; the last one is the last writer.
class Writers {
 public:
  static constexpr const char* name = "writers";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  Writers(const ts_host& host, int64_t address, int64_t bytes) : addresses_(host), address_(address), bytes_(bytes) {}
  Writers(const ts_host& host, const char*) : Writers(host, 0, 0) {}

  Writers fork() const { return Writers(addresses_.host(), address_, bytes_); }
  void merge(Writers&& later) {
    if (later.last_ >= 0) last_ = later.last_;
    count_ += later.count_;
  }
  void on_store(const ts_access& access) { take(access); }
  void on_atomic(const ts_access& access) { take(access); }

  int64_t last() const { return last_; }
  int64_t count() const { return count_; }

 private:
  void take(const ts_access& access) {
    if (!access.active || access.program->linear == last_ || !mayReach(access, address_, address_ + bytes_)) return;
    addresses_.each(access, [&](int64_t address) {
      if (address_ >= address + static_cast<int64_t>(access.element_bytes) || address >= address_ + bytes_) return true;
      last_ = access.program->linear;
      ++count_;
      return false;
    });
  }

  Addresses addresses_;
  int64_t address_, bytes_;
  int64_t last_ = -1, count_ = 0;
};

// The same of many cells.
class WritersOfMany {
 public:
  static constexpr const char* name = "writers-of-many";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  WritersOfMany(const ts_host& host, const std::map<int64_t, uint32_t>& cells) : addresses_(host), cells_(&cells) {
    low_ = cells.begin()->first;
    high_ = cells.rbegin()->first + cells.rbegin()->second;
  }
  WritersOfMany(const ts_host& host, const char*) : addresses_(host), cells_(nullptr) {}

  WritersOfMany fork() const { return WritersOfMany(addresses_.host(), *cells_); }
  void merge(WritersOfMany&& later) {
    for (auto& [address, writers] : later.found) {
      CellWriters& all = found[address];
      all.unclear = all.unclear || writers.unclear;
      for (const int64_t program : writers.programs) add(all, program);
    }
  }
  void on_store(const ts_access& access) { take(access); }
  void on_atomic(const ts_access& access) { take(access); }

  std::map<int64_t, CellWriters> found;

 private:
  static void add(CellWriters& writers, int64_t program) {
    if (writers.programs.empty() || writers.programs.back() != program) writers.programs.push_back(program);
  }
  void take(const ts_access& access) {
    if (!access.active || !mayReach(access, low_, high_)) return;
    const auto width = static_cast<int64_t>(access.element_bytes);
    addresses_.each(access, [&](int64_t address) {
      // Cells have at most 8 bytes.
      for (auto cell = cells_->lower_bound(address - 7); cell != cells_->end() && cell->first < address + width; ++cell) {
        if (cell->first + static_cast<int64_t>(cell->second) <= address) continue;
        CellWriters& writers = found[cell->first];
        if (cell->first == address && static_cast<int64_t>(cell->second) == width) add(writers, access.program->linear);
        else writers.unclear = true;
      }
      return true;
    });
  }

  Addresses addresses_;
  const std::map<int64_t, uint32_t>* cells_;
  int64_t low_ = 0, high_ = 0;
};

template <typename Client>
Status watchRun(const exec::Kernel& kernel, const launch::Launch& launch, Client& client, bool addressOnly) {
  const std::shared_ptr<launch::Launch> copy = copyForRun(kernel, launch);
  exec::RunOptions options;
  options.clients = {{&client_table<Client>(), "", &client}};
  options.addressOnly = addressOnly;
  options.silent = true;
  auto report = exec::run(kernel, *copy, options);
  if (!report) return failure(std::move(report).error());
  return {};
}

}  // namespace

Result<WritersOf> writersOf(const exec::Kernel& kernel, const launch::Launch& launch, int64_t address, int64_t bytes, bool addressOnly) {
  Writers writers(exec::host(), address, bytes);
  TS_CHECK(watchRun(kernel, launch, writers, addressOnly));
  return WritersOf{writers.last(), writers.count()};
}

Result<std::map<int64_t, CellWriters>> writersOfCells(const exec::Kernel& kernel, const launch::Launch& launch, const std::map<int64_t, uint32_t>& cells,
                                                      bool addressOnly) {
  if (cells.empty()) return std::map<int64_t, CellWriters>();
  WritersOfMany writers(exec::host(), cells);
  TS_CHECK(watchRun(kernel, launch, writers, addressOnly));
  return std::move(writers.found);
}

}  // namespace tilesight::trace
