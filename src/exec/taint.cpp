// Taint: elements that do not mean what the program meant, followed element by element to where they
// matter. It costs nothing until the first fault, division by zero or overlong shift.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/report.h"
#include "exec/shape_ops.h"

namespace tilesight::exec {

namespace {

constexpr size_t kMaxCauses = 8;  // enough for a report

const char* kindName(Cause::Kind kind) {
  switch (kind) {
    case Cause::Kind::DivisionByZero: return "division-by-zero";
    case Cause::Kind::InvalidIndex: return "invalid-index";
    case Cause::Kind::InvalidConversion: return "invalid-conversion";
    default: return "invalid-shift";
  }
}

const char* eventOf(const Cause& cause) {
  if (cause.instr->op == Opcode::Histogram) return "a histogram of values outside its bins";
  switch (cause.kind) {
    case Cause::Kind::DivisionByZero: return "integer division by zero";
    case Cause::Kind::InvalidIndex: return "a gather with an index outside its axis";
    case Cause::Kind::InvalidConversion: return "a float that does not fit the integer it is converted to";
    default: return "a shift by the width or more";
  }
}

// Does the whole part of a float fit the integer that `conversion` makes of it?
bool fits(double value, const Instr& conversion) {
  int bits = 8 * static_cast<int>(ir::elementBytes(static_cast<ElementKind>(conversion.flag)));
  bool isSigned = static_cast<CastOp>(conversion.sub) == CastOp::FPToSI;
  double whole = std::trunc(value), top = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  return whole >= (isSigned ? -top : 0) && whole < top;
}

// The first element that is marked; there is one.
int64_t firstMarked(BufferPool& pool, const Tile& mask) {
  Tile dense = contiguous(pool, mask);
  int64_t first = 0;
  while (first < dense.numel() && !dense.data()[first]) ++first;
  return first;
}

// A taint mask brought to another shape, conservatively.
Tile fitMask(BufferPool& pool, const Tile& mask, const Shape* shape) {
  if (mask.shape == shape) return mask;
  if (mask.isSplat()) return maskSplat(mask.base != 0, shape);
  if (mask.numel() == shape->numel) return reshape(pool, mask, shape);
  if (mask.rank() == shape->rank()) {
    bool grows = true;
    for (int d = 0; d < mask.rank(); ++d)
      grows = grows && (mask.shape->dims[d] == shape->dims[d] || mask.shape->dims[d] == 1);
    if (grows) return broadcast(pool, mask, shape);
  }
  return maskSplat(countTrue(pool, mask) > 0, shape);
}

// Marks of lines of elements along an axis, by what a reduction or a scan makes of a line: one mark, or those from
// its first one on.
Tile marksOfLines(BufferPool& pool, const Tile& marks, int axis, bool scan, bool reverse, const Shape* to) {
  const Shape& shape = *marks.shape;
  Tile dense = contiguous(pool, marks);
  Tile result = denseTile(pool, ElementKind::I1, to);
  const int64_t length = shape.dims[axis];
  int64_t inner = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape.dims[d];
  for (int64_t line = 0; line < shape.numel / length; ++line) {
    const int64_t first = line / inner * length * inner + line % inner;
    uint8_t seen = 0;
    for (int64_t k = 0; k < length; ++k) {
      const int64_t at = first + (reverse ? length - 1 - k : k) * inner;
      seen |= dense.data()[at];
      if (scan) denseData(result)[at] = seen;
    }
    if (!scan) denseData(result)[line] = seen;
  }
  return result;
}

// Marks of a product: the rows of the left matrix (else the columns of the right one) that have one.
Tile marksOfProduct(BufferPool& pool, const Tile& marks, bool left, const Shape* to) {
  const int rank = to->rank();
  const int64_t rows = to->dims[rank - 2], columns = to->dims[rank - 1];
  const int64_t depth = marks.shape->dims[left ? rank - 1 : rank - 2], batches = to->numel / (rows * columns);
  Tile dense = contiguous(pool, marks);
  Tile result = denseTile(pool, ElementKind::I1, to);
  std::vector<uint8_t> lines(left ? rows : columns);
  for (int64_t batch = 0; batch < batches; ++batch) {
    std::fill(lines.begin(), lines.end(), uint8_t{0});
    const uint8_t* from = dense.data() + batch * depth * static_cast<int64_t>(lines.size());
    for (size_t i = 0; i < lines.size(); ++i)
      for (int64_t k = 0; k < depth; ++k) lines[i] |= left ? from[i * depth + k] : from[k * columns + i];
    uint8_t* out = denseData(result) + batch * rows * columns;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) *out++ = lines[left ? r : c];
  }
  return result;
}

}  // namespace

