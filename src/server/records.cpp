#include "server/records.h"

#include <algorithm>
#include <memory>
#include <set>

#include "clients/tracer/tracer.h"
#include "findings/json_values.h"
#include "server/packed.h"

namespace tilesight::server {
namespace {

constexpr size_t kMaxRecords = 5000;

std::string metaOf(const clients::Trace& trace, const std::set<uint32_t>& patterns) {
  using findings::Json;
  Json json{{"total", trace.records.size()}, {"patterns", Json::object()}};
  for (uint32_t number : patterns) {
    const clients::TracePattern& pattern = trace.patterns[number];
    json["patterns"][std::to_string(number)] = {{"shape", pattern.shape}, {"form", pattern.form}, {"strides", pattern.strides}, {"bytes", pattern.elementBytes}};
  }
  return findings::dumped(json, -1);
}

}  // namespace

Result<std::string> records(const Loaded& loaded, int64_t program) {
  const ts_client& table = clients::tracer();
  const std::unique_ptr<void, void (*)(void*)> tracer(table.create(&exec::host(), ""), table.destroy);
  if (auto report = loaded.replay({program}, {{&table, "", tracer.get()}}); !report) return failure(report.error());
  const clients::Trace& trace = clients::traceOf(tracer.get());
  const size_t n = std::min(trace.records.size(), kMaxRecords);
  std::vector<uint32_t> op(n), pattern(n), active(n), m(n), width(n);
  std::vector<int32_t> argument(n);
  std::vector<uint8_t> kind(n), faults(n);
  std::set<uint32_t> used;
  for (size_t i = 0; i < n; ++i) {
    const clients::TraceRecord& r = trace.records[i];
    op[i] = r.op, pattern[i] = r.pattern, active[i] = r.active, m[i] = r.m, width[i] = r.n;
    argument[i] = r.argument, kind[i] = static_cast<uint8_t>(r.kind), faults[i] = r.faults;
    if (r.kind <= clients::TraceKind::Copy) used.insert(r.pattern);
  }
  Packed packed;
  const std::vector<int64_t> shape{static_cast<int64_t>(n)};
  packed.add("op", shape, op);
  packed.add("kind", shape, kind);
  packed.add("argument", shape, argument);
  packed.add("active", shape, active);
  packed.add("faults", shape, faults);
  packed.add("pattern", shape, pattern);
  packed.add("m", shape, m);
  packed.add("n", shape, width);
  return packed.bytes(metaOf(trace, used));
}

}  // namespace tilesight::server
