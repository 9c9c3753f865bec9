#include "trace/dependence.h"

#include <algorithm>

#include "plan/classify.h"

namespace tilesight::trace {

using exec::Instr;
using exec::Opcode;
using exec::Shape;
using exec::Tile;

const Shape* operandShape(const exec::CompiledPlan& plan, const Instr& instr, unsigned operand) {
  const uint32_t slot = plan.program.operands[instr.in + operand];
  return slot == plan::kNoSlot ? nullptr : plan.slotShapes[slot];
}

const Shape* resultShape(const exec::CompiledPlan& plan, const Instr& instr, unsigned result) {
  return plan.slotShapes[plan.program.operands[instr.out + result]];
}

uint32_t decidingOperands(const Instr& instr) {
  switch (instr.op) {
    case Opcode::Load:
    case Opcode::AtomicLoad: return instr.flag & 1 ? 0b11 : 0b1;
    case Opcode::AtomicPoll:
    case Opcode::AtomicCas: return 0b1;
    case Opcode::Store:
    case Opcode::AtomicRmw:
    case Opcode::AtomicStore: return instr.flag & 1 ? 0b101 : 0b1;
    case Opcode::Select: return 0b1;
    case Opcode::Take: return 0b10;
    case Opcode::ViewLoad: return ~uint32_t{0};
    case Opcode::ViewStore:
    case Opcode::ViewReduce: return ~uint32_t{0b10};
    case Opcode::ViewGather:
    case Opcode::ViewScatter: return 0b111;
    default: return 0;
  }
}

bool isAccess(const Instr& instr) {
  switch (instr.op) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::AtomicRmw:
    case Opcode::AtomicCas:
    case Opcode::AtomicLoad:
    case Opcode::AtomicStore:
    case Opcode::AtomicPoll:
    case Opcode::ViewLoad:
    case Opcode::ViewStore:
    case Opcode::ViewGather:
    case Opcode::ViewScatter:
    case Opcode::ViewReduce: return true;
    default: return false;
  }
}

namespace {

std::vector<int64_t> strides(const Shape& shape) {
  std::vector<int64_t> result(shape.dims.size());
  int64_t step = 1;
  for (size_t d = result.size(); d-- > 0;) {
    result[d] = step;
    step *= shape.dims[d];
  }
  return result;
}

bool maskedOff(const Tile& mask, int64_t element) {
  return mask.form != exec::Form::Empty && !exec::elementBits(mask, mask.numel() == 1 ? 0 : element);
}

class Mapping {
 public:
  Mapping(const exec::CompiledPlan& plan, const Instr& instr, unsigned result, const ElementSet& want, const Deciding& deciding,
          std::vector<ElementSet>& operands)
      : plan_(plan), instr_(instr), result_(result), want_(want), deciding_(deciding), operands_(operands), to_(resultShape(plan, instr, result)) {}

  void map() {
    switch (instr_.op) {
      case Opcode::Const:
      case Opcode::Poison:
      case Opcode::ProgramId:
      case Opcode::NumPrograms:
      case Opcode::Iota:
      case Opcode::LoopBegin:
      case Opcode::LoopNext: return;
      case Opcode::Move: return operands_[result_].add(want_);
      case Opcode::Splat: return operands_[0].add(0);
      case Opcode::Broadcast: return broadcast();
      case Opcode::Reshape: return same(0);
      case Opcode::Permute: return permute();
      case Opcode::Join: return want_.each([&](int64_t i) { operands_[i % 2 ? 1 : 0].add(i / 2); });
      case Opcode::Split: return want_.each([&](int64_t i) { operands_[0].add(2 * i + result_); });
      case Opcode::Concat: {
        const int64_t first = operands_[0].size();
        return want_.each([&](int64_t i) { i < first ? operands_[0].add(i) : operands_[1].add(i - first); });
      }
      case Opcode::Select: return select();
      case Opcode::Load:
      case Opcode::AtomicLoad: return load();
      case Opcode::Dot: return dot();
      case Opcode::DotScaled: return dotScaled();
      case Opcode::Reduce: return reduce();
      case Opcode::Scan: return scan();
      case Opcode::Map: return groups(instr_.immediate);
      case Opcode::InlineAsm: return groups(instr_.flag);
      case Opcode::Take: return take();
      case Opcode::Histogram:
      case Opcode::View:
      case Opcode::ViewAdvance: return all();
      case Opcode::ViewLoad:
        for (size_t i = 0; i < operands_.size(); ++i) operands_[i].addAll();
        return;
      case Opcode::ViewGather: {
        const int64_t columns = to_->dims.empty() ? 1 : to_->dims.back();
        operands_[0].addAll();
        want_.each([&](int64_t i) { operands_[1].add(i / columns); });
        return operands_[2].addAll();
      }
      default:
        for (unsigned i = 0; i < operands_.size(); ++i) same(i);
    }
  }

