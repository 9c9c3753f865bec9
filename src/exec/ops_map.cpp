// Combine functions one element after another, where they branch, and tt.map_elementwise.
#include "exec/ops_map.h"

#include <algorithm>
#include <cstring>

#include "exec/kernels/kernels.h"
#include "exec/shape_ops.h"

namespace tilesight::exec {

void runOnTiles(Machine& m, const plan::RegionCode& region, const Shape* shape) {
  if (region.straight || shape->numel == 1) return m.runRegion(region);
  std::vector<Tile> arguments, results(region.results.size());
  for (uint32_t slot : region.arguments) {
    const Tile& tile = m.slot(slot);
    arguments.push_back(contiguous(m.pool(), tile.shape == shape ? tile : broadcast(m.pool(), tile, shape)));
  }
  const Shape* one = m.context().kernel->shapes().intern({});
  std::vector<uint32_t> causes;
  for (int64_t i = 0; i < shape->numel; ++i) {
    for (size_t k = 0; k < arguments.size(); ++k)
      m.slot(region.arguments[k]) = splatTile(arguments[k].kind, elementBits(arguments[k], i), one);
    m.runRegion(region);
    if (m.stopped()) return;
    for (size_t k = 0; k < results.size(); ++k) {
      const Tile& value = m.slot(region.results[k]);
      if (i == 0) results[k] = denseTile(m.pool(), value.kind, shape);
      int64_t bits = value.isSplat() ? value.base : elementBits(value, 0);
      std::memcpy(denseData(results[k]) + i * value.elementBytes(), &bits, value.elementBytes());
      Machine::gather(causes, value);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) {
    m.slot(region.results[k]) = std::move(results[k]);
    m.taintWhole(region.results[k], causes);
  }
}

void execMap(Machine& m, const Instr& instr) {
  const plan::RegionCode& region = m.context().plan->program.regions[instr.body];
  const Shape* shape = m.in(instr, 0).shape;
  int64_t pack = instr.immediate, calls = shape->numel / pack;
  const Shape* part = m.context().kernel->shapes().intern({calls});
  const Shape* rows = m.context().kernel->shapes().intern({calls, pack});
  // Arguments are source by source, `pack` neighbours of each; so are results.
  for (unsigned i = 0; i < instr.inCount; ++i) {
    Tile source = contiguous(m.pool(), m.in(instr, i));
    Tile split = pack > 1 ? reshape(m.pool(), source, rows) : reshape(m.pool(), source, part);
    for (int64_t k = 0; k < pack; ++k) {
      Tile column = split;
      if (pack > 1) {
        column = denseTile(m.pool(), source.kind, part);
        kernels().gatherStrided(source.elementBytes(), denseData(column), source.data() + k * source.elementBytes(),
                                pack * source.elementBytes(), calls);
      }
      column.taint = nullptr;
      m.slot(region.arguments[i * pack + k]) = std::move(column);
    }
  }
  runOnTiles(m, region, part);
  if (m.stopped()) return;
  std::vector<uint32_t> causes;
  for (unsigned i = 0; i < instr.outCount; ++i) {
    Tile result = denseTile(m.pool(), m.outKind(instr, i), shape);
    uint32_t bytes = result.elementBytes();
    for (int64_t k = 0; k < pack; ++k) {
      const Tile& value = m.slot(region.results[i * pack + k]);
      if (value.kind != result.kind) return m.noKernel(instr);
      Machine::gather(causes, value);
      Tile column = contiguous(m.pool(), value.shape == part ? value : broadcast(m.pool(), value, part));
      kernels().scatterStrided(bytes, denseData(result) + k * bytes, pack * bytes, column.data(), calls);
    }
    m.set(instr, std::move(result), i);
  }
  for (unsigned i = 0; i < instr.outCount; ++i) m.taintWhole(m.outSlot(instr, i), causes);
}

}  // namespace tilesight::exec
