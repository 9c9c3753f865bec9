#include "exec/strips.h"

#include <algorithm>
#include <cstring>

#include "exec/machine.h"

namespace tilesight::exec {

namespace {

constexpr int64_t kStrip = 512;       // elements: a dozen strips of f32 fit into a first-level cache
constexpr int64_t kLongStrip = 1024;  // where there are few
constexpr int32_t kFewStrips = 5;

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

bool Strips::run(Machine& machine, uint32_t number) {
  const plan::Group& group = machine.context().plan->program.groups[number];
  recipe_ = &recipes_[number];
  bool ready = recipe_->repeats && repeat(machine);
  if (!ready) {
    if (machine.stopped() || machine.tainting()) return false;
    ready = build(machine, group);
    for (uint32_t slot : touched_) places_[slot] = kNone;
    touched_.clear();
  }
  if (ready) {
    makeRoom(machine, group);
    calculate();
    finish(machine);
  }
  held_.clear();
  return ready;
}

bool Strips::build(Machine& machine, const plan::Group& group) {
  const plan::Instr* code = machine.context().plan->program.code.data();
  Recipe& r = *recipe_;
  r.repeats = false;
  r.shape = machine.outShape(code[group.begin]);
  r.used = 0;
  r.events.clear();
  r.places.clear();
  r.filled.clear();
  r.steps.clear();
  r.kept.clear();
  r.dying.clear();
  r.hidden.clear();
  freeStrips_.clear();
  for (uint32_t at = group.begin; at < group.end; ++at) {
    const plan::Instr& instr = code[at];
    bool elements = false;
    int32_t in[3] = {kNone, kNone, kNone};
    if (instr.fusing != plan::Fusing::No)
      for (unsigned i = 0; i < instr.inCount; ++i) {
        const uint32_t slot = machine.inSlot(instr, i);
        elements = elements || (places_[slot] != kNone ? r.places[places_[slot]].kind != Place::Kind::Scalar
                                                       : machine.slot(slot).form == Form::Dense);
      }
    if (!elements) {  // all operands are symbolic, and so is the result
      if (instr.fusing != plan::Fusing::No)
        for (unsigned i = 0; i < instr.inCount; ++i)
          if (places_[machine.inSlot(instr, i)] == kNone) r.events.push_back({Event::Kind::Symbolic, machine.inSlot(instr, i)});
      r.events.push_back({Event::Kind::Execute, at});
      if (machine.known(at)) continue;
      machine.executeOne(instr);
      if (machine.stopped() || machine.tainting()) return false;
      continue;
    }
    for (unsigned i = 0; i < instr.inCount; ++i)
      if ((in[i] = placeOf(machine, machine.inSlot(instr, i))) == kNone) return false;
    if (!add(machine, instr, in)) return false;
    for (unsigned i = 0; i < instr.inCount && i < 32; ++i)
      if ((instr.dying >> i) & 1) r.dying.push_back(machine.inSlot(instr, i));
    if (instr.fusing == plan::Fusing::Local && places_[machine.outSlot(instr)] != kNone) r.hidden.push_back(at);
  }
  if (r.steps.empty()) return false;
  r.length = std::min(r.used <= kFewStrips ? kLongStrip : kStrip, r.shape->numel);
  r.repeats = held_.empty();
  return true;
}

// Are the operands as they were when the recipe was made? Then it is ready to be executed with them.
bool Strips::repeat(Machine& machine) {
  const plan::Instr* code = machine.context().plan->program.code.data();
  for (const Event& event : recipe_->events) switch (event.kind) {
    case Event::Kind::Operand: {
      const Tile& tile = machine.slot(event.slot);
      if (tile.form != event.form || tile.kind != event.element) return false;
      if (event.form == Form::Splat) break;
      if (tile.shape != event.shape || (event.form == Form::Dense && tile.stride != event.stride)) return false;
      Place& place = recipe_->places[event.place];
      if (place.kind == Place::Kind::Whole) place.at = tile.data();
      break;
    }
    case Event::Kind::Symbolic:
      if (machine.slot(event.slot).form == Form::Dense) return false;
      break;
    case Event::Kind::Value:
      if (const Tile& tile = machine.slot(event.slot); !tile.isSplat() || tile.base != event.base) return false;
      break;
    case Event::Kind::Execute:
      if (machine.known(event.slot)) break;
      machine.executeOne(code[event.slot]);
      if (machine.stopped() || machine.tainting()) return false;
      break;
    case Event::Kind::Assign: assign(machine, event.slot, event.place); break;
    case Event::Kind::Spread: spread(event.place, static_cast<int32_t>(event.slot)); break;
  }
  return true;
}

int32_t Strips::place(const Place& place) {
  recipe_->places.push_back(place);
  return static_cast<int32_t>(recipe_->places.size() - 1);
}

// A strip that no step writes to.
int32_t Strips::freshStrip() {
  int32_t& used = recipe_->used;
  if (used == static_cast<int32_t>(strips_.size())) strips_.emplace_back(stripPool_.take(kLongStrip * sizeof(int64_t)));
  return used++;
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
  const bool sameShape = tile.shape == recipe_->shape || (tile.shape && tile.shape->dims == recipe_->shape->dims);
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
    recipe_->filled.push_back(static_cast<int32_t>(recipe_->places.size()));
  } else {
    held_.push_back(contiguous(machine.pool(), tile));
    operand.kind = Place::Kind::Whole;
    operand.at = held_.back().data();
  }
  touched_.push_back(slot);
  places_[slot] = place(operand);
  recipe_->events.push_back({Event::Kind::Operand, slot, places_[slot], tile.form, tile.kind, tile.shape, tile.stride});
  return places_[slot];
}

// A scalar as a strip, for kernels that take spans only.
int32_t Strips::spread(int32_t scalar) {
  Place strip = recipe_->places[scalar];
  if (strip.kind != Place::Kind::Scalar) return scalar;
  strip.kind = Place::Kind::Strip;
  strip.strip = freshStrip();
  strip.at = strips_[strip.strip].bytes();
  recipe_->events.push_back({Event::Kind::Spread, static_cast<uint32_t>(strip.strip), scalar});
  spread(scalar, strip.strip);
  return place(strip);
}

void Strips::spread(int32_t scalar, int32_t strip) {
  const Place& place = recipe_->places[scalar];
  kernels().fillSplat(place.bytes, strips_[strip].bytes(), place.at, static_cast<size_t>(std::min(kLongStrip, recipe_->shape->numel)));
}

void Strips::assign(Machine& machine, uint32_t slot, int32_t place) {
  const Place& scalar = recipe_->places[place];
  int64_t bits = 0;
  std::memcpy(&bits, scalar.at, scalar.bytes);
  machine.slot(slot) = splatTile(scalar.element, bits, recipe_->shape);
}

void Strips::readOnce(int32_t number) {
  Place& place = recipe_->places[number];
  if (place.reads > 0 && --place.reads == 0) freeStrips_.push_back(place.strip);
}

// Where an operation puts its result: a tile if others read it, else a strip.
int32_t Strips::resultOf(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3]) {
  const uint32_t slot = machine.outSlot(instr);
  Place result;
  result.element = machine.outKind(instr);
  result.bytes = static_cast<uint8_t>(ir::elementBytes(result.element));
  if (instr.fusing == plan::Fusing::Kept) {
    recipe_->kept.push_back({slot, static_cast<int32_t>(recipe_->places.size())});
    result.kind = Place::Kind::Whole;  // there is room before the steps are done
    for (int32_t operand : in)
      if (operand != kNone) readOnce(operand);
  } else {
    result.kind = Place::Kind::Strip;
    result.reads = instr.groupReads;
    // A kernel may write over an operand whose elements are as large.
    bool sameSize = true;
    for (int32_t operand : in) sameSize = sameSize && (operand == kNone || recipe_->places[operand].bytes == result.bytes);
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
  const Place same = recipe_->places[to];
  if (same.kind == Place::Kind::Scalar) {
    recipe_->events.push_back({Event::Kind::Assign, slot, to});
    assign(machine, slot, to);
  } else if (instr.fusing == plan::Fusing::Kept) {
    Step step{Step::Kind::Copy};
    step.in[0] = to;
    step.out = resultOf(machine, instr, in);
    recipe_->steps.push_back(step);
    return;
  } else {
    if (same.strip != kNone && same.reads > 0) recipe_->places[to].reads += instr.groupReads;
    touched_.push_back(slot);
    places_[slot] = to;
  }
  for (int32_t operand : in)
    if (operand != kNone) readOnce(operand);
}

bool Strips::add(Machine& machine, const plan::Instr& instr, int32_t (&in)[3]) {
  const KernelSet& k = kernels();
  const std::vector<Place>& places = recipe_->places;
  const auto kindOf = [&](int i) { return places[in[i]].element; };
  const auto scalar = [&](int i) { return places[in[i]].kind == Place::Kind::Scalar; };
  const auto dependsOn = [&](unsigned i) {  // the scalar itself decides what is done
    const uint32_t slot = machine.inSlot(instr, i);
    recipe_->events.push_back({.kind = Event::Kind::Value, .slot = slot, .base = machine.slot(slot).base});
  };
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
        if (amount < 0 || amount >= 8 * places[in[1]].bytes) return false;
        dependsOn(1);
      }
      const BinaryForms forms = instr.op == plan::Opcode::Binary      ? k.binary(op, kindOf(0))
                                : instr.op == plan::Opcode::CompareI ? k.compareI(static_cast<CmpIOp>(instr.sub), kindOf(0))
                                                                     : k.compareF(static_cast<CmpFOp>(instr.sub), kindOf(0));
      step.binary = scalar(0) ? forms.sv : scalar(1) ? forms.vs : forms.vv;
      break;
    }
    case plan::Opcode::Select: {
      if (scalar(0)) {
        dependsOn(0);
        return alias(machine, instr, in, in[*places[in[0]].at ? 1 : 2]), true;
      }
      const SelectForms forms = k.select(places[in[1]].bytes);
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
  recipe_->steps.push_back(step);
  return true;
}

