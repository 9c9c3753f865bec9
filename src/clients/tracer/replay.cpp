#include "clients/tracer/replay.h"

#include <fmt/format.h>

#include "exec/kernel.h"
#include "tilesight/client.hpp"

namespace tilesight::clients {

namespace {

// Takes one access of one program whole; counts the program's accesses on the way.
struct Capture {
  static constexpr const char* name = "replay";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  explicit Capture(const ts_host& host, const char*) : host(&host) {}

  void on_load(const ts_access& access) { take(access); }
  void on_store(const ts_access& access) { take(access); }
  void on_atomic(const ts_access& access) { take(access); }

  void take(const ts_access& access) {
    if (access.program->linear != program || seen++ != ordinal) return;
    elements.addresses.resize(static_cast<size_t>(access.elements));
    elements.mask.resize(static_cast<size_t>(access.elements));
    host->addresses(&access, elements.addresses.data());
    host->mask_bytes(&access, elements.mask.data());
    found = true;
  }

  const ts_host* host;
  int64_t program = 0, ordinal = 0, seen = 0;
  bool found = false;
  AccessElements elements;
};

}  // namespace

Result<AccessElements> replayAccess(const exec::Kernel& kernel, const launch::Launch& launch, int64_t program,
                                    int64_t ordinal) {
  Capture capture(exec::host(), "");
  capture.program = program;
  capture.ordinal = ordinal;
  exec::RunOptions options;
  options.clients.push_back({&client_table<Capture>(), "", &capture});
  options.threads = 1;
  // Programs after this one do not matter to it, unless they take turns.
  auto plan = kernel.plan({});
  if (!plan) return failure(std::move(plan).error());
  const plan::Program& code = (*plan)->program;
  if (!code.tickets && !code.waits && !(launch.seed && code.atomics)) options.firstPrograms = program + 1;
  auto report = exec::run(kernel, launch, options);
  if (!report) return failure(std::move(report).error());
  if (!capture.found)
    return failure(fmt::format("program {} of {} has no access number {}", program, launch.kernel, ordinal));
  return std::move(capture.elements);
}

}  // namespace tilesight::clients
