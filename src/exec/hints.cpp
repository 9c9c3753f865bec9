// Promises to the compiler, checked on the values they are about. Symbolic tiles are judged by their
// strides; elements are looked at only where that does not settle it. What breaks a promise is tainted,
// so that it is reported only where an active element of an access depends on it.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/report.h"

namespace tilesight::exec {

namespace {

using plan::Hint;

// What one step along an axis adds to consecutive elements: pointers count in bytes.
int64_t unitOf(const Machine& m, const Instr& instr, const Tile& tile) {
  if (tile.kind != ElementKind::Pointer) return 1;
  const uint32_t bytes = ir::elementBytes(pointeeKind(m.context().plan->program.slots[m.inSlot(instr, 0)].type));
  return bytes ? bytes : 1;
}

int64_t promised(const std::vector<int64_t>& list, int d) {
  return static_cast<size_t>(d) < list.size() ? std::max<int64_t>(list[d], 1) : 1;
}
int64_t groupOf(const std::vector<int64_t>& list, int d, int64_t extent) {
  return std::min(promised(list, d), extent);
}

// Does every aligned group of `group` elements along axis d change by `step` from one to the next?
bool stepsHold(const Tile& tile, int d, int64_t group, int64_t step) {
  if (group < 2) return true;
  if (tile.form == Form::Splat) return step == 0;
  if (tile.form != Form::Affine && tile.form != Form::Separable) return false;
  const int64_t* values = tile.form == Form::Separable ? tile.axisValues(d) : nullptr;
  if (!values) return tile.stride[d] == step;
  for (int64_t i = 1; i < tile.shape->dims[d]; ++i)
    if (i % group && values[i] - values[i - 1] != step) return false;
  return true;
}

// Are all elements, or the first ones of contiguous groups along axis d, multiples of `divisor`?
bool divides(const Tile& tile, int d, int64_t divisor, int64_t group, int64_t unit) {
  if (divisor < 2) return true;
  if (tile.form != Form::Splat && tile.form != Form::Affine && tile.form != Form::Separable) return false;
  if (tile.base % divisor) return false;
  if (tile.form == Form::Splat) return true;
  for (int e = 0; e < tile.rank(); ++e) {
    int64_t extent = tile.shape->dims[e];
    if (extent < 2) continue;
    int64_t every = e == d ? group : 1;
    if (const int64_t* values = tile.form == Form::Separable ? tile.axisValues(e) : nullptr) {
      for (int64_t i = 0; i < extent; i += every)
        if (values[i] % divisor) return false;
    } else if (tile.stride[e] % divisor && !(e == d && (tile.stride[e] == unit || every >= extent))) {
      return false;
    }
  }
  return true;
}

// Calls line(first index, index step) for each line of elements along axis d.
template <typename Line>
void eachLine(const Shape& shape, int d, Line&& line) {
  int64_t step = 1;
  for (int e = d + 1; e < shape.rank(); ++e) step *= shape.dims[e];
  int64_t length = shape.dims[d];
  for (int64_t outer = 0; outer < shape.numel / (length * step); ++outer)
    for (int64_t inner = 0; inner < step; ++inner) line(outer * length * step + inner, step);
}

// Looks at each element of a tile.
class Checker {
 public:
  Checker(Machine& m, const Hint& hint, Tile dense, int64_t unit) : m(m), hint(hint), tile(std::move(dense)), unit(unit) {
    if (const Tile* faulty = m.meaningless(tile)) meaningless = *faulty;
  }

  Tile bad;                         // i1: the elements that break the promise
  int64_t first = -1, witness = -1;  // the first of them, and what it was compared with

  int64_t at(int64_t i) const { return elementBits(tile, i); }
  void start() {
    bad = denseTile(m.pool(), ElementKind::I1, tile.shape);
    std::fill_n(denseData(bad), tile.numel(), uint8_t{0});
    first = witness = -1;
  }
  void mark(int64_t i, int64_t other) {
    if (meaningless.form != Form::Empty && elementBits(meaningless, i)) return;  // an earlier fault's consequence
    denseData(bad)[i] = 1;
    if (first < 0 || i < first) first = i, witness = other;
  }

  // Elements that are not `step` per place away from the first of their group.
  void steps(int d, int64_t group, int64_t step) {
    start();
    eachLine(*tile.shape, d, [&](int64_t begin, int64_t stride) {
      for (int64_t i = 0; i < tile.shape->dims[d]; ++i) {
        int64_t lead = begin + i / group * group * stride, here = begin + i * stride;
        if (at(here) != at(lead) + i % group * step) mark(here, lead);
      }
    });
  }
  // Groups along d whose first element is no multiple. A promise of groups that are smaller than those that
  // are there does not take anything back.
  void multiples(int d, int64_t divisor) {
    start();
    int64_t extent = tile.shape->dims[d];
    int64_t group = groupOf(hint.contiguity, d, extent);
    int64_t actual = hint.redirected && group < 2 ? extent : contiguous(d);
    if (actual == extent || actual % group == 0) group = actual;
    eachLine(*tile.shape, d, [&](int64_t begin, int64_t stride) {
      for (int64_t lead = 0; lead < extent; lead += group) {
        if (at(begin + lead * stride) % divisor == 0) continue;
        for (int64_t i = lead; i < std::min(lead + group, extent); ++i)
          mark(begin + i * stride, begin + lead * stride);
      }
    });
  }

