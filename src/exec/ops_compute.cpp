// Constants, program ids, elementwise operations and rearrangements.
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/shape_ops.h"

namespace tilesight::exec {

namespace {

// What an earlier fault left in an operand is that fault's consequence: takes it out of the elements that are `bad`.
// False if there is nothing of that sort.
bool excuse(Machine& m, Tile& bad, const Tile& operand) {
  const Tile* excused = m.meaningless(operand);
  if (!excused || bad.form == Form::Empty) return false;
  bad = maskAnd(m.pool(), bad, maskXor(m.pool(), *excused, maskSplat(true, excused->shape)));
  return true;
}

void finishOp(Machine& m, const Instr& instr, Tile tile) {
  if (tile.form == Form::Empty) return m.noKernel(instr);
  m.set(instr, std::move(tile));
}

// Elements that are NaN or whose whole part an integer kind does not hold; Empty if there are none.
template <typename T>
Tile outsideOf(Machine& m, const Tile& dense, double low, double high) {
  const auto* x = reinterpret_cast<const T*>(dense.data());
  int64_t n = dense.numel(), outside = 0;
  T from = static_cast<T>(low), to = static_cast<T>(high);
  for (int64_t i = 0; i < n; ++i) outside += !(x[i] > from && x[i] < to);
  if (outside == 0) return {};
  Tile bad = denseTile(m.pool(), ElementKind::I1, dense.shape);
  for (int64_t i = 0; i < n; ++i) denseData(bad)[i] = !(x[i] > from && x[i] < to);
  return bad;
}

Tile notRepresentable(Machine& m, const Tile& a, ElementKind to, bool isSigned) {
  uint32_t bits = 8 * ir::elementBytes(to);
  if (to == ElementKind::I1 || bits == 0) return {};
  // The open interval of the floats that fit: with 32 or 64 bits, -2^n - 1 is no float, the next one is.
  double top = std::ldexp(1.0, static_cast<int>(isSigned ? bits - 1 : bits));
  bool wide = a.kind == ElementKind::F64;
  double low = !isSigned ? -1.0 : -top - 1;
  if (isSigned && (wide ? bits > 32 : bits > 16)) low = wide ? std::nextafter(-top, -2 * top) : std::nextafterf(-static_cast<float>(top), -2 * static_cast<float>(top));
  Tile dense = contiguous(m.pool(), a);
  if (!wide && a.kind != ElementKind::F32) dense = cast(m.pool(), CastOp::FPExt, ElementKind::F32, dense);
  if (dense.form != Form::Dense) dense = contiguous(m.pool(), dense);
  return wide ? outsideOf<double>(m, dense, low, top) : outsideOf<float>(m, dense, low, top);
}

}  // namespace

void execConst(Machine& m, const Instr& instr) {
  ir::Attribute value = instr.source->attribute("value");
  ElementKind kind = m.outKind(instr);
  const Shape* shape = m.outShape(instr);
  switch (value ? value.kind() : ir::AttributeKind::Opaque) {
    case ir::AttributeKind::Bool:
    case ir::AttributeKind::Integer: return m.set(instr, splatTile(kind, value->integer, shape));
    case ir::AttributeKind::Float: return m.set(instr, splatTile(kind, static_cast<int64_t>(value->bits), shape));
    case ir::AttributeKind::DenseElements: {
      uint32_t bytes = ir::elementBytes(kind);
      if (bytes == 0) return m.noKernel(instr);
      if (value->splat) {
        int64_t bits = 0;
        std::memcpy(&bits, value->data.data(), std::min<size_t>(bytes, value->data.size()));
        return m.set(instr, splatTile(kind, bits, shape));
      }
      Tile tile = denseTile(m.pool(), kind, shape);
      std::memcpy(denseData(tile), value->data.data(),
                  std::min<size_t>(value->data.size(), static_cast<size_t>(shape->numel) * bytes));
      return m.set(instr, std::move(tile));
    }
    default: return m.noKernel(instr);
  }
}

void execPoison(Machine& m, const Instr& instr) {
  m.set(instr, splatTile(m.outKind(instr), 0, m.outShape(instr)));
}

void execProgramId(Machine& m, const Instr& instr) {
  m.set(instr, splatTile(ElementKind::I32, m.program().id[instr.immediate], m.outShape(instr)));
}

void execNumPrograms(Machine& m, const Instr& instr) {
  m.set(instr, splatTile(ElementKind::I32, m.context().launch->grid[instr.immediate], m.outShape(instr)));
}

void execIota(Machine& m, const Instr& instr) {
  const Shape* shape = m.outShape(instr);
  Tile tile = splatTile(m.outKind(instr), instr.immediate, shape);
  if (shape->numel > 1) {
    tile.form = Form::Affine;
    tile.stride[0] = 1;
  }
  m.set(instr, std::move(tile));
}

void execSplat(Machine& m, const Instr& instr) {
  const Tile& scalar = m.in(instr, 0);
  if (scalar.isSplat() && scalar.origin == kOriginUnknown) return m.setSplat(instr, scalar.kind, scalar.base, m.outShape(instr));
  m.set(instr, broadcast(m.pool(), m.in(instr, 0), m.outShape(instr)));
}
void execBroadcast(Machine& m, const Instr& instr) {
  m.set(instr, broadcast(m.pool(), m.in(instr, 0), m.outShape(instr)));
}
void execReshape(Machine& m, const Instr& instr) { m.set(instr, reshape(m.pool(), m.in(instr, 0), m.outShape(instr))); }

void execPermute(Machine& m, const Instr& instr) {
  ir::Attribute order = instr.source->attribute("order");
  if (!order) return m.noKernel(instr);
  m.set(instr, permute(m.pool(), m.in(instr, 0), order->integers, m.outShape(instr)));
}

void execJoin(Machine& m, const Instr& instr) {
  m.set(instr, join(m.pool(), m.in(instr, 0), m.in(instr, 1), m.outShape(instr)));
}

void execSplit(Machine& m, const Instr& instr) {
  Tile whole = m.in(instr, 0);
  m.set(instr, split(m.pool(), whole, 0, m.outShape(instr, 0)), 0);
  m.set(instr, split(m.pool(), whole, 1, m.outShape(instr, 1)), 1);
}

void execConcat(Machine& m, const Instr& instr) {
  m.set(instr, concat(m.pool(), m.in(instr, 0), m.in(instr, 1), m.outShape(instr)));
}

void execPtrAdd(Machine& m, const Instr& instr) {
  finishOp(m, instr, pointerAdd(m.pool(), m.in(instr, 0), m.in(instr, 1), instr.immediate));
}

void execPtrToInt(Machine& m, const Instr& instr) {
  Tile tile = reinterpret(m.pool(), m.context().memory->addresses(m.pool(), m.in(instr, 0)), ElementKind::I64);
  tile.origin = kOriginUnknown;
  tile.origins = {};
  m.set(instr, std::move(tile));
}

void execIntToPtr(Machine& m, const Instr& instr) {
  m.set(instr, m.context().memory->adopt(m.pool(), m.in(instr, 0)));
}

void execBitcast(Machine& m, const Instr& instr) {
  m.set(instr, reinterpret(m.pool(), m.in(instr, 0), m.outKind(instr)));
}

void execUnary(Machine& m, const Instr& instr) {
  const Tile& a = m.in(instr, 0);
  const auto op = static_cast<UnaryOp>(instr.sub);
  if (UnaryFn fn = a.isSplat() && op != UnaryOp::IsZero ? kernels().unary(op, a.kind) : nullptr) {
    int64_t bits = 0;
    fn(&bits, &a.base, 1);
    return m.setSplat(instr, a.kind, bits, a.shape);
  }
  finishOp(m, instr, unary(m.pool(), op, a, instr.dying));
}

void execBinary(Machine& m, const Instr& instr) {
  auto op = static_cast<BinaryOp>(instr.sub);
  const Tile& a = m.in(instr, 0);
  const Tile& b = m.in(instr, 1);
  const bool division = plan::isDivision(op), shift = plan::isShift(op);
  if (!division && !shift && a.isSplat() && b.isSplat() && a.shape == b.shape && a.kind != ElementKind::I1)
    if (const BinaryFn fn = kernels().binary(op, a.kind).vv) {
      int64_t bits = 0;
      fn(&bits, &a.base, &b.base, 1);
      return m.setSplat(instr, a.kind, bits, a.shape);
    }
  if (!division && !shift) return finishOp(m, instr, binary(m.pool(), op, a, b, instr.dying));
  // Undefined elements: remember which, report them only where they reach something that matters.
  Tile bad;
  if (division) {
    if (b.isSplat()) {
      if (b.base == 0) bad = maskSplat(true, m.outShape(instr));
    } else {
      bad = compareI(m.pool(), CmpIOp::Eq, b, splatTile(b.kind, 0, b.shape));
    }
  } else {
    Tile width = splatTile(b.kind, 8 * ir::elementBytes(b.kind), b.shape);
    if (!b.isSplat() || b.base < 0 || b.base >= width.base) bad = compareI(m.pool(), CmpIOp::Uge, b, width);
  }
  excuse(m, bad, b);
  Tile result = binary(m.pool(), op, a, b, instr.dying);
  if (result.form == Form::Empty) return m.noKernel(instr);
  bool any = bad.form != Form::Empty && countTrue(m.pool(), bad) > 0;
  m.set(instr, std::move(result));
  if (any)
    m.taintSlot(m.outSlot(instr), std::move(bad),
                m.cause(division ? Cause::Kind::DivisionByZero : Cause::Kind::InvalidShift, instr));
}

void execCompareI(Machine& m, const Instr& instr) {
  finishOp(m, instr, compareI(m.pool(), static_cast<CmpIOp>(instr.sub), m.in(instr, 0), m.in(instr, 1)));
}
void execCompareF(Machine& m, const Instr& instr) {
  finishOp(m, instr, compareF(m.pool(), static_cast<CmpFOp>(instr.sub), m.in(instr, 0), m.in(instr, 1)));
}
void execSelect(Machine& m, const Instr& instr) {
  finishOp(m, instr, select(m.pool(), m.in(instr, 0), m.in(instr, 1), m.in(instr, 2)));
}
void execCast(Machine& m, const Instr& instr) {
  const Tile& a = m.in(instr, 0);
  auto to = static_cast<ElementKind>(instr.flag);
  if (a.kind == to) return m.set(instr, a);
  auto op = static_cast<CastOp>(instr.sub);
  Tile bad;
  if (op == CastOp::FPToSI || op == CastOp::FPToUI) bad = notRepresentable(m, a, to, op == CastOp::FPToSI);
  Tile result = cast(m.pool(), op, to, a);
  if (result.form == Form::Empty) return m.noKernel(instr);
  // Undefined for LLVM, although today's hardware saturates.
  excuse(m, bad, a);
  bool any = bad.form != Form::Empty && countTrue(m.pool(), bad) > 0;
  m.set(instr, std::move(result));
  if (any) m.taintSlot(m.outSlot(instr), std::move(bad), m.cause(Cause::Kind::InvalidConversion, instr));
}
void execFma(Machine& m, const Instr& instr) {
  finishOp(m, instr, fma(m.pool(), m.in(instr, 0), m.in(instr, 1), m.in(instr, 2)));
}
void execClampF(Machine& m, const Instr& instr) {
  finishOp(m, instr, clampF(m.pool(), m.in(instr, 0), m.in(instr, 1), m.in(instr, 2), instr.flag != 0));
}

void execHistogram(Machine& m, const Instr& instr) {
  Tile source = contiguous(m.pool(), m.in(instr, 0));
  bool masked = instr.flag & 1;
  Tile mask = masked ? contiguous(m.pool(), m.in(instr, 1)) : Tile{};
  const Shape* shape = m.outShape(instr);
  // What an earlier fault left there is that fault's consequence.
  const Tile* faulty = m.meaningless(m.in(instr, 0));
  Tile excused = faulty ? contiguous(m.pool(), *faulty) : Tile{};
  std::vector<int64_t> bins(shape->numel, 0);
  bool outside = false;
  for (int64_t i = 0; i < source.numel(); ++i) {
    if (masked && !mask.data()[i]) continue;
    int64_t bin = elementBits(source, i);
    if (bin >= 0 && bin < shape->numel) ++bins[bin];
    else outside = outside || excused.form == Form::Empty || !excused.data()[i];
  }
  Tile result = denseTile(m.pool(), m.outKind(instr), shape);
  uint32_t bytes = result.elementBytes();
  for (int64_t i = 0; i < shape->numel; ++i) std::memcpy(denseData(result) + i * bytes, &bins[i], bytes);
  m.set(instr, std::move(result));
  // GPUs count such an element in a bin that some of its bits name, so any bin may be wrong.
  if (outside) m.taintSlot(m.outSlot(instr), maskSplat(true, shape), m.cause(Cause::Kind::InvalidIndex, instr));
}

void execTake(Machine& m, const Instr& instr) {
  Tile source = contiguous(m.pool(), m.in(instr, 0));
  Tile index = contiguous(m.pool(), m.in(instr, 1));
  const Shape& from = *source.shape;
  const Shape* to = m.outShape(instr);
  int axis = static_cast<int>(instr.immediate), rank = to->rank();
  Tile result = denseTile(m.pool(), source.kind, to);
  uint32_t bytes = source.elementBytes();
  std::vector<int64_t> at(rank, 0), step(rank);
  int64_t along = 1, outside = 0;
  for (int d = rank - 1; d >= 0; --d) {
    step[d] = along;
    along *= from.dims[d];
  }
  for (int64_t i = 0; i < to->numel; ++i) {
    int64_t k = elementBits(index, i);
    int64_t position = 0;
    bool inside = k >= 0 && k < from.dims[axis];
    outside += !inside;
    for (int d = 0; d < rank; ++d) position += (d == axis ? k : at[d]) * step[d];
    if (inside) std::memcpy(denseData(result) + i * bytes, source.data() + position * bytes, bytes);
    else std::memset(denseData(result) + i * bytes, 0, bytes);
    for (int d = rank - 1; d >= 0; --d) {
      if (++at[d] < to->dims[d]) break;
      at[d] = 0;
    }
  }
  if (source.kind == ElementKind::Pointer)
    assignOrigins(m.pool(), result, [&](int64_t i) {
      std::vector<int64_t> place(rank);
      for (int64_t d = rank - 1, left = i; d >= 0; --d) {
        place[d] = left % to->dims[d];
        left /= to->dims[d];
      }
      int64_t k = elementBits(index, i), position = 0;
      for (int d = 0; d < rank; ++d) position += (d == axis ? k : place[d]) * step[d];
      return k >= 0 && k < from.dims[axis] ? originAt(source, position) : kOriginUnknown;
    });
  m.set(instr, std::move(result));
  if (!outside) return;
  Tile bad = denseTile(m.pool(), ElementKind::I1, to);
  for (int64_t i = 0; i < to->numel; ++i) {
    int64_t k = elementBits(index, i);
    denseData(bad)[i] = k < 0 || k >= from.dims[axis];
  }
  if (excuse(m, bad, m.in(instr, 1)) && countTrue(m.pool(), bad) == 0) return;
  m.taintSlot(m.outSlot(instr), std::move(bad), m.cause(Cause::Kind::InvalidIndex, instr));
}

}  // namespace tilesight::exec
