#include "clients/tracer/tracer.h"

#include <map>

namespace tilesight::clients {

namespace {

// One range of programs; the whole launch after merging.
struct Range {
  Trace trace;
  std::map<TracePattern, uint32_t> numbers;
  // The pattern of the last access of an operation: nearly always the one it has again.
  std::vector<std::pair<uint32_t, uint32_t>> last;

  uint32_t number(const TracePattern& pattern) {
    auto [it, fresh] = numbers.emplace(pattern, static_cast<uint32_t>(trace.patterns.size()));
    if (fresh) trace.patterns.push_back(pattern);
    return it->second;
  }
};

bool sameMask(const TracePattern& pattern, const ts_access& access) {
  if (pattern.form != access.form || pattern.maskForm != access.mask.form || pattern.shape.size() != access.rank ||
      pattern.elementBytes != access.element_bytes)
    return false;
  if (access.mask.form == TS_FORM_SPLAT && pattern.maskAll != access.mask.all) return false;
  bool box = access.mask.form == TS_FORM_AFFINE || access.mask.form == TS_FORM_SEPARABLE;
  for (uint32_t d = 0; d < access.rank; ++d) {
    if (pattern.shape[d] != access.shape[d]) return false;
    if (access.form == TS_FORM_AFFINE && pattern.strides[d] != access.strides[d]) return false;
    if (box && (pattern.lo[d] != access.mask.lo[d] || pattern.hi[d] != access.mask.hi[d])) return false;
  }
  return true;
}

TracePattern patternOf(const ts_access& access) {
  TracePattern pattern;
  pattern.form = access.form;
  pattern.maskForm = access.mask.form;
  pattern.maskAll = access.mask.form == TS_FORM_SPLAT ? access.mask.all : 0;
  pattern.elementBytes = access.element_bytes;
  pattern.shape.assign(access.shape, access.shape + access.rank);
  if (access.form == TS_FORM_AFFINE) pattern.strides.assign(access.strides, access.strides + access.rank);
  if (access.mask.form == TS_FORM_AFFINE || access.mask.form == TS_FORM_SEPARABLE) {
    pattern.lo.assign(access.mask.lo, access.mask.lo + access.rank);
    pattern.hi.assign(access.mask.hi, access.mask.hi + access.rank);
  }
  return pattern;
}

void onAccess(void* state, const ts_access* access) {
  Range& range = *static_cast<Range*>(state);
  TraceRecord record;
  record.program = access->program->linear;
  record.base = access->base;
  record.op = access->op;
  record.active = static_cast<uint32_t>(access->active);
  record.argument = static_cast<int16_t>(access->argument);
  record.kind = static_cast<TraceKind>(access->kind);
  record.faults = static_cast<uint8_t>(access->faults);
  uint32_t* known = nullptr;
  for (auto& [op, pattern] : range.last)
    if (op == access->op) known = &pattern;
  if (known && sameMask(range.trace.patterns[*known], *access)) {
    record.pattern = *known;
  } else {
    record.pattern = range.number(patternOf(*access));
    if (known) *known = record.pattern;
    else range.last.emplace_back(access->op, record.pattern);
  }
  range.trace.records.push_back(record);
}

void onCompute(void* state, const ts_compute* compute, TraceKind kind) {
  TraceRecord record;
  record.program = compute->program->linear;
  record.op = compute->op;
  record.kind = kind;
  record.m = static_cast<uint32_t>(compute->m);
  record.n = static_cast<uint32_t>(compute->n);
  record.active = static_cast<uint32_t>(compute->k);
  static_cast<Range*>(state)->trace.records.push_back(record);
}

}  // namespace

const Trace& traceOf(const void* self) { return static_cast<const Range*>(self)->trace; }

const char* traceKindName(TraceKind kind) {
  static constexpr const char* kNames[] = {"load", "store", "atomic_rmw", "atomic_cas", "copy", "dot", "reduce"};
  return kNames[static_cast<size_t>(kind)];
}

const ts_client& tracer() {
  static const ts_client table = [] {
    ts_client client{};
    client.size = sizeof client;
    client.abi = TS_CLIENT_ABI;
    client.name = "tracer";
    client.needs = TS_NEED_ADDRESSES | TS_NEED_COMPUTE;
    client.create = [](const ts_host*, const char*) -> void* { return new Range; };
    client.destroy = [](void* self) { delete static_cast<Range*>(self); };
    client.fork = [](void*) -> void* { return new Range; };
    client.discard = [](void*, void* state) { delete static_cast<Range*>(state); };
    client.merge = [](void* self, void* state) {
      Range& whole = *static_cast<Range*>(self);
      Range* part = static_cast<Range*>(state);
      std::vector<uint32_t> numbers;
      for (const TracePattern& pattern : part->trace.patterns) numbers.push_back(whole.number(pattern));
      for (TraceRecord& record : part->trace.records)
        if (record.kind <= TraceKind::Copy) record.pattern = numbers[record.pattern];
      if (whole.trace.records.empty()) whole.trace.records.swap(part->trace.records);
      else whole.trace.records.insert(whole.trace.records.end(), part->trace.records.begin(), part->trace.records.end());
      delete part;
    };
    client.on_load = client.on_store = client.on_atomic = client.on_copy = onAccess;
    client.on_dot = [](void* state, const ts_compute* c) { onCompute(state, c, TraceKind::Dot); };
    client.on_reduce = [](void* state, const ts_compute* c) { onCompute(state, c, TraceKind::Reduce); };
    return client;
  }();
  return table;
}

}  // namespace tilesight::clients
