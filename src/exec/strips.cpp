#include "exec/strips.h"

#include <algorithm>
#include <cstring>

#include "exec/machine.h"

namespace tilesight::exec {

namespace {

constexpr int64_t kStrip = 512;  // elements: a dozen strips of f32 fit into a first-level cache

// Does a tile vary along other axes than the last one only, or along the last one only? Then strips of it are filled
// from what there is, with rows of one element or equal rows.
bool byRows(const Tile& tile) {
  const int last = tile.rank() - 1;
  if (last < 1 || tile.shape->dims[last] == 1) return false;
  if (tile.stride[last] == 0) return true;
  if (tile.stride[last] != 1) return false;
  for (int d = 0; d < last; ++d)
    if (tile.stride[d]) return false;
  return true;
}

}  // namespace

bool Strips::run(Machine& machine, const plan::Group& group) {
  places_.resize(machine.context().plan->program.slots.size(), kNone);
  const bool built = build(machine, group);
  if (built) {
    calculate();
    finish(machine, group);
  }
  for (uint32_t slot : touched_) places_[slot] = kNone;
  touched_.clear();
  all_.clear();
  filled_.clear();
  steps_.clear();
  held_.clear();
  kept_.clear();
  return built;
}

bool Strips::build(Machine& machine, const plan::Group& group) {
  const plan::Instr* code = machine.context().plan->program.code.data();
  shape_ = machine.outShape(code[group.begin]);
  length_ = std::min(kStrip, shape_->numel);
  freeStrips_.clear();
  used_ = 0;
  for (uint32_t at = group.begin; at < group.end; ++at) {
    const plan::Instr& instr = code[at];
    bool elements = false;
    int32_t in[3] = {kNone, kNone, kNone};
    if (instr.fusing != plan::Fusing::No)
      for (unsigned i = 0; i < instr.inCount; ++i) {
        const uint32_t slot = machine.inSlot(instr, i);
        elements = elements || (places_[slot] != kNone ? all_[places_[slot]].kind != Place::Kind::Scalar
                                                       : machine.slot(slot).form == Form::Dense);
      }
    if (!elements) {  // all operands are symbolic, and so is the result
      if (machine.known(at)) continue;
      machine.executeOne(instr);
      if (machine.stopped() || machine.tainting()) return false;
      continue;
    }
    for (unsigned i = 0; i < instr.inCount; ++i)
      if ((in[i] = placeOf(machine, machine.inSlot(instr, i))) == kNone) return false;
    if (!add(machine, instr, in)) return false;
  }
  return !steps_.empty();
}

int32_t Strips::place(const Place& place) {
  all_.push_back(place);
  return static_cast<int32_t>(all_.size() - 1);
}

// A strip that no step writes to.
int32_t Strips::freshStrip() {
  if (used_ == static_cast<int32_t>(strips_.size())) strips_.emplace_back(stripPool_.take(kStrip * sizeof(int64_t)));
  return used_++;
}

int32_t Strips::takeStrip() {
  if (freeStrips_.empty()) return freshStrip();
  const int32_t strip = freeStrips_.back();
  freeStrips_.pop_back();
  return strip;
}

// Of an operand: what the slot holds, or what an operation of the group has put there.
int32_t Strips::placeOf(Machine& machine, uint32_t slot) {
  if (places_[slot] != kNone) return places_[slot];
  const Tile& tile = machine.slot(slot);
  Place operand;
  operand.element = tile.kind;
  operand.bytes = static_cast<uint8_t>(tile.elementBytes());
  if (operand.bytes == 0 || operand.bytes > 8) return kNone;
  const bool sameShape = tile.shape == shape_ || (tile.shape && tile.shape->dims == shape_->dims);
  if (tile.form == Form::Splat) {
    operand.at = reinterpret_cast<const uint8_t*>(&tile.base);
  } else if (!sameShape || tile.form == Form::Empty || tile.form == Form::View) {
    return kNone;
  } else if (isContiguous(tile)) {
    operand.kind = Place::Kind::Whole;
    operand.at = tile.data();
  } else if ((tile.form == Form::Dense && byRows(tile)) || (tile.form == Form::Affine && tile.rank() == 1)) {
    operand.kind = Place::Kind::Strip;
    operand.source = &tile;
    operand.strip = freshStrip();  // filled before the steps
    operand.at = strips_[operand.strip].bytes();
    filled_.push_back(static_cast<int32_t>(all_.size()));
  } else {
    held_.push_back(contiguous(machine.pool(), tile));
    operand.kind = Place::Kind::Whole;
    operand.at = held_.back().data();
  }
  touched_.push_back(slot);
  return places_[slot] = place(operand);
}

// A scalar as a strip, for kernels that take spans only.
int32_t Strips::spread(int32_t scalar) {
  if (all_[scalar].kind != Place::Kind::Scalar) return scalar;
  Place strip = all_[scalar];
  strip.kind = Place::Kind::Strip;
  strip.strip = freshStrip();
  const uint8_t* element = std::exchange(strip.at, strips_[strip.strip].bytes());
  kernels().fillSplat(strip.bytes, strips_[strip.strip].bytes(), element, static_cast<size_t>(length_));
  return place(strip);
}

void Strips::readOnce(int32_t number) {
  Place& place = all_[number];
  if (place.reads > 0 && --place.reads == 0) freeStrips_.push_back(place.strip);
}

// Where an operation puts its result: a tile if others read it, else a strip.
int32_t Strips::resultOf(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3]) {
  const uint32_t slot = machine.outSlot(instr);
  Place result;
  result.element = machine.outKind(instr);
  result.bytes = static_cast<uint8_t>(ir::elementBytes(result.element));
  if (instr.fusing == plan::Fusing::Kept) {
    kept_.emplace_back(slot, denseTile(machine.pool(), result.element, shape_));
    result.kind = Place::Kind::Whole;
    result.at = kept_.back().second.data();
    for (int32_t operand : in)
      if (operand != kNone) readOnce(operand);
  } else {
    result.kind = Place::Kind::Strip;
    result.reads = instr.groupReads;
    // A kernel may write over an operand whose elements are as large.
    bool sameSize = true;
    for (int32_t operand : in) sameSize = sameSize && (operand == kNone || all_[operand].bytes == result.bytes);
    if (sameSize)
      for (int32_t operand : in)
        if (operand != kNone) readOnce(operand);
    result.strip = takeStrip();
    if (!sameSize)
      for (int32_t operand : in)
        if (operand != kNone) readOnce(operand);
    result.at = strips_[result.strip].bytes();
  }
  touched_.push_back(slot);
  return places_[slot] = place(result);
}