// Where a result that only the next store reads may be written at once; null: nowhere.
uint8_t* Strips::storedAt(Machine& machine, const plan::Group& group, const Kept& kept) const {
  if (!group.store || group.stored != kept.slot) return nullptr;
  for (uint32_t at = group.end; at < group.store; ++at)
    if (!machine.known(at)) return nullptr;
  const Place& result = recipe_->places[kept.place];
  const auto bytes = recipe_->shape->numel * result.bytes;
  uint8_t* to = machine.storedAt(group.store, bytes);
  if (!to) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(to), end = begin + static_cast<uintptr_t>(bytes);
  for (const Event& event : recipe_->events) {  // operands may lie in the same memory
    if (event.kind != Event::Kind::Operand || event.form != Form::Dense || machine.slot(event.slot).buffer) continue;
    const Tile& tile = machine.slot(event.slot);
    int64_t reach = 1;
    for (int d = 0; d < tile.rank() && tile.shape->symbolic(); ++d) reach += (tile.shape->dims[d] - 1) * tile.stride[d];
    const auto from = reinterpret_cast<uintptr_t>(tile.data());
    if (!tile.shape->symbolic() || (from < end && begin < from + static_cast<uintptr_t>(reach * tile.elementBytes()))) return nullptr;
  }
  return to;
}

