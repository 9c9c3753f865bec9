// Calls of device libraries and inline assembly, element by element.
#include <array>
#include <cstring>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/nary.h"
#include "exec/shape_ops.h"
#include "foreign/function.h"
#include "plan/classify.h"

namespace tilesight::exec {

namespace {

// The operands as spans over `shape`; splats stay one element.
std::vector<Tile> spans(Machine& m, const Instr& instr, const Shape* shape) {
  std::vector<Tile> result;
  for (unsigned i = 0; i < instr.inCount; ++i) {
    const Tile& tile = m.in(instr, i);
    result.push_back(tile.isSplat() ? tile : contiguous(m.pool(), tile.shape == shape ? tile : broadcast(m.pool(), tile, shape)));
  }
  return result;
}

const Shape* shapeOf(Machine& m, const Instr& instr) {
  const Shape* shape = m.outShape(instr);
  for (unsigned i = 0; i < instr.inCount; ++i) {
    const Tile& tile = m.in(instr, i);
    // Combine functions run on whole tiles although their operations are scalar.
    if (tile.numel() > shape->numel) shape = tile.shape;
  }
  return shape;
}

}  // namespace

void execExtern(Machine& m, const Instr& instr) {
  const foreign::Function& function = foreign::all()[instr.immediate];
  const Shape* shape = shapeOf(m, instr);
  std::vector<Tile> operands = spans(m, instr, shape);
  std::array<const void*, foreign::kMaxArguments> in{};
  std::array<int64_t, foreign::kMaxArguments> step{};
  bool splat = true;
  for (size_t i = 0; i < operands.size(); ++i) {
    bool one = operands[i].isSplat();
    in[i] = one ? static_cast<const void*>(&operands[i].base) : operands[i].data();
    step[i] = one ? 0 : 1;
    splat = splat && one;
  }
  if (splat) {
    int64_t bits = 0;
    function.evaluate(&bits, in.data(), step.data(), 1);
    return m.set(instr, splatTile(function.result, normalizeBits(function.result, bits), shape));
  }
  Tile result = denseTile(m.pool(), function.result, shape);
  function.evaluate(denseData(result), in.data(), step.data(), static_cast<size_t>(shape->numel));
  m.set(instr, std::move(result));
}

void execInlineAsm(Machine& m, const Instr& instr) {
  const foreign::Ptx& ptx = *m.context().plan->program.assembly[instr.immediate];
  const Shape* shape = shapeOf(m, instr);
  std::vector<Tile> operands = spans(m, instr, shape);
  foreign::PtxEnvironment environment;
  environment.timer = m.clocks();
  for (int d = 0; d < 3; ++d) {
    environment.program[d] = m.program().id[d];
    environment.grid[d] = m.context().launch->grid[d];
  }
  int64_t pack = instr.flag;
  std::array<uint64_t, 128> registers{};
  std::vector<Tile> results;
  for (unsigned i = 0; i < instr.outCount; ++i) results.push_back(denseTile(m.pool(), m.outKind(instr, i), shape));
  for (int64_t first = 0; first < shape->numel; first += pack) {
    // Elements behind the last one (a scalar with packed elements) are zeros that nobody reads.
    registers.fill(0);
    size_t at = static_cast<size_t>(ptx.outputs());
    for (const Tile& tile : operands) {
      plan::Packing packing = plan::packing(tile.kind, pack);
      uint32_t bytes = tile.elementBytes();
      for (int64_t k = 0; k < pack; ++k) {
        uint64_t bits = 0;
        int64_t element = first + k;
        if (element < shape->numel)
          std::memcpy(&bits, tile.isSplat() ? reinterpret_cast<const uint8_t*>(&tile.base) : tile.data() + element * bytes, bytes);
        registers[at + k / packing.perRegister] |= bits << (8 * bytes * (k % packing.perRegister));
      }
      at += packing.registers;
    }
    ptx.run(registers.data(), environment);
    at = 0;
    for (Tile& tile : results) {
      plan::Packing packing = plan::packing(tile.kind, pack);
      uint32_t bytes = tile.elementBytes();
      for (int64_t k = 0; k < pack && first + k < shape->numel; ++k) {
        uint64_t bits = registers[at + k / packing.perRegister] >> (8 * bytes * (k % packing.perRegister));
        if (tile.kind == ElementKind::I1) bits &= 1;
        std::memcpy(denseData(tile) + (first + k) * bytes, &bits, bytes);
      }
      at += packing.registers;
    }
  }
  for (unsigned i = 0; i < instr.outCount; ++i) {
    if (shape->numel == 1) results[i] = splatTile(results[i].kind, elementBits(results[i], 0), shape);
    m.set(instr, std::move(results[i]), i);
  }
}

}  // namespace tilesight::exec