// The result is one of the operands as it is.
void Strips::alias(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3], int32_t to) {
  const uint32_t slot = machine.outSlot(instr);
  const Place same = all_[to];
  if (same.kind == Place::Kind::Scalar) {
    int64_t bits = 0;
    std::memcpy(&bits, same.at, same.bytes);
    machine.slot(slot) = splatTile(same.element, bits, shape_);
  } else if (instr.fusing == plan::Fusing::Kept) {
    Step step{Step::Kind::Copy};
    step.in[0] = to;
    step.out = resultOf(machine, instr, in);
    steps_.push_back(step);
    return;
  } else {
    if (same.strip != kNone && same.reads > 0) all_[to].reads += instr.groupReads;
    touched_.push_back(slot);
    places_[slot] = to;
  }
  for (int32_t operand : in)
    if (operand != kNone) readOnce(operand);
}

bool Strips::add(Machine& machine, const plan::Instr& instr, int32_t (&in)[3]) {
  const KernelSet& k = kernels();
  const auto kindOf = [&](int i) { return all_[in[i]].element; };
  const auto scalar = [&](int i) { return all_[in[i]].kind == Place::Kind::Scalar; };
  Step step{Step::Kind::Binary};
  switch (instr.op) {
    case plan::Opcode::Unary:
      step.kind = Step::Kind::Unary;
      step.unary = k.unary(static_cast<UnaryOp>(instr.sub), kindOf(0));
      break;
    case plan::Opcode::Cast: {
      const auto to = static_cast<ElementKind>(instr.flag);
      if (kindOf(0) == to) return alias(machine, instr, in, in[0]), true;
      step.kind = Step::Kind::Unary;
      step.unary = k.cast(static_cast<CastOp>(instr.sub), kindOf(0), to);
      break;
    }
    case plan::Opcode::Binary:
    case plan::Opcode::CompareI:
    case plan::Opcode::CompareF: {
      const auto op = static_cast<BinaryOp>(instr.sub);
      if (instr.op == plan::Opcode::Binary && plan::isShift(op)) {  // others are looked at element by element
        const int64_t amount = scalar(1) ? machine.in(instr, 1).base : -1;
        if (amount < 0 || amount >= 8 * all_[in[1]].bytes) return false;
      }
      const BinaryForms forms = instr.op == plan::Opcode::Binary      ? k.binary(op, kindOf(0))
                                : instr.op == plan::Opcode::CompareI ? k.compareI(static_cast<CmpIOp>(instr.sub), kindOf(0))
                                                                     : k.compareF(static_cast<CmpFOp>(instr.sub), kindOf(0));
      step.binary = scalar(0) ? forms.sv : scalar(1) ? forms.vs : forms.vv;
      break;
    }
    case plan::Opcode::Select: {
      if (scalar(0)) return alias(machine, instr, in, in[*all_[in[0]].at ? 1 : 2]), true;
      const SelectForms forms = k.select(all_[in[1]].bytes);
      step.kind = Step::Kind::Ternary;
      step.ternary = scalar(1) ? (scalar(2) ? forms.ss : forms.sv) : scalar(2) ? forms.vs : forms.vv;
      break;
    }
    case plan::Opcode::Fma:
    case plan::Opcode::ClampF:
      step.kind = Step::Kind::Ternary;
      step.ternary = instr.op == plan::Opcode::Fma ? k.fma(kindOf(0)) : k.clampF(kindOf(0), instr.flag != 0);
      for (int32_t& operand : in) operand = spread(operand);
      break;
    default: return false;
  }
  if (!step.binary) return false;  // no kernel: told by the operation itself
  std::copy(std::begin(in), std::end(in), step.in);
  step.out = resultOf(machine, instr, in);
  steps_.push_back(step);
  return true;
}

