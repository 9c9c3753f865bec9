#include <algorithm>
#include <cstring>

#include "values.h"

namespace nb = nanobind;

namespace tilesight::binding {

namespace {

// Larger storages are looked at in parts only: a change of one element among so many may stay unseen.
constexpr uint64_t kWhole = 256 << 20;
constexpr uint64_t kPart = 4096, kEvery = 64 << 10;

uint64_t mixed(uint64_t hash, const uint8_t* data, uint64_t bytes) {
  // Four lanes, so that the loop runs as fast as memory.
  uint64_t lane[4] = {hash, hash + 1, hash + 2, hash + 3};
  uint64_t at = 0;
  for (; at + 32 <= bytes; at += 32)
    for (int i = 0; i < 4; ++i) {
      uint64_t word;
      std::memcpy(&word, data + at + 8 * i, 8);
      lane[i] = (lane[i] ^ word) * 0x9e3779b97f4a7c15u;
      lane[i] ^= lane[i] >> 29;
    }
  for (; at < bytes; ++at) lane[0] = (lane[0] ^ data[at]) * 0x100000001b3u;
  return ((lane[0] * 31 + lane[1]) * 31 + lane[2]) * 31 + lane[3];
}

uint64_t fingerprint(const launch::Storage& storage) {
  if (storage.bytes <= kWhole) return mixed(storage.bytes, storage.data, storage.bytes);
  uint64_t hash = storage.bytes;
  for (uint64_t at = 0; at < storage.bytes; at += kEvery) hash = mixed(hash, storage.data + at, std::min(kPart, storage.bytes - at));
  return hash;
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
  std::shared_ptr<launch::Launch> copy;
  {
    nb::gil_scoped_release released;
    copy = trace::copyForRun(kernel, launch);
    for (size_t s = 0; s < copy->storages.size(); ++s)
      if (copy->storages[s].data == launch.storages[s].data && !copy->storages[s].pager)
        inputs.prints_.push_back({s, fingerprint(copy->storages[s])});
  }
  for (size_t s = 0; s < copy->storages.size() && s < owners.size(); ++s)
    if (copy->storages[s].data == launch.storages[s].data) copy->storages[s].owner = keptAlive(owners[s], copy->storages[s].owner);
  inputs.launch_ = std::move(copy);
  return inputs;
}

Inputs Inputs::later(std::function<Result<launch::Launch>()> read) {
  Inputs inputs;
  inputs.read_ = std::move(read);
  return inputs;
}

std::shared_ptr<const launch::Launch> Inputs::get() const {
  if (!launch_ && read_) launch_ = std::make_shared<launch::Launch>(valueOf(read_()));
  for (const Print& print : prints_) {
    const launch::Storage& storage = launch_->storages[print.storage];
    if (fingerprint(storage) != print.value)
      throw Error("tensor " + storage.name + " has changed since the launch, so its values cannot be computed again: ask before the "
                  "program changes it, or set ts.config.keep_inputs = \"1G\" before the launch to keep a copy");
  }
  return launch_;
}

}  // namespace tilesight::binding
