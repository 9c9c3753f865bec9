#include "trace/nonfinite.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "exec/observer.h"
#include "exec/report.h"
#include "trace/dependence.h"
#include "trace/names.h"
#include "trace/sites.h"

namespace tilesight::trace {

namespace {

using exec::Form;
using exec::Instr;
using exec::Machine;
using exec::Opcode;
using exec::Tile;
using ir::ElementKind;

// Operations that make numbers of numbers. Others move, choose, load or count them.
bool makes(const Instr& instr) {
  switch (instr.op) {
    case Opcode::Unary:
    case Opcode::Binary:
    case Opcode::Cast:
    case Opcode::Bitcast:
    case Opcode::Fma:
    case Opcode::ClampF:
    case Opcode::Dot:
    case Opcode::DotScaled:
    case Opcode::Reduce:
    case Opcode::Scan:
    case Opcode::Map:
    case Opcode::Extern:
    case Opcode::InlineAsm: return true;
    default: return false;
  }
}

// Bits of the exponent where all of them mean NaN or infinity; 0: no such number, or a format of its own.
uint64_t exponentOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::F16: return 0x7c00;
    case ElementKind::BF16: return 0x7f80;
    case ElementKind::F32:
    case ElementKind::TF32: return 0x7f800000;
    case ElementKind::F64: return 0x7ff0000000000000;
    case ElementKind::F8E5M2: return 0x7c;
    default: return 0;
  }
}

template <typename T>
bool anyWith(const uint8_t* data, int64_t count, T exponent) {
  const T* x = reinterpret_cast<const T*>(data);
  T found = 0;
  for (int64_t i = 0; i < count; ++i) found |= static_cast<T>((x[i] & exponent) == exponent);
  return found != 0;
}

bool finiteBits(ElementKind kind, int64_t bits, bool* nan) {
  uint8_t bytes[8];
  std::memcpy(bytes, &bits, 8);
  const double number = numberAt(kind, bytes);
  *nan = std::isnan(number);
  return std::isfinite(number);
}

bool anyNonFinite(Machine& machine, const Tile& tile) {
  if (!ir::isFloatKind(tile.kind) || tile.form == Form::Empty) return false;
  bool nan = false;
  if (tile.isSplat()) return !finiteBits(tile.kind, tile.base, &nan);
  if (tile.form != Form::Dense) return false;
  const Tile dense = exec::isContiguous(tile) ? tile : exec::contiguous(machine.pool(), tile);
  const uint64_t exponent = exponentOf(tile.kind);
  if (exponent) {
    switch (tile.elementBytes()) {
      case 1: return anyWith<uint8_t>(dense.data(), dense.numel(), static_cast<uint8_t>(exponent));
      case 2: return anyWith<uint16_t>(dense.data(), dense.numel(), static_cast<uint16_t>(exponent));
      case 4: return anyWith<uint32_t>(dense.data(), dense.numel(), static_cast<uint32_t>(exponent));
      default: return anyWith<uint64_t>(dense.data(), dense.numel(), exponent);
    }
  }
  for (int64_t i = 0; i < dense.numel(); ++i)
    if (!finiteBits(tile.kind, exec::elementBits(dense, i), &nan)) return true;
  return false;
}

// "exp", "-"
std::string operationText(const Instr& instr, const std::string& name) {
  static const std::map<std::string, std::string> signs = {
      {"arith.addf", "+"}, {"arith.subf", "-"}, {"arith.mulf", "*"}, {"arith.divf", "/"}, {"arith.remf", "%"}, {"arith.truncf", "conversion to a narrower format"}};
  if (const auto found = signs.find(name); found != signs.end()) return found->second;
  (void)instr;
  return name.substr(name.find('.') + 1);
}

// The variable that an operand is, or was before it was broadcast: then `*moved`.
std::string operandName(const ir::Value* value, bool* moved) {
  *moved = false;
  for (int step = 0; step < 8; ++step) {
    if (std::string name = variableName(*value); !name.empty() && !isPartOfVariable(*value)) return name;
    *moved = true;
    if (!value->owner || value->owner->operands.empty()) return {};
    const std::string& op = value->owner->name;
    const bool moves = op.find("broadcast") != op.npos || op.find("reshape") != op.npos || op.find("expand") != op.npos ||
                       op.find("splat") != op.npos || op.find("permute") != op.npos || op.find("trans") != op.npos || op.find("ext") != op.npos;
    if (!moves) return {};
    value = value->owner->operands[0];
  }
  return {};
}

class Search : public exec::Observer {
 public:
  Search(const Values& values, bool wantsInfinity) : values_(values), wantsInfinity_(wantsInfinity) {}