// A tile for each result that others read.
void Strips::makeRoom(Machine& machine, const plan::Group& group) {
  for (const Kept& kept : recipe_->kept) {
    Place& place = recipe_->places[kept.place];
    Tile& tile = machine.slot(kept.slot);
    if (uint8_t* memory = storedAt(machine, group, kept)) {
      if (!isPlain(tile, place.element, recipe_->shape) || tile.buffer) {
        tile = {};
        tile.form = Form::Dense;
        tile.kind = place.element;
        tile.shape = recipe_->shape;
        tile.stride = rowMajor(*recipe_->shape);
      }
      tile.axis[0] = memory;
    } else if (!isPlain(tile, place.element, recipe_->shape) || !tile.buffer.unique() ||
               tile.data() != tile.buffer.bytes()) {  // else nobody reads what it holds
      tile = denseTile(machine.pool(), place.element, recipe_->shape);
    }
    place.at = tile.data();
  }
}

void Strips::fill(const Place& place, int64_t from, int64_t count) const {
  const Tile& tile = *place.source;
  auto* to = const_cast<uint8_t*>(place.at);
  if (tile.form == Form::Affine)
    return kernels().fillAffine(tile.kind, to, tile.base + from * tile.stride[0], tile.stride[0], static_cast<size_t>(count));
  const int last = tile.rank() - 1;
  const int64_t row = tile.shape->dims[last];
  if (last == 1 && tile.stride[1] == 0 && from % row == 0 && count % row == 0) {  // whole rows of one element each
    const int64_t step = tile.stride[0] * place.bytes;
    return kernels().spreadRows(place.bytes, to, tile.data() + from / row * step, step, static_cast<size_t>(count / row), static_cast<size_t>(row));
  }
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
  const Recipe& r = *recipe_;
  for (int64_t from = 0; from < r.shape->numel; from += r.length) {
    const int64_t count = std::min(r.length, r.shape->numel - from);
    const auto n = static_cast<size_t>(count);
    for (int32_t number : r.filled) fill(r.places[number], from, count);
    const auto at = [&](int32_t number) {
      const Place& place = r.places[number];
      return const_cast<uint8_t*>(place.kind == Place::Kind::Whole ? place.at + from * place.bytes : place.at);
    };
    for (const Step& step : r.steps) switch (step.kind) {
      case Step::Kind::Unary: step.unary(at(step.out), at(step.in[0]), n); break;
      case Step::Kind::Binary: step.binary(at(step.out), at(step.in[0]), at(step.in[1]), n); break;
      case Step::Kind::Ternary: step.ternary(at(step.out), at(step.in[0]), at(step.in[1]), at(step.in[2]), n); break;
      case Step::Kind::Copy: std::memcpy(at(step.out), at(step.in[0]), n * r.places[step.out].bytes); break;
    }
  }
}

void Strips::finish(Machine& machine) {
  // Buffers that are free are used again, and nobody is to see what slots held before.
  for (uint32_t slot : recipe_->dying)
    if (Tile& dead = machine.slot(slot); dead.buffer) {
      dead.form = Form::Empty;
      dead.buffer = {};
    }
  const plan::Instr* code = machine.context().plan->program.code.data();
  for (uint32_t at : recipe_->hidden)
    if (Tile& slot = machine.slot(machine.outSlot(code[at])); slot.form != Form::Empty && !machine.known(at)) slot = Tile{};
}

}  // namespace tilesight::exec
