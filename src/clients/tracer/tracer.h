// The tracer: what every program did, in order, in a few tens of bytes a tile operation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tilesight/client.h"

namespace tilesight::clients {

const ts_client& tracer();

/// How a tile of addresses and its mask are laid out, without where they start. Interned: accesses of
/// one operation share theirs unless the mask changes.
struct TracePattern {
  uint32_t form = 0;       // ts_form of the addresses
  uint32_t maskForm = 0;   // ts_form of the mask
  int32_t maskAll = 0;
  uint32_t elementBytes = 0;
  std::vector<int64_t> shape, strides;  // of the tile; bytes
  std::vector<int64_t> lo, hi;          // mask box
  auto operator<=>(const TracePattern&) const = default;
};

enum class TraceKind : uint8_t { Load, Store, AtomicRmw, AtomicCas, Copy, Dot, Reduce };

struct TraceRecord {
  int64_t program = 0;   // linear program number
  int64_t base = 0;      // first address (symbolic forms); dot: packed below
  uint32_t op = 0;       // operation number in the bundle's IR
  uint32_t pattern = 0;  // accesses: index into patterns
  uint32_t active = 0;   // accesses: active elements; dot, reduce: k
  int16_t argument = -1;
  TraceKind kind = TraceKind::Load;
  uint8_t faults = 0;
  uint32_t m = 0, n = 0;  // dot, reduce
  bool operator==(const TraceRecord&) const = default;
};
static_assert(sizeof(TraceRecord) <= 40);

struct Trace {
  std::vector<TracePattern> patterns;
  std::vector<TraceRecord> records;  // in program order
};

/// The trace of an instance of the tracer, complete after launch_end. Valid until destroy; the first call puts the
/// records together.
const Trace& traceOf(const void* self);
/// How many records it has, at no cost.
size_t traceRecords(const void* self);
const char* traceKindName(TraceKind kind);

}  // namespace tilesight::clients