uint32_t Machine::cause(Cause::Kind kind, const Instr& instr) {
  for (uint32_t i = 0; i < causes_.size(); ++i)
    if (causes_[i].kind == kind && causes_[i].instr == &instr) {
      // A later program (or iteration) is witness only if the earlier ones reached no sink.
      causes_[i].program = {program_.id[0], program_.id[1], program_.id[2]};
      causes_[i].iterations = iterations();
      return i;
    }
  Cause cause;
  cause.kind = kind;
  cause.instr = &instr;
  cause.program = {program_.id[0], program_.id[1], program_.id[2]};
  cause.iterations = iterations();
  causes_.push_back(std::move(cause));
  return static_cast<uint32_t>(causes_.size() - 1);
}

void Machine::taintSlot(uint32_t slot, Tile mask, uint32_t cause) {
  tainting_ = true;
  auto taint = std::make_shared<Taint>();
  (causes_[cause].isPromise() ? taint->unkept : taint->faulty) = fitMask(pool_, mask, slots_[slot].shape);
  taint->causes = {cause};
  slots_[slot].taint = std::move(taint);
}

void Machine::gather(std::vector<uint32_t>& causes, const Tile& tile) {
  if (!tile.taint) return;
  for (uint32_t cause : tile.taint->causes)
    if (std::find(causes.begin(), causes.end(), cause) == causes.end()) causes.push_back(cause);
}

void Machine::taintWhole(uint32_t slot, const std::vector<uint32_t>& causes) {
  auto fault = std::find_if(causes.begin(), causes.end(), [this](uint32_t cause) { return !causes_[cause].isPromise(); });
  if (fault != causes.end()) taintSlot(slot, maskSplat(true, slots_[slot].shape), *fault);
}

