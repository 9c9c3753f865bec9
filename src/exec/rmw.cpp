#include "exec/rmw.h"

#include <cstring>

#include "exec/tile.h"

namespace tilesight::exec {

namespace {

BinaryFn function(plan::RmwKind kind, ElementKind element) {
  bool isFloat = ir::isFloatKind(element);
  BinaryOp op;
  switch (kind) {
    case plan::RmwKind::And: op = BinaryOp::And; break;
    case plan::RmwKind::Or: op = BinaryOp::Or; break;
    case plan::RmwKind::Xor: op = BinaryOp::Xor; break;
    case plan::RmwKind::Add: op = isFloat ? BinaryOp::AddF : BinaryOp::AddI; break;
    case plan::RmwKind::FAdd: op = BinaryOp::AddF; break;
    case plan::RmwKind::Max: op = isFloat ? BinaryOp::MaxNumF : BinaryOp::MaxS; break;
    case plan::RmwKind::Min: op = isFloat ? BinaryOp::MinNumF : BinaryOp::MinS; break;
    case plan::RmwKind::UMax: op = BinaryOp::MaxU; break;
    case plan::RmwKind::UMin: op = BinaryOp::MinU; break;
    default: return nullptr;
  }
  return kernels().binary(op, element).vv;
}

bool counts(plan::RmwKind kind) { return kind == plan::RmwKind::Inc || kind == plan::RmwKind::Dec; }

// PTX's wrapping counters: inc goes to 0 past the limit, dec to the limit below 0 or above the limit.
template <typename T>
void count(plan::RmwKind kind, void* out, const void* memory, const void* limit) {
  T old, top;
  std::memcpy(&old, memory, sizeof old);
  std::memcpy(&top, limit, sizeof top);
  T next = kind == plan::RmwKind::Inc ? (old >= top ? 0 : old + 1) : (old == 0 || old > top ? top : old - 1);
  std::memcpy(out, &next, sizeof next);
}

// out = memory `kind` operand, one element.
void update(plan::RmwKind kind, ElementKind element, void* out, const void* memory, const void* operand) {
  uint32_t bytes = ir::elementBytes(element);
  if (kind == plan::RmwKind::Xchg) {
    std::memmove(out, operand, bytes);
  } else if (counts(kind)) {
    if (element == ElementKind::I32) count<uint32_t>(kind, out, memory, operand);
    else count<uint64_t>(kind, out, memory, operand);
  } else {
    alignas(8) uint8_t updated[8];
    function(kind, element)(updated, memory, operand, 1);
    std::memcpy(out, updated, bytes);
  }
}

}  // namespace

bool canUpdate(plan::RmwKind kind, ElementKind element) {
  uint32_t bytes = ir::elementBytes(element);
  if (bytes == 0 || bytes > 8) return false;
  if (kind == plan::RmwKind::Xchg) return true;
  if (counts(kind)) return element == ElementKind::I32 || element == ElementKind::I64;
  return function(kind, element) != nullptr;
}

void updateCells(Machine& m, plan::RmwKind kind, ElementKind element, const Resolved& access, const Tile& operand,
                 Tile* old) {
  const Shape* shape = access.address.shape;
  if (m.replays()) {
    if (old) *old = m.recall(element, shape);
    return;
  }
  const uint32_t bytes = ir::elementBytes(element);
  Tile address = contiguous(m.pool(), access.address), value = contiguous(m.pool(), operand);
  Tile active = access.mask.isSplat() ? access.mask : contiguous(m.pool(), access.mask);
  const auto* addresses = reinterpret_cast<const int64_t*>(address.data());
  if (old) std::memset(denseData(*old), 0, static_cast<size_t>(shape->numel) * bytes);
  for (int64_t i = 0; i < shape->numel; ++i) {
    if (active.isSplat() ? !active.base : !active.data()[i]) continue;
    uint8_t* cell = m.context().memory->host(access, i, addresses[i]);
    if (!cell) continue;
    uint8_t before[8];
    std::memcpy(before, cell, bytes);
    if (old) std::memcpy(denseData(*old) + i * bytes, before, bytes);
    update(kind, element, cell, before, value.data() + i * bytes);
    if (std::memcmp(cell, before, bytes) != 0) m.changed();
  }
}

}  // namespace tilesight::exec
