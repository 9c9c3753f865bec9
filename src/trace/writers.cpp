#include "trace/writers.h"

#include <vector>

#include "exec/kernel.h"
#include "tilesight/client.hpp"
#include "trace/copies.h"

namespace tilesight::trace {

namespace {

// One range of programs after another; the last one is the last writer.
class Writers {
 public:
  static constexpr const char* name = "writers";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  Writers(const ts_host& host, int64_t address, int64_t bytes) : host_(&host), address_(address), bytes_(bytes) {}
  Writers(const ts_host& host, const char*) : Writers(host, 0, 0) {}

  Writers fork() const { return Writers(*host_, address_, bytes_); }
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
    if (!access.active || access.program->linear == last_) return;
    const auto width = static_cast<int64_t>(access.element_bytes);
    if (access.form == TS_FORM_SPLAT && !reaches(access.base, access.base, width)) return;
    if (access.form == TS_FORM_AFFINE) {
      int64_t low = access.base, high = access.base;
      for (uint32_t d = 0; d < access.rank; ++d) (access.strides[d] < 0 ? low : high) += (access.shape[d] - 1) * access.strides[d];
      if (!reaches(low, high, width)) return;
    }
    addresses_.resize(static_cast<size_t>(access.elements));
    mask_.resize(static_cast<size_t>(access.elements));
    host_->addresses(&access, addresses_.data());
    host_->mask_bytes(&access, mask_.data());
    for (size_t i = 0; i < addresses_.size(); ++i)
      if (mask_[i] && reaches(addresses_[i], addresses_[i], width)) {
        last_ = access.program->linear;
        ++count_;
        return;
      }
  }

  /// Do elements of `width` bytes at addresses from `low` to `high` share a byte with what is looked for?
  bool reaches(int64_t low, int64_t high, int64_t width) const { return address_ < high + width && low < address_ + bytes_; }

  const ts_host* host_;
  int64_t address_, bytes_;
  int64_t last_ = -1, count_ = 0;
  std::vector<int64_t> addresses_;
  std::vector<uint8_t> mask_;
};

}  // namespace

Result<WritersOf> writersOf(const exec::Kernel& kernel, const launch::Launch& launch, int64_t address, int64_t bytes, bool addressOnly) {
  Writers writers(exec::host(), address, bytes);
  const std::shared_ptr<launch::Launch> copy = copyForRun(kernel, launch);
  exec::RunOptions options;
  options.clients = {{&client_table<Writers>(), "", &writers}};
  options.addressOnly = addressOnly;
  options.silent = true;
  auto report = exec::run(kernel, *copy, options);
  if (!report) return failure(std::move(report).error());
  return WritersOf{writers.last(), writers.count()};
}

}  // namespace tilesight::trace