  void before(Machine& machine, const Instr& instr) override {
    if (done()) return machine.finish();
    if (!makes(instr)) return;
    held_.resize(instr.inCount);
    // Their buffers stay as they are while they are held.
    for (unsigned i = 0; i < instr.inCount; ++i) held_[i] = machine.in(instr, i);
  }
  void after(Machine& machine, const Instr& instr) override {
    if (makes(instr)) {
      for (unsigned r = 0; r < instr.outCount; ++r)
        if (const Tile& tile = machine.slot(machine.outSlot(instr, r)); anyNonFinite(machine, tile)) look(machine, instr, r, tile);
    } else if (instr.op == Opcode::Load || instr.op == Opcode::ViewLoad || instr.op == Opcode::ViewGather) {
      if (const Tile& tile = machine.slot(machine.outSlot(instr)); anyNonFinite(machine, tile)) loaded(machine, instr, tile);
    }
    if (instr.op == Opcode::Load || instr.op == Opcode::ViewLoad || instr.op == Opcode::ViewGather) return advance();
    held_.clear();
    advance();
  }
  void finished(Machine&) override {
    held_.clear();
    event_ = 0;
  }

  bool done() const { return firstNan.has_value(); }
  std::optional<NonFinite> firstNan, firstInfinity;
  std::map<std::string, NonFiniteReport::Input> inputs;

 private:
  void advance() { ++event_; }

  void loaded(Machine& machine, const Instr& instr, const Tile& tile) {
    if (instr.op != Opcode::Load) return;
    const Tile& pointer = machine.in(instr, 0);
    for (int64_t i = 0; i < tile.numel(); ++i) {
      bool nan = false;
      if (finiteBits(tile.kind, exec::elementBits(tile, i), &nan)) continue;
      if (instr.flag & 1) {
        const Tile& mask = machine.in(instr, 1);
        if (!exec::elementBits(mask, mask.numel() == 1 ? 0 : i)) continue;  // what `other` says
      }
      const int32_t origin = exec::originAt(pointer, i);
      const exec::ViewInfo* view = origin >= 0 ? machine.context().memory->view(origin) : nullptr;
      if (!view) continue;
      auto [found, fresh] = inputs.try_emplace(view->name);
      if (!fresh && (found->second.isNan || !nan)) return;
      found->second = {view->name, nan, exec::LaunchMemory::indexOf(*view, exec::elementBits(pointer, i), 0),
                       {machine.program().id[0], machine.program().id[1], machine.program().id[2]}};
      return;
    }
  }

  void look(Machine& machine, const Instr& instr, unsigned result, const Tile& tile) {
    const exec::CompiledPlan& plan = *machine.context().plan;
    NonFinite* nan = nullptr;
    NonFinite* infinity = nullptr;
    for (int64_t i = 0; i < tile.numel(); ++i) {
      bool isNan = false;
      if (finiteBits(tile.kind, exec::elementBits(tile, i), &isNan)) continue;
      if (isNan ? firstNan && !nan : (firstInfinity || !wantsInfinity_) && !infinity) continue;
      if (!isNew(plan, instr, result, i, isNan)) continue;
      NonFinite*& known = isNan ? nan : infinity;
      if (known) {
        ++known->inTile;
        continue;
      }
      std::optional<NonFinite>& slot = isNan ? firstNan : firstInfinity;
      slot = describe(machine, instr, result, tile, i, isNan);
      known = &*slot;
    }
  }

  // Has no operand a NaN (or, of an infinity, either) where the element came from?
  bool isNew(const exec::CompiledPlan& plan, const Instr& instr, unsigned result, int64_t element, bool isNan) {
    bool found = false;
    auto check = [&](const Tile& operand, int64_t i) {
      if (!ir::isFloatKind(operand.kind)) return;
      bool nan = false;
      found = found || (!finiteBits(operand.kind, exec::elementBits(operand, i), &nan) && (nan || !isNan));
    };
    switch (instr.op) {
      case Opcode::Unary:
      case Opcode::Binary:
      case Opcode::Cast:
      case Opcode::Fma:
      case Opcode::ClampF:
        for (const Tile& operand : held_) check(operand, operand.numel() == 1 ? 0 : element);
        return !found;
      default: break;
    }
    for (size_t i = 0; const ElementSet& set : cameFrom(plan, instr, result, element)) {
      const Tile& operand = held_[i++];
      if (operand.form == Form::Empty || operand.form == Form::View) continue;
      set.each([&](int64_t e) {
        if (!found) check(operand, e);
      });
    }
    return !found;
  }

  std::vector<ElementSet> cameFrom(const exec::CompiledPlan& plan, const Instr& instr, unsigned result, int64_t element) const {
    ElementSet want(resultShape(plan, instr, result)->numel);
    want.add(element);
    std::vector<ElementSet> operands;
    for (unsigned i = 0; i < instr.inCount; ++i) {
      const exec::Shape* shape = operandShape(plan, instr, i);
      operands.emplace_back(shape ? shape->numel : 0);
    }
    dependences(plan, instr, result, want, {}, operands);
    return operands;
  }

