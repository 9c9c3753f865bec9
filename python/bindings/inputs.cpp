#include <algorithm>
#include <cstring>

#include "exec/parameters.h"
#include "later_writes.h"
#include "values.h"

namespace nb = nanobind;

namespace tilesight::binding {

namespace {

// Storages of up to so many bytes are looked at whole, of others as many lines of a cache from the first to the last: what
// changes in a stretch of more than a part in kLines is seen.
constexpr uint64_t kWhole = 64 << 10, kLine = 64, kLines = 512;

// Of bytes that come in pieces of any sizes.
class Print {
 public:
  explicit Print(uint64_t first) : lane_{first, first + 1, first + 2, first + 3} {}

  // Four lanes, so that the loop runs as fast as memory.
  void add(const uint8_t* data, uint64_t bytes) {
    uint64_t at = 0;
    for (; at + 32 <= bytes; at += 32)
      for (int i = 0; i < 4; ++i) {
        uint64_t word;
        std::memcpy(&word, data + at + 8 * i, 8);
        lane_[i] = (lane_[i] ^ word) * 0x9e3779b97f4a7c15u;
        lane_[i] ^= lane_[i] >> 29;
      }
    for (; at < bytes; ++at) lane_[0] = (lane_[0] ^ data[at]) * 0x100000001b3u;
  }
  uint64_t value() const { return ((lane_[0] * 31 + lane_[1]) * 31 + lane_[2]) * 31 + lane_[3]; }

 private:
  uint64_t lane_[4];
};

uint64_t print(const launch::Storage& storage) {
  Print print(storage.bytes);
  if (storage.bytes <= kWhole) {
    print.add(storage.data, storage.bytes);
    return print.value();
  }
  const uint64_t apart = (storage.bytes - kLine) / (kLines - 1);
  constexpr uint64_t kAhead = 24;  // lines that are on their way
  for (uint64_t i = 0; i < kLines; ++i) {
#if defined(__GNUC__)
    __builtin_prefetch(storage.data + apart * std::min(i + kAhead, kLines - 1));
#endif
    print.add(storage.data + apart * i, kLine);
  }
  print.add(storage.data + storage.bytes - kLine, kLine);
  return print.value();
}

// With the GIL. Tensors of torch count what changes them, whichever view it goes through.
int64_t versionOf(const launch::Storage& storage) {
  if (!storage.owner) return -1;
  const nb::object owner = nb::borrow(static_cast<PyObject*>(storage.owner.get()));
  const nb::object version = nb::getattr(owner, "_version", nb::none());
  return nb::isinstance<nb::int_>(version) ? nb::cast<int64_t>(version) : -1;
}

std::shared_ptr<void> keptAlive(const nb::object& object, std::shared_ptr<void> other) {
  return {object.inc_ref().ptr(), [other = std::move(other)](void* held) {
            if (!Py_IsInitialized()) return;  // the process ends
            nb::gil_scoped_acquire gil;
            Py_DECREF(static_cast<PyObject*>(held));
          }};
}

}  // namespace

Inputs Inputs::copied(std::shared_ptr<const launch::Launch> copy) {
  Inputs inputs;
  inputs.launch_ = std::move(copy);
  return inputs;
}

Inputs Inputs::shared(const exec::Kernel& kernel, const launch::Launch& launch, const std::vector<nb::object>& owners) {
  Inputs inputs;
  inputs.launchNumber_ = launchesSoFar();
  inputs.now_ = std::make_shared<launch::Launch>(launch);
  for (size_t s = 0; s < owners.size(); ++s) inputs.now_->storages[s].owner = keptAlive(owners[s], launch.storages[s].owner);
  std::shared_ptr<launch::Launch> copy;
  {
    nb::gil_scoped_release released;
    copy = trace::copyForLater(kernel, *inputs.now_);
  }
  inputs.mayWrite_ = exec::mayWrite(kernel, launch);
  for (size_t s = 0; s < copy->storages.size(); ++s)
    if (!inputs.mayWrite_[s] && !copy->storages[s].pager) inputs.read_.push_back(inputs.seen(s));
  inputs.launch_ = std::move(copy);
  return inputs;
}

void Inputs::launched(bool complete) {
  if (!now_) return;
  for (size_t s = 0; s < now_->storages.size(); ++s)
    if (mayWrite_[s] && !now_->storages[s].pager) written_.push_back(seen(s));
  complete_ = complete;
}

Inputs::Seen Inputs::seen(size_t storage) const {
  return {storage, print(now_->storages[storage]), versionOf(now_->storages[storage])};
}

std::optional<std::string> Inputs::change(const Seen& before) const {
  const launch::Storage& storage = now_->storages[before.storage];
  const Seen after = seen(before.storage);
  if (after.print != before.print || after.version != before.version) return "has changed since the launch";
  if (const auto kernel = writtenSince(storage, launchNumber_)) return "has been given to a later launch, of " + *kernel + ", that may have written it";
  return std::nullopt;
}

Inputs Inputs::later(std::function<Result<launch::Launch>()> read) {
  Inputs inputs;
  inputs.read_later_ = std::move(read);
  return inputs;
}

std::shared_ptr<const launch::Launch> Inputs::get() const {
  if (!launch_ && read_later_) launch_ = std::make_shared<launch::Launch>(valueOf(read_later_()));
  for (const Seen& before : read_)
    if (const auto how = change(before))
      throw Error("tensor " + now_->storages[before.storage].name + " " + *how + ", so its values cannot be computed again: " + trace::kAskBefore);
  return launch_;
}

std::vector<bool> Inputs::lost() const {
  std::vector<bool> lost(launch_ ? launch_->storages.size() : 0, false);
  for (const Seen& after : written_)
    lost[after.storage] = launch_->storages[after.storage].data == now_->storages[after.storage].data && change(after);
  return lost;
}

std::shared_ptr<const launch::Launch> Inputs::whole() const {
  auto launch = get();
  const std::vector<bool> gone = lost();
  for (size_t s = 0; s < gone.size(); ++s)
    if (gone[s])
      throw Error("tensor " + launch->storages[s].name + " has changed since the launch, so the launch cannot be saved: save it before the "
                  "program changes it, or set ts.config.keep_inputs = \"1G\" before the launch to keep a copy");
  return launch;
}

std::shared_ptr<const launch::Launch> Inputs::left() const {
  if (!complete_) return nullptr;
  auto left = std::make_shared<launch::Launch>(*now_);
  std::vector<bool> same(left->storages.size(), false);
  for (const Seen& before : written_) same[before.storage] = !change(before);
  for (size_t s = 0; s < same.size(); ++s)
    if (!same[s]) left->storages[s].data = nullptr;
  return left;
}

}  // namespace tilesight::binding