 private:
  void all() {
    for (ElementSet& set : operands_) set.addAll();
  }
  // The same element; operands of one element are that one, of other sizes all.
  void same(unsigned operand) {
    ElementSet& set = operands_[operand];
    if (set.size() == want_.size()) set.add(want_);
    else set.addAll();
  }
  const Shape& from(unsigned operand) const { return *operandShape(plan_, instr_, operand); }

  // The element of an operand with the result's index, where `position` gives the operand's axis of each axis.
  void broadcast() {
    const Shape& from = this->from(0);
    if (from.rank() != to_->rank()) return operands_[0].size() == 1 ? operands_[0].add(0) : all();
    const std::vector<int64_t> step = strides(from);
    each([&](const std::vector<int64_t>& index, int64_t) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d)
        if (from.dims[d] > 1) at += index[d] * step[d];
      operands_[0].add(at);
    });
  }
  void permute() {
    const std::vector<int64_t> step = strides(from(0));
    const auto order = instr_.source->attribute("order");
    if (!order) return all();
    each([&](const std::vector<int64_t>& index, int64_t) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) at += index[d] * step[static_cast<size_t>(order->integers[d])];
      operands_[0].add(at);
    });
  }
  void select() {
    same(0);
    const Tile& condition = deciding_[0];
    want_.each([&](int64_t i) {
      ElementSet& taken = operands_[exec::elementBits(condition, condition.numel() == 1 ? 0 : i) ? 1 : 2];
      taken.add(taken.size() == 1 ? 0 : i);
    });
  }
  void load() {
    same(0);
    if (!(instr_.flag & 1)) return;
    same(1);
    if (instr_.flag & 2 && operands_.size() > 2)
      want_.each([&](int64_t i) {
        if (maskedOff(deciding_[1], i)) operands_[2].add(operands_[2].size() == 1 ? 0 : i);
      });
  }
  void dot() {
    const Shape &a = from(0), &b = from(1);
    const size_t rank = to_->dims.size();
    const int64_t m = to_->dims[rank - 2], n = to_->dims[rank - 1], k = a.dims[rank - 1];
    (void)b;
    want_.each([&](int64_t i) {
      const int64_t batch = i / (m * n), row = i / n % m, column = i % n;
      operands_[0].addRange((batch * m + row) * k, (batch * m + row + 1) * k);
      for (int64_t j = 0; j < k; ++j) operands_[1].add((batch * k + j) * n + column);
    });
    same(2);
  }
  // Rows of one side, columns of the other; two small elements may share a byte along either.
  void dotScaled() {
    const plan::ScaledShape s = plan::scaledShape(*instr_.source);
    const size_t rank = to_->dims.size();
    const int64_t m = to_->dims[rank - 2], n = to_->dims[rank - 1];
    auto line = [&](unsigned operand, bool byRow, int64_t batch, int64_t at, int64_t of) {
      const Shape& shape = from(operand);
      const int64_t rows = shape.dims[shape.dims.size() - 2], columns = shape.dims.back(), lines = byRow ? rows : columns;
      const int64_t mine = lines ? at * lines / of : 0;
      for (int64_t j = 0; j < (byRow ? columns : rows); ++j)
        operands_[operand].add(batch * rows * columns + (byRow ? mine * columns + j : j * columns + mine));
    };
    want_.each([&](int64_t i) {
      const int64_t batch = i / (m * n), row = i / n % m, column = i % n;
      line(0, true, batch, row, m);
      line(1, false, batch, column, n);
      if (s.sides[0].scale) line(static_cast<unsigned>(s.sides[0].scale), true, batch, row, m);
      if (s.sides[1].scale) line(static_cast<unsigned>(s.sides[1].scale), true, batch, column, n);
    });
    for (unsigned i = 2; i < operands_.size(); ++i)
      if (static_cast<int>(i) != s.sides[0].scale && static_cast<int>(i) != s.sides[1].scale) same(i);
  }
  void reduce() {
    const Shape& from = this->from(0);
    const size_t axis = static_cast<size_t>(instr_.immediate);
    int64_t inner = 1;
    for (size_t d = axis + 1; d < from.dims.size(); ++d) inner *= from.dims[d];
    const int64_t length = from.dims[axis];
    want_.each([&](int64_t i) {
      for (ElementSet& operand : operands_)
        for (int64_t j = 0; j < length; ++j) operand.add((i / inner * length + j) * inner + i % inner);
    });
  }
  void scan() {
    const Shape& from = this->from(0);
    const size_t axis = static_cast<size_t>(instr_.immediate);
    const bool reverse = instr_.flag & 1;
    int64_t inner = 1;
    for (size_t d = axis + 1; d < from.dims.size(); ++d) inner *= from.dims[d];
    const int64_t length = from.dims[axis];
    want_.each([&](int64_t i) {
      const int64_t outer = i / (inner * length), at = i / inner % length;
      for (ElementSet& operand : operands_)
        for (int64_t j = reverse ? at : 0; j < (reverse ? length : at + 1); ++j) operand.add((outer * length + j) * inner + i % inner);
    });
  }
  // Calls that take `pack` neighbours of each operand, and give as many.
  void groups(int64_t pack) {
    if (pack <= 1) {
      for (unsigned i = 0; i < operands_.size(); ++i) same(i);
      return;
    }
    want_.each([&](int64_t i) {
      for (ElementSet& operand : operands_) {
        if (operand.size() != want_.size()) operand.addAll();
        else operand.addRange(i / pack * pack, std::min(operand.size(), i / pack * pack + pack));
      }
    });
  }
  void take() {
    const Shape& from = this->from(0);
    const std::vector<int64_t> step = strides(from);
    const size_t axis = static_cast<size_t>(instr_.immediate);
    operands_[1].add(want_);
    each([&](const std::vector<int64_t>& index, int64_t i) {
      const int64_t k = exec::elementBits(deciding_[1], deciding_[1].numel() == 1 ? 0 : i);
      if (k < 0 || k >= from.dims[axis]) return;
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) at += (d == axis ? k : index[d]) * step[d];
      operands_[0].add(at);
    });
  }

  template <typename Visit>
  void each(Visit&& visit) {
    std::vector<int64_t> index(to_->dims.size());
    want_.each([&](int64_t i) {
      int64_t rest = i;
      for (size_t d = index.size(); d-- > 0;) {
        index[d] = rest % to_->dims[d];
        rest /= to_->dims[d];
      }
      visit(index, i);
    });
  }

  const exec::CompiledPlan& plan_;
  const Instr& instr_;
  unsigned result_;
  const ElementSet& want_;
  const Deciding& deciding_;
  std::vector<ElementSet>& operands_;
  const Shape* to_;
};