  NonFinite describe(Machine& machine, const Instr& instr, unsigned result, const Tile& tile, int64_t element, bool isNan) {
    const exec::CompiledPlan& plan = *machine.context().plan;
    NonFinite found;
    found.isNan = isNan;
    for (int d = 0; d < 3; ++d) found.program[d] = machine.program().id[d];
    found.event = event_;
    const int32_t site = values_.table().siteOf(plan, instr);
    found.site = static_cast<uint32_t>(std::max(site, 0));
    found.result = result;
    if (result < instr.source->results.size()) found.isPart = isPartOfVariable(*instr.source->results[result]);
    found.element = element;
    found.shape = tile.shape->dims;
    found.iterations = machine.iterations();
    found.operation = operationText(instr, site >= 0 ? values_.sites()[found.site].operation : instr.source->name);
    const int64_t bits = exec::elementBits(tile, element);
    uint8_t bytes[8];
    std::memcpy(bytes, &bits, 8);
    found.value = numberText(tile.kind, bytes);
    const std::vector<ElementSet> sets = cameFrom(plan, instr, result, element);
    for (size_t i = 0; i < sets.size(); ++i) {
      const Tile& operand = held_[i];
      if (operand.form == Form::Empty || operand.form == Form::View || sets[i].empty()) continue;
      OperandSeen seen;
      bool moved = false;
      if (i < instr.source->operands.size()) seen.name = operandName(instr.source->operands[i], &moved);
      seen.elements = regionOf(operand.shape->dims, sets[i].list(), 2);
      if (!moved) seen.shape = operand.shape->dims;
      sets[i].each([&](int64_t e) {
        const int64_t word = exec::elementBits(operand, e);
        std::memcpy(bytes, &word, 8);
        seen.values.add(numberAt(operand.kind, bytes));
        seen.value = numberText(operand.kind, bytes);
      });
      found.operands.push_back(std::move(seen));
    }
    return found;
  }

  const Values& values_;
  const bool wantsInfinity_;
  std::vector<Tile> held_;
  int64_t event_ = 0;
};

}  // namespace

Result<NonFiniteReport> firstNonFinite(const Values& values, unsigned threads) {
  const auto& grid = values.launch().grid;
  const int64_t programs = grid[0] * grid[1] * grid[2];
  if (!threads) threads = std::max(1u, std::thread::hardware_concurrency());
  // Chunks of programs, in order; those before the first chunk with a NaN are all looked at.
  const int64_t chunk = std::clamp<int64_t>(programs / (8 * threads), 1, 1024);
  struct Part {
    std::optional<NonFinite> nan, infinity;
    std::map<std::string, NonFiniteReport::Input> inputs;
    std::string stopped;
  };
  std::map<int64_t, Part> parts;  // by first program
  std::optional<Diagnostic> error;
  std::mutex mutex;
  std::atomic<int64_t> next{0}, end{programs};
  auto work = [&] {
    for (;;) {
      const int64_t first = next.fetch_add(chunk);
      if (first >= end.load()) return;
      Search search(values, true);
      auto stopped = values.watch(first, std::min(programs, first + chunk), search);
      const std::lock_guard lock(mutex);
      if (!stopped) {
        if (!error) error = stopped.error();
        end = 0;
        return;
      }
      if (search.done()) end = std::min(end.load(), first);  // later chunks do not matter; earlier ones are under way
      parts[first] = {std::move(search.firstNan), std::move(search.firstInfinity), std::move(search.inputs), std::move(*stopped)};
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads && i < static_cast<unsigned>(programs / chunk + 1); ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  if (error) return failure(std::move(*error));

  NonFiniteReport report;
  std::optional<NonFinite> infinity, nan;
  for (auto& [first, part] : parts) {
    report.programs += std::min(chunk, programs - first);
    for (auto& [name, input] : part.inputs) {
      const auto known = std::find_if(report.inputs.begin(), report.inputs.end(), [&, &name = name](const auto& other) { return other.name == name; });
      if (known == report.inputs.end()) report.inputs.push_back(std::move(input));
      else if (!known->isNan && input.isNan) *known = std::move(input);
    }
    if (!infinity) infinity = std::move(part.infinity);
    if (report.stopped.empty()) report.stopped = std::move(part.stopped);
    if (part.nan) {
      nan = std::move(part.nan);
      break;
    }
  }
  auto earlier = [](const NonFinite& a, const NonFinite& b) {
    auto key = [](const NonFinite& n) { return std::tuple(n.program[2], n.program[1], n.program[0], n.event); };
    return key(a) < key(b);
  };
  if (infinity && (!nan || earlier(*infinity, *nan))) report.first = std::move(infinity), report.firstNan = std::move(nan);
  else report.first = std::move(nan);
  for (auto* found : {&report.first, &report.firstNan}) {
    if (!*found) continue;
    auto slice = followValue(values, (*found)->program, (*found)->event, (*found)->result, (*found)->element);
    if (slice) (*found)->slice = std::move(*slice);
  }
  return report;
}

}  // namespace tilesight::trace
