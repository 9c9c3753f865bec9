#include "clients/tracer/tracer.h"

#include <map>
#include <mutex>
#include <utility>

#include "clients/tracer/records.h"

namespace tilesight::clients {

namespace {

// Room for the records of ranges that launches before have used: fresh memory costs a page fault for every hundred.
class Rooms {
 public:
  static Rooms& all() {
    static Rooms* rooms = new Rooms;  // never destroyed: threads may outlive static objects
    return *rooms;
  }

  /// Empty.
  std::vector<TraceRecord> take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    std::vector<TraceRecord> room = std::move(free_.back());
    free_.pop_back();
    return room;
  }

  void give(std::vector<TraceRecord> room) {
    if (!isKept(room) || !room.capacity()) return;
    room.clear();
    std::lock_guard lock(mutex_);
    if (free_.size() < kKept) free_.push_back(std::move(room));
  }

  static bool isKept(const std::vector<TraceRecord>& room) { return room.capacity() <= kRecords; }

 private:
  static constexpr size_t kKept = 32;
  static constexpr size_t kRecords = 8192;  // 320 kB
  std::mutex mutex_;
  std::vector<std::vector<TraceRecord>> free_;
};

// The number of a pattern among those that there are; it joins them if need be.
uint32_t numberOf(std::map<TracePattern, uint32_t>& numbers, std::vector<TracePattern>& patterns, const TracePattern& pattern) {
  auto [it, fresh] = numbers.emplace(pattern, static_cast<uint32_t>(patterns.size()));
  if (fresh) patterns.push_back(pattern);
  return it->second;
}

// One range of programs.
struct Range {
  Trace trace;
  std::map<TracePattern, uint32_t> numbers;
  // The pattern of the last access of an operation: nearly always the one it has again.
  std::vector<std::pair<uint32_t, uint32_t>> last;
  size_t next = 0;  // in `last`, where the operation comes that follows the one before

  Range() { trace.records = Rooms::all().take(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() { Rooms::all().give(std::move(trace.records)); }

  uint32_t* lastPattern(uint32_t op) {
    for (size_t i = 0; i < last.size(); ++i, ++next) {
      if (next >= last.size()) next = 0;
      if (last[next].first == op) return &last[next++].second;
    }
    return nullptr;
  }
};

// The launch.
struct Whole {
  std::map<TracePattern, uint32_t> numbers;
  std::vector<std::vector<TraceRecord>> parts;  // of ranges, in program order, until it ends
  KeptRecords kept;
  mutable Trace trace;
  mutable std::once_flag joined;

  Whole() = default;
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() { dropParts(); }

  void dropParts() {
    for (auto& part : parts) Rooms::all().give(std::move(part));
    parts.clear();
  }

  void take(Range& range) {
    bool same = true;
    std::vector<uint32_t> renumbered;
    for (const TracePattern& pattern : range.trace.patterns) {
      renumbered.push_back(numberOf(numbers, trace.patterns, pattern));
      same = same && renumbered.back() == renumbered.size() - 1;
    }
    if (!same)
      for (TraceRecord& record : range.trace.records)
        if (record.kind <= TraceKind::Copy) record.pattern = renumbered[record.pattern];
    parts.push_back(std::exchange(range.trace.records, {}));
  }

  void end() {
    kept = KeptRecords(parts);
    dropParts();
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
  uint32_t* known = range.lastPattern(access->op);
  if (known && sameMask(range.trace.patterns[*known], *access)) {
    record.pattern = *known;
  } else {
    record.pattern = numberOf(range.numbers, range.trace.patterns, patternOf(*access));
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

const Trace& traceOf(const void* self) {
  const Whole& whole = *static_cast<const Whole*>(self);
  std::call_once(whole.joined, [&] { whole.trace.records = whole.kept.all(); });
  return whole.trace;
}

size_t traceRecords(const void* self) { return static_cast<const Whole*>(self)->kept.count(); }

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
    client.create = [](const ts_host*, const char*) -> void* { return new Whole; };
    client.destroy = [](void* self) { delete static_cast<Whole*>(self); };
    client.fork = [](void*) -> void* { return new Range; };
    client.discard = [](void*, void* state) { delete static_cast<Range*>(state); };
    client.merge = [](void* self, void* state) {
      Range* range = static_cast<Range*>(state);
      static_cast<Whole*>(self)->take(*range);
      delete range;
    };
    client.launch_end = [](void* self, const ts_summary*) { static_cast<Whole*>(self)->end(); };
    client.on_load = client.on_store = client.on_atomic = client.on_copy = onAccess;
    client.on_dot = [](void* state, const ts_compute* c) { onCompute(state, c, TraceKind::Dot); };
    client.on_reduce = [](void* state, const ts_compute* c) { onCompute(state, c, TraceKind::Reduce); };
    return client;
  }();
  return table;
}

}  // namespace tilesight::clients