 private:
  // All elements if they are consecutive; else the largest power of two so that aligned groups of that many are.
  int64_t contiguous(int d) const {
    int64_t group = tile.shape->dims[d];
    eachLine(*tile.shape, d, [&](int64_t begin, int64_t stride) {
      for (int64_t i = 1; i < tile.shape->dims[d]; ++i)
        if (i % group && at(begin + i * stride) != at(begin + (i - 1) * stride) + unit) group = std::min(group, i & -i);
    });
    return group;
  }

  Machine& m;
  const Hint& hint;
  const Tile tile;
  Tile meaningless;
  int64_t unit;
};

// One value under one promise.
class Promise {
 public:
  Promise(Machine& m, const Instr& instr, const Tile& value)
      : m(m), instr(instr), hint(m.context().plan->program.hints[instr.immediate]), value(value), unit(unitOf(m, instr, value)),
        scalar(value.rank() == 0) {}

  void check() {
    for (int d = 0; d < std::max(value.rank(), 1); ++d) {
      const int64_t extent = scalar ? 1 : value.shape->dims[d];
      contiguity(d, groupOf(hint.contiguity, d, extent));
      constancy(d, groupOf(hint.constancy, d, extent));
      const int64_t divisor = promised(hint.divisibility, d);
      if (divisor < 2) continue;
      if (scalar) divisibility(divisor);
      else divisibility(d, divisor, extent);
    }
  }

 private:
  Checker checker() { return Checker(m, hint, contiguous(m.pool(), value), unit); }
  // Addresses mean nothing to a user, distances do.
  std::string shown(const Checker& c, int64_t i) const {
    return value.kind == ElementKind::Pointer ? fmt::format("p{:+}", c.at(i) - c.at(c.witness)) : std::to_string(c.at(i));
  }

  void contiguity(int d, int64_t group) {
    if (hint.redirected || stepsHold(value, d, group, unit)) return;
    Checker c = checker();
    c.steps(d, group, unit);
    if (c.first < 0) return;
    broken(Cause::Kind::Contiguity, c,
           fmt::format("tl.max_contiguous promises groups of {} consecutive values, and one that begins with {} has {}", group,
                       shown(c, c.witness), shown(c, c.first)));
  }

  void constancy(int d, int64_t group) {
    if (stepsHold(value, d, group, 0)) return;
    Checker c = checker();
    c.steps(d, group, 0);
    if (c.first < 0) return;
    broken(Cause::Kind::Constancy, c,
           fmt::format("tl.max_constancy promises groups of {} equal values, and one has {} and {}", group, shown(c, c.witness),
                       shown(c, c.first)));
  }

  // Of one value.
  void divisibility(int64_t divisor) {
    if (scalarValue(value) % divisor == 0) return;
    Checker c = checker();
    c.start();
    c.mark(0, 0);
    if (c.first < 0) return;
    const std::string what = value.kind == ElementKind::Pointer ? std::string("this address") : std::to_string(scalarValue(value));
    const bool parameter = instr.source->name == "tile.func";
    broken(Cause::Kind::Divisibility, c,
           parameter ? fmt::format("the kernel was specialised for an argument that is a multiple of {}, and {} is none", divisor, what)
                     : fmt::format("tl.multiple_of promises a multiple of {}, and {} is none", divisor, what));
  }

  void divisibility(int d, int64_t divisor, int64_t extent) {
    int64_t group = groupOf(hint.contiguity, d, extent);
    if (group < 2 && hint.redirected) group = extent;
    if (divides(value, d, divisor, group, unit)) return;
    Checker c = checker();
    c.multiples(d, divisor);
    if (c.first < 0) return;
    const std::string what = value.kind == ElementKind::Pointer ? std::string("an address is none")
                                                                : fmt::format("{} is none", c.at(c.witness));
    broken(Cause::Kind::Divisibility, c, fmt::format("tl.multiple_of promises multiples of {}, and {}", divisor, what));
  }

