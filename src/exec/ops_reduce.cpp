// Reductions and scans with any combine function. Reductions are a fixed tree: the upper half of the
// axis is combined onto the lower half until one element is left. Scans go along the axis in order.
#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/ops_map.h"
#include "exec/shape_ops.h"

namespace tilesight::exec {

namespace {

const Shape* withAxis(Machine& m, const Shape& shape, int axis, int64_t size) {
  std::vector<int64_t> dims = shape.dims;
  dims[axis] = size;
  return m.context().kernel->shapes().intern(dims);
}

// Taint that the combine function itself made (a division by zero in it) goes to the whole result.
class RegionTaint {
 public:
  void look(Machine& m, const plan::RegionCode& region) {
    if (!m.tainting()) return;
    for (uint32_t slot : region.results) Machine::gather(causes_, m.slot(slot));
  }
  void apply(Machine& m, const Instr& instr) const {
    for (unsigned i = 0; i < instr.outCount; ++i) m.taintWhole(m.outSlot(instr, i), causes_);
  }

 private:
  std::vector<uint32_t> causes_;
};

}  // namespace

void execReduce(Machine& m, const Instr& instr) {
  if (!m.announce(instr)) return;
  const plan::RegionCode& region = m.context().plan->program.regions[instr.body];
  int axis = static_cast<int>(instr.immediate);
  unsigned count = instr.inCount;
  const Shape* shape = m.in(instr, 0).shape;
  int64_t length = shape->dims[axis];
  if (count == 1 && region.simple >= 0) {
    const Tile& a = m.in(instr, 0);
    auto op = static_cast<BinaryOp>(region.simple);
    ReduceFn fn = kernels().reduce(op, a.kind);
    if (fn && (length & (length - 1)) == 0) {
      Tile dense = contiguous(m.pool(), a);
      int64_t outer = 1, inner = 1;
      for (int d = 0; d < axis; ++d) outer *= shape->dims[d];
      for (int d = axis + 1; d < shape->rank(); ++d) inner *= shape->dims[d];
      Tile result = denseTile(m.pool(), a.kind, m.outShape(instr));
      fn(denseData(result), dense.data(), outer, length, inner);
      if (result.numel() == 1) result = splatTile(a.kind, elementBits(result, 0), m.outShape(instr));
      m.set(instr, std::move(result));
      return;
    }
  }
  std::vector<Tile> current;
  for (unsigned i = 0; i < count; ++i) current.push_back(m.in(instr, i));
  RegionTaint made;
  while (length > 1) {
    // Power-of-two lengths are the rule; an odd middle element waits for the next round.
    int64_t half = length / 2, kept = length - half;
    const Shape* part = withAxis(m, *current[0].shape, axis, half);
    for (unsigned i = 0; i < count; ++i) {
      m.slot(region.arguments[i]) = slice(m.pool(), current[i], axis, 0, part);
      m.slot(region.arguments[count + i]) = slice(m.pool(), current[i], axis, kept, part);
    }
    runOnTiles(m, region, part);
    if (m.stopped()) return;
    made.look(m, region);
    for (unsigned i = 0; i < count; ++i) {
      Tile next = m.slot(region.results[i]);
      if (next.shape != part) next = broadcast(m.pool(), next, part);
      if (kept != half) return m.stop(instr, "a reduction over an axis whose length is no power of two cannot be executed yet");
      current[i] = std::move(next);
    }
    length = kept;
  }
  for (unsigned i = 0; i < count; ++i) {
    Tile result = reshape(m.pool(), current[i], m.outShape(instr, i));
    if (result.numel() == 1 && result.form != Form::Splat)
      result = splatTile(result.kind, elementBits(result, 0), m.outShape(instr, i));
    result.taint = nullptr;
    m.set(instr, std::move(result), i);
  }
  made.apply(m, instr);
}

void execScan(Machine& m, const Instr& instr) {
  if (!m.announce(instr)) return;
  const plan::RegionCode& region = m.context().plan->program.regions[instr.body];
  int axis = static_cast<int>(instr.immediate);
  bool reverse = instr.flag & 1;
  unsigned count = instr.inCount;
  const Shape* shape = m.in(instr, 0).shape;
  int64_t length = shape->dims[axis];
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= shape->dims[d];
  for (int d = axis + 1; d < shape->rank(); ++d) inner *= shape->dims[d];
  const Shape* part = withAxis(m, *shape, axis, 1);
  std::vector<Tile> source, result, carried(count);
  for (unsigned i = 0; i < count; ++i) {
    source.push_back(contiguous(m.pool(), m.in(instr, i)));
    result.push_back(denseTile(m.pool(), source[i].kind, shape));
  }
  auto put = [&](unsigned i, int64_t at, const Tile& value) {
    Tile dense = contiguous(m.pool(), value.shape == part ? value : broadcast(m.pool(), value, part));
    size_t bytes = dense.elementBytes();
    for (int64_t o = 0; o < outer; ++o)
      std::copy_n(dense.data() + o * inner * bytes, inner * bytes,
                  denseData(result[i]) + (o * length + at) * inner * bytes);
    carried[i] = std::move(dense);
  };
  RegionTaint made;
  for (int64_t step = 0; step < length; ++step) {
    int64_t at = reverse ? length - 1 - step : step;
    for (unsigned i = 0; i < count; ++i) {
      Tile element = slice(m.pool(), source[i], axis, at, part);
      if (step == 0) {
        put(i, at, element);
        continue;
      }
      m.slot(region.arguments[i]) = carried[i];
      m.slot(region.arguments[count + i]) = std::move(element);
    }
    if (step == 0) continue;
    runOnTiles(m, region, part);
    if (m.stopped()) return;
    made.look(m, region);
    std::vector<Tile> next;
    for (unsigned i = 0; i < count; ++i) next.push_back(m.slot(region.results[i]));
    for (unsigned i = 0; i < count; ++i) put(i, at, next[i]);
  }
  for (unsigned i = 0; i < count; ++i) {
    result[i].taint = nullptr;
    m.set(instr, std::move(result[i]), i);
  }
  made.apply(m, instr);
}

}  // namespace tilesight::exec
