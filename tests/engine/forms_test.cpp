// Tiles in symbolic form and the same tiles written out give the same elements, whatever is done to
// them.
#include <cstring>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "exec/elementwise.h"
#include "exec/shape_ops.h"

namespace tilesight::exec {
namespace {

// Enough cases to meet the corners; RC_PARAMS overrides.
const bool kConfigured = [] {
  setenv("RC_PARAMS", "max_success=2000 max_discard_ratio=50", 0);
  return true;
}();

ShapeTable& shapes() {
  static ShapeTable table;
  return table;
}
BufferPool& pool() {
  static BufferPool instance;
  return instance;
}

const Shape* anyShape() {
  int rank = *rc::gen::inRange(1, 4);
  std::vector<int64_t> dims;
  for (int d = 0; d < rank; ++d) dims.push_back(int64_t{1} << *rc::gen::inRange(0, 4));
  return shapes().intern(dims);
}

int64_t anyValue(ElementKind kind) {
  int64_t small = *rc::gen::inRange<int64_t>(-40, 40);
  if (*rc::gen::inRange(0, 4)) return small;
  return normalizeBits(kind, *rc::gen::arbitrary<int64_t>());
}

// A tile whose every element is exact in its kind.
Tile anyTile(ElementKind kind, const Shape* shape) {
  Tile tile = splatTile(kind, anyValue(kind), shape);
  int form = *rc::gen::inRange(0, 4);
  if (form == 0) return tile;
  if (form == 3) {  // dense, varying along some axes
    Tile dense = denseTile(pool(), kind, shape);
    uint32_t axes = *rc::gen::inRange<uint32_t>(0, 8);
    dense.stride = {};
    int64_t step = 1;
    for (int d = shape->rank() - 1; d >= 0; --d) {
      if (!((axes >> d) & 1) || shape->dims[d] == 1) continue;
      dense.stride[d] = step;
      step *= shape->dims[d];
    }
    for (int64_t i = 0; i < step; ++i) {
      int64_t value = anyValue(kind);
      std::memcpy(denseData(dense) + i * dense.elementBytes(), &value, dense.elementBytes());
    }
    return dense;
  }
  tile.base = *rc::gen::inRange<int64_t>(-60, 60);
  tile.form = form == 1 ? Form::Affine : Form::Separable;
  int used = 0;
  for (int d = 0; d < shape->rank(); ++d) {
    if (shape->dims[d] == 1) continue;
    if (form == 2 && used < 2 && *rc::gen::inRange(0, 2)) {
      BufferRef buffer(pool().take(shape->dims[d] * 8));
      auto* values = reinterpret_cast<int64_t*>(buffer.bytes());
      for (int64_t i = 0; i < shape->dims[d]; ++i) values[i] = *rc::gen::inRange<int64_t>(-4, 5);
      tile.axis[d] = values;
      tile.axisBuffers[used++] = std::move(buffer);
    } else {
      tile.stride[d] = *rc::gen::inRange<int64_t>(-2, 3);
    }
  }
  Range range;
  RC_PRE(symbolicRange(tile, &range) && fitsKind(kind, range.min) && fitsKind(kind, range.max));
  return tile;
}

Tile written(const Tile& tile) {
  Tile dense = denseTile(pool(), tile.kind, tile.shape);
  for (int64_t i = 0; i < tile.numel(); ++i) {
    int64_t bits = elementBits(tile, i);
    std::memcpy(denseData(dense) + i * dense.elementBytes(), &bits, dense.elementBytes());
  }
  return dense;
}

void same(const Tile& a, const Tile& b) {
  RC_ASSERT(a.form != Form::Empty);
  RC_ASSERT(b.form != Form::Empty);
  RC_ASSERT(a.numel() == b.numel());
  for (int64_t i = 0; i < a.numel(); ++i) RC_ASSERT(elementBits(a, i) == elementBits(b, i));
}

constexpr ElementKind kInts[] = {ElementKind::I8, ElementKind::I16, ElementKind::I32, ElementKind::I64};
ElementKind anyInt() { return kInts[*rc::gen::inRange(0, 4)]; }

RC_GTEST_PROP(Forms, MaterialisingKeepsElements, ()) {
  Tile tile = anyTile(anyInt(), anyShape());
  same(tile, written(tile));
  same(contiguous(pool(), tile), written(tile));
  same(strided(pool(), tile), written(tile));
  RC_ASSERT(isContiguous(contiguous(pool(), tile)));
}

RC_GTEST_PROP(Forms, BinaryOperations, ()) {
  ElementKind kind = anyInt();
  const Shape* shape = anyShape();
  Tile a = anyTile(kind, shape), b = anyTile(kind, shape);
  auto op = static_cast<BinaryOp>(*rc::gen::inRange(0, static_cast<int>(BinaryOp::MulHiU) + 1));
  Tile left = written(a), right = written(b);
  same(binary(pool(), op, a, b), binary(pool(), op, left, right));
  same(binary(pool(), op, a, right), binary(pool(), op, left, right));
  same(binary(pool(), op, left, b), binary(pool(), op, left, right));
}

RC_GTEST_PROP(Forms, ComparisonsMasksAndSelect, ()) {
  ElementKind kind = anyInt();
  const Shape* shape = anyShape();
  Tile a = anyTile(kind, shape), b = anyTile(kind, shape);
  auto p = static_cast<CmpIOp>(*rc::gen::inRange(0, 10));
  auto q = static_cast<CmpIOp>(*rc::gen::inRange(0, 10));
  Tile x = compareI(pool(), p, a, b), y = compareI(pool(), q, b, splatTile(kind, anyValue(kind), shape));
  same(x, compareI(pool(), p, written(a), written(b)));
  auto check = [&](Tile result, BinaryOp op) {
    for (int64_t i = 0; i < x.numel(); ++i) {
      int64_t l = elementBits(x, i), r = elementBits(y, i);
      RC_ASSERT(elementBits(result, i) == (op == BinaryOp::And ? (l & r) : op == BinaryOp::Or ? (l | r) : (l ^ r)));
    }
    int64_t count = 0;
    for (int64_t i = 0; i < result.numel(); ++i) count += elementBits(result, i);
    RC_ASSERT(countTrue(pool(), result) == count);
  };
  check(maskAnd(pool(), x, y), BinaryOp::And);
  check(maskOr(pool(), x, y), BinaryOp::Or);
  check(maskXor(pool(), x, y), BinaryOp::Xor);
  check(maskXor(pool(), x, y = maskSplat(true, shape)), BinaryOp::Xor);
  Tile chosen = select(pool(), x, a, b);
  for (int64_t i = 0; i < chosen.numel(); ++i)
    RC_ASSERT(elementBits(chosen, i) == (elementBits(x, i) ? elementBits(a, i) : elementBits(b, i)));
}

RC_GTEST_PROP(Forms, CastsOfIntegers, ()) {
  int first = *rc::gen::inRange(0, 4);
  ElementKind from = kInts[first], to = kInts[(first + *rc::gen::inRange(1, 4)) % 4];
  bool wider = ir::elementBytes(to) > ir::elementBytes(from);
  Tile tile = anyTile(from, anyShape());
  for (CastOp op : {CastOp::SExt, CastOp::ZExt, CastOp::Trunc}) {
    if (wider == (op == CastOp::Trunc)) continue;
    same(cast(pool(), op, to, tile), cast(pool(), op, to, written(tile)));
  }
}

RC_GTEST_PROP(Forms, PointerArithmetic, ()) {
  const Shape* shape = anyShape();
  Tile offset = anyTile(ElementKind::I32, shape), more = anyTile(ElementKind::I64, shape);
  Tile base = splatTile(ElementKind::Pointer, 1 << 20, shape);
  base.origin = 3;
  Tile p = pointerAdd(pool(), pointerAdd(pool(), base, offset, 4), more, 2);
  RC_ASSERT(p.origin == 3);
  for (int64_t i = 0; i < p.numel(); ++i)
    RC_ASSERT(static_cast<uint64_t>(elementBits(p, i)) ==
              (uint64_t{1} << 20) + 4 * static_cast<uint64_t>(elementBits(offset, i)) +
                  2 * static_cast<uint64_t>(elementBits(more, i)));
}

RC_GTEST_PROP(Forms, Rearrangements, ()) {
  ElementKind kind = anyInt();
  const Shape* shape = anyShape();
  Tile tile = anyTile(kind, shape);
  // permute
  std::vector<int64_t> order;
  for (int d = 0; d < shape->rank(); ++d) order.push_back(d);
  for (int d = shape->rank() - 1; d > 0; --d) std::swap(order[d], order[*rc::gen::inRange(0, d + 1)]);
  std::vector<int64_t> dims;
  for (int64_t d : order) dims.push_back(shape->dims[d]);
  const Shape* permuted = shapes().intern(dims);
  same(permute(pool(), tile, order, permuted), permute(pool(), written(tile), order, permuted));
  // flatten, and a unit axis in front
  same(reshape(pool(), tile, shapes().intern({shape->numel})), reshape(pool(), written(tile), shapes().intern({shape->numel})));
  std::vector<int64_t> unit = shape->dims;
  unit.insert(unit.begin() + *rc::gen::inRange(0, shape->rank() + 1), 1);
  const Shape* widened = shapes().intern(unit);
  Tile raised = reshape(pool(), tile, widened);
  same(raised, reshape(pool(), written(tile), widened));
  for (int64_t& d : unit)
    if (d == 1) d = 4;
  const Shape* grown = shapes().intern(unit);
  same(broadcast(pool(), raised, grown), broadcast(pool(), written(raised), grown));
  // halves
  for (int d = 0; d < shape->rank(); ++d) {
    if (shape->dims[d] < 2) continue;
    std::vector<int64_t> half = shape->dims;
    half[d] /= 2;
    const Shape* part = shapes().intern(half);
    same(slice(pool(), tile, d, half[d], part), slice(pool(), written(tile), d, half[d], part));
  }
}

}  // namespace
}  // namespace tilesight::exec