  // Taints what breaks it, and keeps what is tainted already.
  void broken(Cause::Kind kind, Checker& c, std::string text) {
    const std::shared_ptr<const Taint> before = m.in(instr, 0).taint;
    const uint32_t cause = m.cause(kind, instr);
    m.causeAt(cause).text = std::move(text);
    m.causeAt(cause).scalar = scalar;
    const uint32_t slot = m.inSlot(instr, 0);
    m.taintSlot(slot, std::move(c.bad), cause);
    if (!before) return;
    auto both = std::make_shared<Taint>(*m.slot(slot).taint);
    both->faulty = before->faulty;
    if (before->unkept.form != Form::Empty) both->unkept = maskOr(m.pool(), both->unkept, before->unkept);
    both->causes.insert(both->causes.begin(), before->causes.begin(), before->causes.end());
    m.slot(slot).taint = std::move(both);
  }

  Machine& m;
  const Instr& instr;
  const Hint& hint;
  const Tile& value;
  const int64_t unit;
  const bool scalar;
};

}  // namespace

void execHint(Machine& m, const Instr& instr) {
  if (!m.context().promisesTo) return;
  const Tile& value = m.in(instr, 0);
  if (value.form == Form::Empty || value.form == Form::View || value.form == Form::Box) return;
  if (value.kind != ElementKind::Pointer && !ir::isIntegerKind(value.kind)) return;
  // In a loop: what an earlier turn's value broke is no matter of this one's.
  if (value.taint && std::all_of(value.taint->causes.begin(), value.taint->causes.end(), [&](uint32_t cause) {
        return m.causeAt(cause).isPromise() && m.causeAt(cause).instr == &instr;
      }))
    m.slot(m.inSlot(instr, 0)).taint = nullptr;
  Promise(m, instr, value).check();
}

bool widensWrongly(Machine& m, const Instr& instr, const Cause& cause, const Tile& hit, const Tile* mask) {
  if (instr.op != Opcode::Load && instr.op != Opcode::Store) return false;
  const Tile& pointer = m.in(instr, 0);
  if (cause.kind == Cause::Kind::Constancy || pointer.form == Form::View || pointer.numel() < 2) return false;
  const int64_t bytes = ir::elementBytes(pointeeKind(instr.source->operands[0]->type));
  constexpr int64_t kWidest = 16;  // bytes that one instruction moves
  if (bytes == 0 || bytes >= kWidest) return false;
  Tile address = contiguous(m.pool(), pointer), reached = contiguous(m.pool(), hit);
  Tile chosen = mask ? contiguous(m.pool(), *mask) : Tile{};
  bool ofParameter = cause.instr->source->name == "tile.func";
  if (pointer.origin >= 0 && !ofParameter) {
    const ViewInfo* view = m.context().memory->view(pointer.origin);
    if (view && view->address % kWidest) return false;  // known to be unaligned: nothing is combined
  }
  const Shape& shape = *address.shape;
  if (reached.numel() != shape.numel || (mask && chosen.numel() != shape.numel)) return false;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    int64_t extent = shape.dims[d];
    if (extent < 2) continue;
    int64_t step = 1;
    for (int e = d + 1; e < shape.rank(); ++e) step *= shape.dims[e];
    if (elementBits(address, step) - elementBits(address, 0) != bytes) continue;
    // The compiler can prove a width only if all groups start alike.
    int64_t width = std::min(kWidest / bytes, extent & -extent), offset = -1;
    if (width < 2) return false;
    bool alike = true, torn = false, told = false;
    eachLine(shape, d, [&](int64_t begin, int64_t stride) {
      for (int64_t lead = 0; lead < extent; lead += width) {
        int64_t start = elementBits(address, begin + lead * stride);
        bool active = false, together = true, same = true;
        for (int64_t i = 0; i < width; ++i) {
          int64_t at = begin + (lead + i) * stride;
          active = active || reached.data()[at];
          together = together && elementBits(address, at) == start + i * bytes;
          same = same && (!mask || chosen.data()[at] == chosen.data()[begin + lead * stride]);
        }
        if (!active) continue;
        int64_t here = start & (width * bytes - 1);
        alike = alike && (offset < 0 || offset == here);
        offset = here;
        torn = torn || !together;
        told = told || !same;
      }
    });
    if (!alike || offset < 0) return false;
    if (mask) return offset == 0 && told && !torn;
    return cause.kind == Cause::Kind::Contiguity ? offset == 0 && torn : offset != 0;
  }
  return false;
}

void execAssume(Machine& m, const Instr& instr) {
  if (!m.context().promisesTo) return;
  const Tile& condition = m.in(instr, 0);
  int64_t broken = condition.numel() - countTrue(m.pool(), condition);
  if (broken == 0 || m.meaningless(condition)) return;
  FindingKey key{"hint-violation", &instr, -1};
  if (!m.collector().find(key)) {
    findings::Finding finding = findingAt(m, instr, key.kind, findings::Severity::Warning,
                                          "tl.assume promises a condition that is false here");
    finding.client = m.context().promisesTo;
    finding.element = {};
    explainValue(m, instr, instr.source->operands[0], -1, finding);
    m.collector().add(key, std::move(finding));
  }
  m.collector().count(key, broken, m.program().linear);
}

}  // namespace tilesight::exec