void Strips::fill(const Place& place, int64_t from, int64_t count) {
  const Tile& tile = *place.source;
  auto* to = const_cast<uint8_t*>(place.at);
  if (tile.form == Form::Affine)
    return kernels().fillAffine(tile.kind, to, tile.base + from * tile.stride[0], tile.stride[0], static_cast<size_t>(count));
  const int last = tile.rank() - 1;
  const int64_t row = tile.shape->dims[last];
  for (int64_t end = from + count; from < end;) {
    const int64_t column = from % row, n = std::min(row - column, end - from);
    const uint8_t* at = tile.data();
    int64_t rest = from / row;
    for (int d = last - 1; d >= 0; --d) {
      at += rest % tile.shape->dims[d] * tile.stride[d] * place.bytes;
      rest /= tile.shape->dims[d];
    }
    if (tile.stride[last] == 0) kernels().fillSplat(place.bytes, to, at, static_cast<size_t>(n));
    else std::memcpy(to, at + column * place.bytes, static_cast<size_t>(n * place.bytes));
    to += n * place.bytes;
    from += n;
  }
}

void Strips::calculate() {
  for (int64_t from = 0; from < shape_->numel; from += length_) {
    const int64_t count = std::min(length_, shape_->numel - from);
    const auto n = static_cast<size_t>(count);
    for (int32_t number : filled_) fill(all_[number], from, count);
    const auto at = [&](int32_t number) {
      const Place& place = all_[number];
      return const_cast<uint8_t*>(place.kind == Place::Kind::Whole ? place.at + from * place.bytes : place.at);
    };
    for (const Step& step : steps_) switch (step.kind) {
      case Step::Kind::Unary: step.unary(at(step.out), at(step.in[0]), n); break;
      case Step::Kind::Binary: step.binary(at(step.out), at(step.in[0]), at(step.in[1]), n); break;
      case Step::Kind::Ternary: step.ternary(at(step.out), at(step.in[0]), at(step.in[1]), at(step.in[2]), n); break;
      case Step::Kind::Copy: std::memcpy(at(step.out), at(step.in[0]), n * all_[step.out].bytes); break;
    }
  }
}

void Strips::finish(Machine& machine, const plan::Group& group) {
  const plan::Instr* code = machine.context().plan->program.code.data();
  for (uint32_t at = group.begin; at < group.end; ++at) {
    const plan::Instr& instr = code[at];
    if (instr.fusing == plan::Fusing::No) continue;
    // Nobody is to see what these slots held before, and buffers that are free are used again.
    for (unsigned i = 0; i < instr.inCount && i < 32; ++i)
      if (Tile& dead = machine.slot(machine.inSlot(instr, i)); ((instr.dying >> i) & 1) && dead.buffer) dead = Tile{};
    if (const uint32_t slot = machine.outSlot(instr); instr.fusing == plan::Fusing::Local && machine.slot(slot).form != Form::Empty && !machine.known(at))
      machine.slot(slot) = Tile{};
  }
  for (auto& [slot, tile] : kept_) machine.slot(slot) = std::move(tile);
}

}  // namespace tilesight::exec