void cellsOfPointers(const Tile& pointer, const Tile& mask, Cells& cells) {
  const int64_t count = pointer.numel();
  for (int64_t i = 0; i < count; ++i) {
    cells.address[static_cast<size_t>(i)] = exec::elementBits(pointer, i);
    cells.active[static_cast<size_t>(i)] = !maskedOff(mask, i);
    cells.origin[static_cast<size_t>(i)] = exec::originAt(pointer, i);
  }
}

// Of a block of a view; `offset` is of its first element, `rows` are given one by one or not at all.
void cellsOfBlock(const exec::ViewValue& view, std::vector<int64_t> offset, int64_t checked, const Tile* rows,
                  const std::vector<int64_t>& block, Cells& cells) {
  std::vector<int64_t> index(block.size());
  for (size_t i = 0; i < cells.address.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), address = view.address;
    for (size_t d = block.size(); d-- > 0;) {
      index[d] = rest % block[d];
      rest /= block[d];
    }
    bool inside = true;
    for (size_t d = 0; d < block.size(); ++d) {
      const int64_t at = d == 0 && rows ? exec::elementBits(*rows, index[0]) : offset[d] + index[d];
      if ((checked >> d) & 1) inside = inside && at >= 0 && at < view.shape[d];
      address += at * view.stride[d] * static_cast<int64_t>(cells.elementBytes);
    }
    cells.address[i] = address;
    cells.active[i] = inside;
    cells.origin[i] = view.origin;
  }
}

}  // namespace

