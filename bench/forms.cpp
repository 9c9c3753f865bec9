// Counts in which representation the tiles of addresses and masks of bundles reach the clients, access
// by access, and the tracer's bytes: `bench_forms FILE.tsb...` prints one JSON object a kernel.
//
// A record, a check or a callback may cost O(elements) only for tiles counted as dense here.
#include <cstdio>

#include <fmt/format.h>

#include "clients/tracer/tracer.h"
#include "exec/run.h"
#include "launch/bundle.h"

using namespace tilesight;

namespace {

struct Counts {
  uint64_t addresses[4] = {}, masks[4] = {};  // by ts_form
  uint64_t programs = 0, records = 0, bytes = 0;
};

std::string refused(const Diagnostic& error) { return error.message; }

/// Runs one launch under the tracer and counts its records.
Result<Counts> count(const launch::Launch& launch) {
  const auto kernel = exec::compile(launch.irText, launch.irName);
  if (!kernel) return tl::unexpected(kernel.error());
  const ts_client& tracer = clients::tracer();
  void* self = tracer.create(nullptr, "");
  const auto report = exec::run(**kernel, launch, {.clients = {{&tracer, "", self}}, .threads = 1});
  Counts counts;
  if (report) {
    const clients::Trace& trace = clients::traceOf(self);
    for (const clients::TraceRecord& record : trace.records) {
      if (record.kind > clients::TraceKind::Copy) continue;
      const clients::TracePattern& pattern = trace.patterns[record.pattern];
      ++counts.addresses[pattern.form];
      ++counts.masks[pattern.maskForm];
    }
    counts.programs = static_cast<uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    counts.records = trace.records.size();
    counts.bytes = counts.records * sizeof(clients::TraceRecord);
    for (const clients::TracePattern& pattern : trace.patterns)
      counts.bytes += sizeof pattern + 8 * (pattern.shape.size() + pattern.strides.size() + 2 * pattern.lo.size());
  }
  tracer.destroy(self);
  if (!report) return tl::unexpected(report.error());
  return counts;
}

int countFile(const char* path) {
  const auto bundle = launch::BundleReader::open(path);
  if (!bundle) return fmt::print(stderr, "{}\n", refused(bundle.error())), 2;
  for (size_t i = 0; i < bundle->launches(); ++i) {
    const auto launch = bundle->launch(i);
    if (!launch) return fmt::print(stderr, "{}\n", refused(launch.error())), 2;
    const auto counts = count(*launch);
    if (!counts) return fmt::print(stderr, "{}\n", refused(counts.error())), 2;
    fmt::print("{{\"kernel\": \"{}\", \"programs\": {}, \"records\": {}, \"bytes\": {}, \"addresses\": [{}], \"masks\": [{}]}}\n",
               launch->kernel, counts->programs, counts->records, counts->bytes, fmt::join(counts->addresses, ", "),
               fmt::join(counts->masks, ", "));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const int status = countFile(argv[i])) return status;
  return 0;
}