// Which elements of result k depend on marked elements of the operands, `which` saying in which of the two
// masks of a taint the marks are.
Tile Machine::dependent(const Instr& instr, const Tile& result, Tile Taint::*which) {
  auto marked = [&](unsigned i) -> const Tile* {
    const auto& taint = in(instr, i).taint;
    return taint && ((*taint).*which).form != Form::Empty ? &((*taint).*which) : nullptr;
  };
  Tile mask = maskSplat(false, result.shape);
  auto add = [&](const Tile& more) { mask = maskOr(pool_, mask, fitMask(pool_, more, result.shape)); };
  auto addWhere = [&](const Tile& active, const Tile& more) {
    add(maskAnd(pool_, active, fitMask(pool_, more, result.shape)));
  };
  auto inverse = [&](const Tile& active) { return maskXor(pool_, active, maskSplat(true, result.shape)); };
  bool whole = false;
  switch (instr.op) {
    case Opcode::Select: {
      if (marked(0)) add(*marked(0));
      Tile chosen = fitMask(pool_, in(instr, 0), result.shape);
      if (marked(1)) addWhere(chosen, *marked(1));
      if (marked(2)) addWhere(inverse(chosen), *marked(2));
      break;
    }
    case Opcode::Load: {
      // `other` of inactive elements; tainted addresses that stayed inside give tainted values.
      if (instr.flag & 1) {
        Tile active = fitMask(pool_, in(instr, 1), result.shape);
        if (marked(0)) addWhere(active, *marked(0));
        if ((instr.flag & 2) && marked(2)) addWhere(inverse(active), *marked(2));
      } else if (marked(0)) {
        add(*marked(0));
      }
      break;
    }
    case Opcode::Binary: {
      // x & 0 and false & x do not depend on x.
      bool conjunction = static_cast<BinaryOp>(instr.sub) == BinaryOp::And && result.kind == ElementKind::I1;
      bool disjunction = static_cast<BinaryOp>(instr.sub) == BinaryOp::Or && result.kind == ElementKind::I1;
      for (unsigned i = 0; i < 2; ++i) {
        if (!marked(i)) continue;
        const Tile& other = in(instr, 1 - i);
        if ((conjunction || disjunction) && !other.taint) {
          Tile decides = fitMask(pool_, other, result.shape);
          addWhere(disjunction ? inverse(decides) : decides, *marked(i));
        } else {
          add(*marked(i));
        }
      }
      break;
    }
    case Opcode::Permute:
      if (const Tile* marks = marked(0))
        mask = permute(pool_, marks->form == Form::Box ? strided(pool_, *marks) : *marks,
                       instr.source->attribute("order")->integers, result.shape);
      break;
    case Opcode::Reduce:
    case Opcode::Scan: {
      // The operands go together: every result depends on all of them.
      const bool scan = instr.op == Opcode::Scan;
      for (unsigned i = 0; i < instr.inCount; ++i)
        if (const Tile* marks = marked(i))
          add(marksOfLines(pool_, fitMask(pool_, *marks, in(instr, i).shape), static_cast<int>(instr.immediate), scan,
                           scan && (instr.flag & 1), result.shape));
      break;
    }
    case Opcode::Dot:
      for (unsigned i = 0; i < 2; ++i)
        if (const Tile* marks = marked(i))
          add(marksOfProduct(pool_, fitMask(pool_, *marks, in(instr, i).shape), i == 0, result.shape));
      if (instr.inCount > 2 && marked(2)) add(*marked(2));
      break;
    case Opcode::DotScaled:
    case Opcode::Histogram:
    case Opcode::Take:
    case Opcode::Join:
    case Opcode::Split:
    case Opcode::Concat: whole = true; break;
    case Opcode::Map: whole = instr.immediate > 1; [[fallthrough]];
    default:
      whole = whole || (instr.op == Opcode::InlineAsm && instr.flag > 1);
      for (unsigned i = 0; i < instr.inCount; ++i)
        if (marked(i)) add(*marked(i));
  }
  if (whole)
    for (unsigned i = 0; i < instr.inCount; ++i)
      if (marked(i) && countTrue(pool_, *marked(i)) > 0) mask = maskSplat(true, result.shape);
  return countTrue(pool_, mask) ? mask : Tile{};
}

void Machine::propagate(const Instr& instr) {
  switch (instr.op) {
    case Opcode::Move:  // moved with the tile
    case Opcode::Store:
    case Opcode::ViewStore:
    case Opcode::Jump:
    case Opcode::BranchIfNot:
    case Opcode::LoopBegin:
    case Opcode::LoopNext:
    case Opcode::Return: return;
    default: break;
  }
  if (instr.outCount == 0) return;
  bool faulty = false, unkept = false;
  for (unsigned i = 0; i < instr.inCount; ++i)
    if (const auto& taint = in(instr, i).taint) {
      faulty = faulty || taint->faulty.form != Form::Empty;
      unkept = unkept || taint->unkept.form != Form::Empty;
    }
  unkept = unkept && !promisesEnd(instr);
  if (!faulty && !unkept) return;
  for (unsigned k = 0; k < instr.outCount; ++k) {
    Tile& result = slots_[outSlot(instr, k)];
    if (result.form == Form::Empty || result.form == Form::View) continue;
    auto taint = std::make_shared<Taint>();
    if (faulty) taint->faulty = dependent(instr, result, &Taint::faulty);
    if (unkept) taint->unkept = dependent(instr, result, &Taint::unkept);
    if (taint->faulty.form == Form::Empty && taint->unkept.form == Form::Empty) continue;
    // What the operation itself did comes first. Causes of elements that it does not use stay behind.
    auto own = std::exchange(result.taint, nullptr);
    std::vector<uint32_t> passed;
    for (unsigned i = 0; i < instr.inCount; ++i)
      if (in(instr, i).taint) addCauses(*taint, in(instr, i).taint->causes);
    if (own) {
      passed = std::exchange(taint->causes, own->causes);
      for (Tile Taint::*which : {&Taint::faulty, &Taint::unkept}) {
        Tile& mask = (*taint).*which;
        const Tile& more = (*own).*which;
        if (mask.form == Form::Empty) mask = more;
        else if (more.form != Form::Empty) mask = maskOr(pool_, mask, fitMask(pool_, more, result.shape));
      }
      addCauses(*taint, passed);
    }
    result.taint = std::move(taint);
  }
}