void dependences(const exec::CompiledPlan& plan, const Instr& instr, unsigned result, const ElementSet& want, const Deciding& deciding,
                 std::vector<ElementSet>& operands) {
  Mapping(plan, instr, result, want, deciding, operands).map();
}

Cells cellsOf(const exec::CompiledPlan& plan, const Instr& instr, const Deciding& deciding) {
  Cells cells;
  const Tile& first = deciding[0];
  auto size = [&](int64_t count) {
    cells.address.resize(static_cast<size_t>(count));
    cells.active.resize(static_cast<size_t>(count));
    cells.origin.resize(static_cast<size_t>(count));
  };
  const auto kindOfOperand = [&](unsigned operand) { return exec::machineKind(instr.source->operands[operand]->type); };
  switch (instr.op) {
    case Opcode::Load:
    case Opcode::AtomicLoad:
    case Opcode::AtomicPoll:
      cells.reads = true;
      cells.elementBytes = ir::elementBytes(exec::pointeeKind(instr.source->operands[0]->type));
      size(first.numel());
      cellsOfPointers(first, instr.op != Opcode::AtomicPoll && instr.flag & 1 ? deciding[1] : Tile{}, cells);
      return cells;
    case Opcode::Store:
    case Opcode::AtomicStore:
    case Opcode::AtomicRmw:
    case Opcode::AtomicCas:
      cells.writes = true;
      cells.reads = instr.op == Opcode::AtomicRmw || instr.op == Opcode::AtomicCas;
      cells.value = instr.op == Opcode::AtomicCas ? 2 : 1;
      cells.elementBytes = ir::elementBytes(kindOfOperand(static_cast<unsigned>(cells.value)));
      size(first.numel());
      cellsOfPointers(first, instr.op != Opcode::AtomicCas && instr.flag & 1 ? deciding[2] : Tile{}, cells);
      return cells;
    default: break;
  }
  if (!first.view) return cells;
  const exec::ViewValue& view = *first.view;
  cells.elementBytes = ir::elementBytes(view.element);
  cells.writes = instr.op == Opcode::ViewStore || instr.op == Opcode::ViewScatter || instr.op == Opcode::ViewReduce;
  cells.reads = instr.op != Opcode::ViewStore && instr.op != Opcode::ViewScatter;
  cells.value = instr.op == Opcode::ViewScatter ? 3 : cells.writes ? 1 : -1;
  if (instr.op == Opcode::ViewGather || instr.op == Opcode::ViewScatter) {
    const Shape* shape = instr.op == Opcode::ViewGather ? resultShape(plan, instr, 0) : operandShape(plan, instr, 3);
    size(shape->numel);
    cellsOfBlock(view, {0, exec::scalarValue(deciding[2])}, 0b11, &deciding[1], shape->dims, cells);
    return cells;
  }
  std::vector<int64_t> offset = view.offset;
  offset.resize(static_cast<size_t>(view.rank), 0);
  const unsigned from = instr.op == Opcode::ViewLoad ? 1 : 2;
  for (unsigned i = from; i < instr.inCount && i - from < offset.size(); ++i) offset[i - from] += exec::scalarValue(deciding[i]);
  int64_t count = 1;
  for (int64_t b : view.block) count *= b;
  size(count);
  cellsOfBlock(view, std::move(offset), instr.immediate, nullptr, view.block, cells);
  return cells;
}

}  // namespace tilesight::trace
