// Tensor views: descriptors and block pointers. An access through a view is an affine access with a
// box for a mask, so everything behind it is shared with plain pointers.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/report.h"
#include "exec/rmw.h"
#include "exec/shape_ops.h"

namespace tilesight::exec {

namespace {

// The affine addresses and the box of a block of `view` at `offset`.
struct Block {
  Tile pointer, mask;
};
Block blockAt(Machine& m, const ViewValue& view, const std::vector<int64_t>& offset, int64_t checked) {
  const Shape* shape = m.context().kernel->shapes().intern(view.block);
  Block block;
  block.pointer = splatTile(ElementKind::Pointer, view.address, shape);
  block.pointer.origin = view.origin;
  block.mask.form = Form::Box;
  block.mask.kind = ElementKind::I1;
  block.mask.shape = shape;
  int64_t bytes = ir::elementBytes(view.element);
  bool empty = false, full = true;
  for (int d = 0; d < view.rank; ++d) {
    int64_t step = view.stride[d] * bytes;
    block.pointer.base += offset[d] * step;
    if (view.block[d] > 1) {
      block.pointer.stride[d] = step;
      if (step) block.pointer.form = Form::Affine;
    }
    int64_t lo = 0, hi = view.block[d];
    if ((checked >> d) & 1) {
      lo = std::clamp<int64_t>(-offset[d], 0, view.block[d]);
      hi = std::clamp<int64_t>(view.shape[d] - offset[d], 0, view.block[d]);
    }
    block.mask.stride[d] = lo;
    block.mask.hi[d] = hi;
    empty = empty || lo >= hi;
    full = full && lo == 0 && hi == view.block[d];
  }
  if (empty) block.mask = maskSplat(false, shape);
  else if (full) block.mask = maskSplat(true, shape);
  return block;
}

// Padding of elements outside: zero, or a quiet NaN of the element's format.
int64_t paddingBits(ElementKind kind, bool nan) {
  if (!nan) return 0;
  switch (kind) {
    case ElementKind::F16: return 0x7e00;
    case ElementKind::BF16: return 0x7fc0;
    case ElementKind::F32: return 0x7fc00000;
    case ElementKind::F64: return 0x7ff8000000000000;
    case ElementKind::F8E5M2: return 0x7e;
    case ElementKind::F8E4M3FN: return 0x7f;
    default: return 0;
  }
}

std::vector<int64_t> indices(Machine& m, const Instr& instr, const ViewValue& view, unsigned from, unsigned count) {
  std::vector<int64_t> result = view.offset;
  result.resize(view.rank, 0);
  for (unsigned i = 0; i < count && i < static_cast<unsigned>(view.rank); ++i) {
    if (m.tainting()) m.sink(instr, m.in(instr, from + i), nullptr, "index");
    result[i] += scalarValue(m.in(instr, from + i));
  }
  return result;
}


// Rows x[i], columns y + j of a 2-D view.
Block rowsAt(Machine& m, const Instr& instr, const ViewValue& view, const Tile& rows, int64_t column, const Shape* shape) {
  BufferPool& pool = m.pool();
  ShapeTable& shapes = m.context().kernel->shapes();
  int64_t bytes = ir::elementBytes(view.element);
  (void)instr;
  Tile x = broadcast(pool, reshape(pool, rows, shapes.intern({shape->dims[0], 1})), shape);
  Tile y = splatTile(ElementKind::I32, column, shape);
  y.form = Form::Affine;
  y.stride[1] = shape->dims[1] > 1 ? 1 : 0;
  Block block;
  Tile base = splatTile(ElementKind::Pointer, view.address, shape);
  base.origin = view.origin;
  block.pointer = pointerAdd(pool, pointerAdd(pool, base, x, view.stride[0] * bytes), y, view.stride[1] * bytes);
  auto limit = [&](const Tile& at, int64_t size) {
    Tile zero = splatTile(at.kind, 0, shape), end = splatTile(at.kind, size, shape);
    return maskAnd(pool, compareI(pool, CmpIOp::Sge, at, zero), compareI(pool, CmpIOp::Slt, at, end));
  };
  block.mask = maskAnd(pool, limit(x, view.shape[0]), limit(y, view.shape[1]));
  return block;
}

void loadBlock(Machine& m, const Instr& instr, const ViewValue& view, const Block& block, bool nan) {
  Resolved access = m.context().memory->resolve(m.pool(), block.pointer, &block.mask, ir::elementBytes(view.element), Use::Read);
  if (m.footprint()) m.footprint()->read(*m.context().memory, m.pool(), access);
  if (!instr.valueNeeded) return m.access(instr, TS_LOAD, access);
  ElementKind kind = m.outKind(instr);
  Tile other = splatTile(kind, paddingBits(kind, nan), access.address.shape);
  Tile value = m.load(access, kind, &other);
  m.access(instr, TS_LOAD, access, {&value});
  m.set(instr, reshape(m.pool(), value, m.outShape(instr)));
  if (access.faults) taintFaults(m, instr, access);
}

// Elements outside the view are not stored: they matter to nobody.
void sinkStored(Machine& m, const Instr& instr, const Tile& value, const Resolved& access) {
  const Tile* faulty = m.meaningless(value);
  if (!faulty) return;
  Tile mask = faulty->isSplat() ? maskSplat(faulty->base != 0, access.address.shape)
                                : reshape(m.pool(), strided(m.pool(), *faulty), access.address.shape);
  Tile stored = splatTile(value.kind, 0, access.address.shape);
  stored.taint = std::make_shared<Taint>(Taint{std::move(mask), {}, value.taint->causes});
  m.sink(instr, stored, &access.mask, "value");
}

void storeBlock(Machine& m, const Instr& instr, const ViewValue& view, const Block& block, const Tile& value) {
  Resolved access = m.context().memory->resolve(m.pool(), block.pointer, &block.mask, ir::elementBytes(view.element), Use::Write);
  if (instr.valueNeeded) sinkStored(m, instr, value, access);
  if (!instr.valueNeeded) return m.access(instr, TS_STORE, access);
  Tile stored = reshape(m.pool(), value, access.address.shape);
  m.access(instr, TS_STORE, access, {&stored});
  if (m.footprint()) m.footprint()->write(*m.context().memory, m.pool(), access);
  m.store(access, stored);
}

const ViewValue* viewOf(Machine& m, const Instr& instr) {
  const Tile& tile = m.in(instr, 0);
  if (!tile.view) {
    m.noKernel(instr);
    return nullptr;
  }
  return tile.view.get();
}

Tile viewTile(Machine& m, const Instr& instr, std::shared_ptr<const ViewValue> value) {
  Tile tile;
  tile.form = Form::View;
  tile.shape = m.outShape(instr);
  tile.kind = ElementKind::Invalid;
  tile.origin = value->origin;
  tile.view = std::move(value);
  return tile;
}

// What Triton asks of descriptors that a kernel makes: a base and strides, but for the last one, that are multiples of
// 16 bytes. (The front end sees to the last stride; TensorDescriptor to those that are passed.)
constexpr int64_t kDescriptorAlignment = 16;

// `operand`: the one of the operation that breaks the rule; `rule` tells findings of one descriptor apart.
void reportUnaligned(Machine& m, const Instr& instr, const ViewValue& view, unsigned operand, int32_t rule,
                     const std::string& problem, const char* remedy) {
  if (m.meaningless(m.in(instr, operand))) return;  // an earlier fault's consequence
  FindingKey key{"misaligned", &instr, rule};
  if (!m.collector().find(key)) {
    const LaunchContext& context = m.context();
    const ViewInfo* tensor = context.memory->view(view.origin);
    findings::Finding finding = findingAt(m, instr, key.kind, findings::Severity::Error,
                                          fmt::format("the descriptor{}{} {}", tensor ? " of " : "", tensor ? tensor->name : "", problem));
    finding.client = context.promisesTo;
    finding.remedy = remedy;
    if (tensor) finding.operand = operandOf(context, *tensor, view.address);
    const ir::Value* value = instr.source->operands[operand];
    if (value->owner && value->owner->name == "arith.extsi") value = value->owner->operands[0];
    explainValue(m, instr, value, -1, finding);
    m.collector().add(key, std::move(finding));
  }
  m.collector().count(key, 0, m.program().linear);  // programs: no elements are concerned
}

void checkDescriptor(Machine& m, const Instr& instr, const ViewValue& view) {
  if (!m.context().promisesTo || !instr.used) return;
  int64_t rest = view.address & (kDescriptorAlignment - 1);
  if (rest) {
    const ViewInfo* tensor = m.context().memory->view(view.origin);
    std::string where = fmt::format("{} bytes past a multiple of 16", rest);
    if (tensor && view.address != tensor->address) {
      where += fmt::format(" ({} {} {} bytes", tensor->name, view.address < tensor->address ? '-' : '+', std::abs(view.address - tensor->address));
      int64_t own = tensor->address & (kDescriptorAlignment - 1);
      where += own ? fmt::format(", and {} itself is {} past one)", tensor->name, own) : ")";
    }
    reportUnaligned(m, instr, view, 0, view.origin, fmt::format("has a base {}: it must be 16-byte aligned", where),
                    "begin at an element whose address is a multiple of 16 bytes, or load and store with pointers and masks");
  }
  int64_t bytes = ir::elementBytes(view.element);
  for (int d = 0; d + 1 < view.rank; ++d)
    if (view.stride[d] * bytes % kDescriptorAlignment)
      reportUnaligned(m, instr, view, 1 + view.rank + d, -2 - d,
                      fmt::format("has the stride {} on axis {}, {} bytes: all strides but the last must be multiples of 16 bytes",
                                  view.stride[d], d, view.stride[d] * bytes),
                      "pad the axis below it, so that each step is a multiple of 16 bytes, or load and store with pointers and masks");
}

}  // namespace

void execView(Machine& m, const Instr& instr) {
  auto value = std::make_shared<ViewValue>();
  int rank = static_cast<int>(instr.immediate);
  ir::Type type = instr.source->result()->type;
  value->rank = rank;
  value->element = machineKind(type->inner);
  value->block = type->shape;
  const Tile& base = m.in(instr, 0);
  value->address = scalarValue(base);
  value->origin = base.origin != kOriginMixed ? base.origin
                                              : reinterpret_cast<const int32_t*>(base.origins.bytes())[0];
  for (int d = 0; d < rank; ++d) {
    value->shape.push_back(scalarValue(m.in(instr, 1 + d)));
    value->stride.push_back(scalarValue(m.in(instr, 1 + rank + d)));
    value->offset.push_back(instr.flag & 1 ? scalarValue(m.in(instr, 1 + 2 * rank + d)) : 0);
  }
  value->padNan = instr.flag & 2;
  if (rank > kMaxRank) return m.noKernel(instr);
  if (!(instr.flag & 1)) checkDescriptor(m, instr, *value);
  m.set(instr, viewTile(m, instr, std::move(value)));
}

void execViewAdvance(Machine& m, const Instr& instr) {
  const ViewValue* view = viewOf(m, instr);
  if (!view) return;
  auto value = std::make_shared<ViewValue>(*view);
  for (int d = 0; d < view->rank; ++d) {
    // Triton widens offsets to 64 bits before it adds to them: nothing wraps at 32.
    value->offset[d] += scalarValue(m.in(instr, 1 + d));
  }
  m.set(instr, viewTile(m, instr, std::move(value)));
}

void execViewLoad(Machine& m, const Instr& instr) {
  const ViewValue* view = viewOf(m, instr);
  if (!view) return;
  std::vector<int64_t> at = indices(m, instr, *view, 1, instr.inCount - 1);
  loadBlock(m, instr, *view, blockAt(m, *view, at, instr.immediate), view->padNan || (instr.flag & 2));
}

void execViewStore(Machine& m, const Instr& instr) {
  const ViewValue* view = viewOf(m, instr);
  if (!view) return;
  std::vector<int64_t> at = indices(m, instr, *view, 2, instr.inCount - 2);
  storeBlock(m, instr, *view, blockAt(m, *view, at, instr.immediate), m.in(instr, 1));
}

void execViewGather(Machine& m, const Instr& instr) {
  const ViewValue* view = viewOf(m, instr);
  if (!view || view->rank != 2) return m.noKernel(instr);
  Block block = rowsAt(m, instr, *view, m.in(instr, 1), scalarValue(m.in(instr, 2)), m.outShape(instr));
  loadBlock(m, instr, *view, block, view->padNan);
}

void execViewScatter(Machine& m, const Instr& instr) {
  const ViewValue* view = viewOf(m, instr);
  if (!view || view->rank != 2) return m.noKernel(instr);
  const Tile& value = m.in(instr, 3);
  Block block = rowsAt(m, instr, *view, m.in(instr, 1), scalarValue(m.in(instr, 2)), value.shape);
  storeBlock(m, instr, *view, block, value);
}

void execViewReduce(Machine& m, const Instr& instr) {
  if (m.givesWay(instr)) return;
  const ViewValue* view = viewOf(m, instr);
  if (!view) return;
  auto kind = static_cast<plan::RmwKind>(instr.sub);
  if (!canUpdate(kind, view->element)) return m.noKernel(instr);
  Block block = blockAt(m, *view, indices(m, instr, *view, 2, instr.inCount - 2), instr.immediate);
  uint32_t bytes = ir::elementBytes(view->element);
  Resolved access = m.context().memory->resolve(m.pool(), block.pointer, &block.mask, bytes, Use::Write);
  if (m.in(instr, 1).form == Form::Empty) return m.access(instr, TS_ATOMIC_RMW, access);
  sinkStored(m, instr, m.in(instr, 1), access);
  Tile value = reshape(m.pool(), m.in(instr, 1), access.address.shape);
  m.access(instr, TS_ATOMIC_RMW, access, {&value});
  m.update(kind, view->element, access, value);
}

}  // namespace tilesight::exec
