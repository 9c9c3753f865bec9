#include "clients/sanitizer/sanitizer.h"

#include <algorithm>
#include <vector>

namespace tilesight::clients {

namespace {

struct Rule {
  uint32_t fault;
  const char* kind;
  int storeSeverity, loadSeverity;
};
// One element gets one kind about where it is, the first that holds, and one each about alignment and
// about writing where nothing may be written.
constexpr Rule kPlace[] = {
    {TS_FAULT_NULL, "null-pointer", 2, 2},
    {TS_FAULT_FOREIGN, "foreign-pointer", 2, 2},
    {TS_FAULT_OUT_OF_BOUNDS, "out-of-bounds", 2, 2},
    {TS_FAULT_OUT_OF_VIEW, "out-of-view", 2, 1},
};
constexpr Rule kWriting = {TS_FAULT_READ_ONLY, "read-only-write", 2, 2};
constexpr Rule kAlignment = {TS_FAULT_MISALIGNED, "misaligned", 2, 2};

struct Sanitizer {
  const ts_host* host;
};

void onAccess(void* state, const ts_access* access) {
  if (access->faults == 0) return;  // the core resolved it: nothing to look at
  const ts_host* host = static_cast<Sanitizer*>(state)->host;
  std::vector<uint8_t> bits(static_cast<size_t>(access->elements));
  host->fault_bits(access, bits.data());
  std::vector<int32_t> tensors;  // of each element, where they differ
  if (access->argument < 0) {
    tensors.resize(bits.size());
    host->arguments(access, tensors.data());
  }
  struct Faulty {
    int32_t tensor;
    int64_t first, count;
  };
  std::vector<Faulty> faulty;  // one for each tensor, in order of their first elements
  auto apply = [&](const Rule& rule, uint32_t before) {
    faulty.clear();
    for (int64_t i = 0; i < access->elements; ++i) {
      if (!(bits[i] & rule.fault) || (bits[i] & before)) continue;
      const int32_t tensor = tensors.empty() ? access->argument : tensors[i];
      auto seen = std::find_if(faulty.begin(), faulty.end(), [&](const Faulty& f) { return f.tensor == tensor; });
      if (seen == faulty.end()) faulty.push_back({tensor, i, 1});
      else ++seen->count;
    }
    const int severity = access->kind == TS_LOAD ? rule.loadSeverity : rule.storeSeverity;
    for (const Faulty& f : faulty) host->report(access, rule.kind, severity, f.first, f.count, nullptr);
  };
  uint32_t before = 0;
  for (const Rule& rule : kPlace) {
    apply(rule, before);
    before |= rule.fault;
  }
  apply(kWriting, 0);
  apply(kAlignment, TS_FAULT_NULL | TS_FAULT_FOREIGN);
}

}  // namespace

const ts_client& sanitizer() {
  static const ts_client table = [] {
    ts_client client{};
    client.size = sizeof client;
    client.abi = TS_CLIENT_ABI;
    client.name = "sanitizer";
    // Faulty accesses reach a client without asking: only clean ones need TS_NEED_ADDRESSES.
    client.needs = TS_NEED_PROMISES;
    client.create = [](const ts_host* host, const char*) -> void* { return new Sanitizer{host}; };
    client.destroy = [](void* self) { delete static_cast<Sanitizer*>(self); };
    client.on_load = client.on_store = client.on_atomic = client.on_copy = onAccess;
    return client;
  }();
  return table;
}

}  // namespace tilesight::clients