// Those of `causes` that a mask of the taint speaks of.
void Machine::addCauses(Taint& taint, const std::vector<uint32_t>& causes) const {
  for (uint32_t cause : causes) {
    bool promise = causes_[cause].isPromise();
    if ((promise ? taint.unkept : taint.faulty).form == Form::Empty) continue;
    auto alike = std::count_if(taint.causes.begin(), taint.causes.end(),
                               [&](uint32_t other) { return causes_[other].isPromise() == promise; });
    if (static_cast<size_t>(alike) < kMaxCauses &&
        std::find(taint.causes.begin(), taint.causes.end(), cause) == taint.causes.end())
      taint.causes.push_back(cause);
  }
}

// A promise is about addresses: it ends where a value becomes something else.
bool Machine::promisesEnd(const Instr& instr) const {
  switch (instr.op) {
    case Opcode::Splat:
    case Opcode::Broadcast:
    case Opcode::Reshape:
    case Opcode::Permute:
    case Opcode::PtrAdd:
    case Opcode::PtrToInt:
    case Opcode::IntToPtr:
    case Opcode::Bitcast:
    case Opcode::Binary:
    case Opcode::Select:
    case Opcode::Cast: return false;
    default: break;
  }
  if (instr.op != Opcode::CompareI) return true;
  for (unsigned i = 0; i < instr.inCount; ++i)  // sizes decide masks
    if (const auto& taint = in(instr, i).taint)
      for (uint32_t cause : taint->causes)
        if (causes_[cause].isPromise() && causes_[cause].scalar) return false;
  return true;
}

void Machine::sink(const Instr& instr, const Tile& value, const Tile* active, const char* where) {
  if (!value.taint) return;
  auto reached = [&](const Tile& mask) {
    if (mask.form == Form::Empty || !active) return mask;
    return maskAnd(pool_, fitMask(pool_, mask, active->shape), *active);
  };
  auto elements = [&](const Tile& mask) { return mask.form == Form::Empty ? 0 : countTrue(pool_, mask); };
  Tile faulty = reached(value.taint->faulty), unkept = reached(value.taint->unkept);
  const int64_t faults = elements(faulty), broken = elements(unkept);
  for (uint32_t number : value.taint->causes) {
    const Cause& cause = causes_[number];
    if (!cause.isPromise()) {
      if (faults) sinkCause(instr, cause, faulty, faults, where);
    } else if (broken && (where == std::string_view("address") || (where == std::string_view("mask") && cause.scalar))) {
      // Several promises of one value: its elements count once.
      bool counted = std::any_of(value.taint->causes.begin(), value.taint->causes.end(), [&](uint32_t other) {
        return other < number && causes_[other].isPromise() && causes_[other].instr == cause.instr;
      });
      sinkPromise(instr, cause, value, unkept, counted ? 0 : broken, where);
    }
  }
}

void Machine::sinkPromise(const Instr& instr, const Cause& cause, const Tile& value, const Tile& hit, int64_t count,
                          const char* where) {
  FindingKey key{"hint-violation", cause.instr, -1};
  findings::Finding* found = collector_.find(key);
  // A mask may be there to catch the very value: it counts only where it tells elements apart that go together.
  const Tile* mask = where == std::string_view("mask") ? &value : nullptr;
  bool wrong = (mask || !found || found->severity != findings::Severity::Error) && widensWrongly(*this, instr, cause, hit, mask);
  if (mask && !wrong) return;
  Place place = placeOf(context_, instr);
  if (!found) {
    findings::Finding finding = findingAt(*this, *cause.instr, key.kind, findings::Severity::Warning, cause.text);
    finding.client = context_.promisesTo;
    finding.iterations = cause.iterations;
    finding.element = elementIndex(*hit.shape, firstMarked(pool_, hit));
    explainValue(*this, *cause.instr, context_.plan->program.slots[inSlot(*cause.instr, 0)].value, -1, finding);
    if (place.frame.line)
      finding.notes.push_back(fmt::format("it reaches the {} of a {} at line {}: {}", where, operationName(instr), place.frame.line, place.sourceLine));
    found = &collector_.add(key, std::move(finding));
  }
  if (wrong && found->severity != findings::Severity::Error) {
    found->severity = findings::Severity::Error;
    collector_.addConsequence(cause.instr, Collector::Of::Promises, fmt::format("line {}: the compiler, trusting the promise, combines elements of this {} "
                                                       "that {}", place.frame.line, operationName(instr),
                                                       mask ? "the mask tells apart" : "do not lie together"));
  }
  if (count) collector_.count(key, count, program_.linear);
}

void Machine::sinkCause(const Instr& instr, const Cause& cause, const Tile& hit, int64_t count, const char* where) {
  if (cause.kind == Cause::Kind::Fault) {
    Place place = placeOf(context_, instr);
    bool control = instr.op == Opcode::BranchIfNot || instr.op == Opcode::LoopBegin || instr.op == Opcode::Assert;
    std::string text = control ? fmt::format("this {} depends on it", where)
                               : fmt::format("the {} of this {} depends on it", where, operationName(instr));
    if (place.frame.line) text = fmt::format("line {}: {}", place.frame.line, text);
    collector_.addConsequence(cause.instr, Collector::Of::Faults, text);
    return;
  }
  FindingKey key{kindName(cause.kind), cause.instr, -1};
  if (!collector_.find(key)) {
    bool conversion = cause.kind == Cause::Kind::InvalidConversion;
    findings::Finding finding =
        findingAt(*this, *cause.instr, kindName(cause.kind), conversion ? findings::Severity::Warning : findings::Severity::Error,
                  fmt::format("{} reaches the {} of a {}", eventOf(cause), where, operationName(instr)));
    finding.client = "execution";
    finding.iterations = cause.iterations;
    const int64_t first = firstMarked(pool_, hit);
    finding.element = elementIndex(*hit.shape, first);
    const unsigned guilty = conversion || cause.instr->op == Opcode::Histogram ? 0 : 1;
    // Where the effect is in a tile of the same shape, its first element is the cause's.
    const Tile& source = slots_[inSlot(*cause.instr, guilty)];
    bool alike = source.form != Form::Empty && source.shape == hit.shape &&
                 (cause.kind != Cause::Kind::DivisionByZero || elementBits(source, first) == 0) &&
                 (!conversion || !fits(floatAt(source, first), *cause.instr));
    explainValue(*this, *cause.instr, cause.instr->source->operands[guilty], alike ? first : -1, finding);
    Place place = placeOf(context_, instr);
    if (place.frame.line) finding.notes.push_back(fmt::format("it is used at line {}: {}", place.frame.line, place.sourceLine));
    collector_.add(key, std::move(finding));
  }
  collector_.count(key, count, program_.linear);
}

}  // namespace tilesight::exec
