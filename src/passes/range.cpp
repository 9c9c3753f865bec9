#include "passes/range.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "passes/constants.h"
#include "passes/rewriter.h"

namespace tilesight::passes {

namespace {

using Wide = __int128;

int64_t saturated(Wide value) {
  return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

int64_t floorMod(int64_t value, uint64_t modulus) {
  const Wide m = static_cast<Wide>(modulus);
  return static_cast<int64_t>(((static_cast<Wide>(value) % m) + m) % m);
}

/// The congruence with the given modulus, reduced.
void setCongruence(IntegerRange& range, uint64_t modulus, int64_t residue) {
  if (modulus == 0) {
    range.modulus = 0;
    range.residue = residue;
    return;
  }
  range.modulus = modulus;
  range.residue = floorMod(residue, modulus);
}

/// Bounds moved inwards to the next values of the congruence; equal bounds are a constant.
IntegerRange tightened(IntegerRange range) {
  if (range.modulus > 1 && range.low <= range.high) {
    const int64_t up = floorMod(saturated(static_cast<Wide>(range.residue) - range.low), range.modulus);
    const int64_t down = floorMod(saturated(static_cast<Wide>(range.high) - range.residue), range.modulus);
    const bool exact = range.low > INT64_MIN / 4 && range.high < INT64_MAX / 4;
    if (exact && range.low + up <= range.high - down) {
      range.low += up;
      range.high -= down;
    }
  }
  if (range.low == range.high) return IntegerRange::exactly(range.low);
  return range;
}

IntegerRange hull(const IntegerRange& a, const IntegerRange& b) {
  IntegerRange out;
  out.low = std::min(a.low, b.low);
  out.high = std::max(a.high, b.high);
  const Wide apart = static_cast<Wide>(a.residue) - b.residue;
  const uint64_t distance = static_cast<uint64_t>(apart < 0 ? -apart : apart);
  const uint64_t modulus = std::gcd(std::gcd(a.modulus, b.modulus), distance);
  if (modulus) setCongruence(out, modulus, a.residue);
  else out.modulus = 1;
  return tightened(out);
}

/// `exact` if its bounds fit the width, else everything of that width; congruences survive wrapping where the
/// modulus divides 2^width.
IntegerRange fitted(Wide low, Wide high, uint64_t modulus, int64_t residue, uint32_t width) {
  const IntegerRange all = IntegerRange::all(width);
  IntegerRange out;
  if (low >= all.low && high <= all.high) {
    out.low = static_cast<int64_t>(low);
    out.high = static_cast<int64_t>(high);
    setCongruence(out, modulus, residue);
    return tightened(out);
  }
  out = all;
  if (modulus > 1 && width > 1) setCongruence(out, modulus & (~modulus + 1), residue);  // its largest power of two
  return tightened(out);
}

uint64_t divisorOf(const IntegerRange& range) {
  const uint64_t residue = static_cast<uint64_t>(range.residue < 0 ? -static_cast<Wide>(range.residue) : range.residue);
  return std::gcd(range.modulus, residue);  // 0 for the constant 0
}

IntegerRange sum(const IntegerRange& a, const IntegerRange& b, int sign, uint32_t width) {
  const Wide low = static_cast<Wide>(a.low) + (sign > 0 ? b.low : -static_cast<Wide>(b.high));
  const Wide high = static_cast<Wide>(a.high) + (sign > 0 ? b.high : -static_cast<Wide>(b.low));
  const uint64_t modulus = std::gcd(a.modulus, b.modulus);
  const Wide residue = static_cast<Wide>(a.residue) + sign * static_cast<Wide>(b.residue);
  if (residue != saturated(residue)) return IntegerRange::all(width);
  return fitted(low, high, modulus, static_cast<int64_t>(residue), width);
}

IntegerRange product(const IntegerRange& a, const IntegerRange& b, uint32_t width) {
  const Wide corners[] = {static_cast<Wide>(a.low) * b.low, static_cast<Wide>(a.low) * b.high, static_cast<Wide>(a.high) * b.low,
                          static_cast<Wide>(a.high) * b.high};
  const Wide low = *std::min_element(std::begin(corners), std::end(corners)), high = *std::max_element(std::begin(corners), std::end(corners));
  if (a.modulus == 0 && b.modulus == 0) return fitted(low, high, low == saturated(low) ? 0 : 1, saturated(low), width);
  // A constant scales the congruence; otherwise the known divisors multiply.
  const IntegerRange* constant = a.modulus == 0 ? &a : b.modulus == 0 ? &b : nullptr;
  const IntegerRange& other = constant == &a ? b : a;
  uint64_t modulus = 1;
  int64_t residue = 0;
  if (constant) {
    const uint64_t factor = static_cast<uint64_t>(constant->residue < 0 ? -static_cast<Wide>(constant->residue) : constant->residue);
    const Wide scaled = static_cast<Wide>(other.residue) * constant->residue;
    if (factor && !__builtin_mul_overflow(other.modulus, factor, &modulus) && modulus < (uint64_t{1} << 62) && scaled == saturated(scaled)) {
      residue = static_cast<int64_t>(scaled);
    } else {
      modulus = 1;
    }
  } else if (__builtin_mul_overflow(divisorOf(a), divisorOf(b), &modulus) || modulus >= (uint64_t{1} << 62) || modulus == 0) {
    modulus = 1;
  }
  return fitted(low, high, modulus, residue, width);
}

IntegerRange quotient(const IntegerRange& a, const IntegerRange& b, uint32_t width) {
  if (b.low <= 0) return IntegerRange::all(width);  // may divide by zero, or turn the order around
  const Wide corners[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
  const Wide low = *std::min_element(std::begin(corners), std::end(corners)), high = *std::max_element(std::begin(corners), std::end(corners));
  uint64_t modulus = 1;
  if (b.isExact() && a.modulus && divisorOf(a) % static_cast<uint64_t>(b.low) == 0 && a.modulus % static_cast<uint64_t>(b.low) == 0)
    return fitted(low, high, a.modulus / static_cast<uint64_t>(b.low), a.residue / b.low, width);
  if (a.isExact() && b.isExact()) return IntegerRange::exactly(a.low / b.low);
  return fitted(low, high, modulus, 0, width);
}

IntegerRange remainder(const IntegerRange& a, const IntegerRange& b, uint32_t width) {
  if (b.low <= 0) return IntegerRange::all(width);
  if (a.low >= 0 && a.high < b.low) return a;  // nothing to take off
  if (a.isExact() && b.isExact()) return IntegerRange::exactly(a.low % b.low);
  IntegerRange out;
  out.low = a.low >= 0 ? 0 : std::max(a.low, -(b.high - 1));
  out.high = a.high <= 0 ? 0 : std::min(a.high, b.high - 1);
  // v % c keeps v's residue for what divides both, if no sign interferes.
  if (b.isExact() && a.low >= 0) {
    const uint64_t modulus = std::gcd(a.modulus, static_cast<uint64_t>(b.low));
    if (modulus) setCongruence(out, modulus, a.residue);
  }
  return tightened(out);
}

/// Bits that may be set in a range that is not negative.
int64_t maskOf(int64_t high) {
  uint64_t mask = static_cast<uint64_t>(high);
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  return static_cast<int64_t>(mask);
}

std::optional<bool> decided(std::string_view predicate, std::pair<int64_t, int64_t> difference) {
  const auto [low, high] = difference;
  if (predicate == "slt") return high < 0 ? std::optional(true) : low >= 0 ? std::optional(false) : std::nullopt;
  if (predicate == "sle") return high <= 0 ? std::optional(true) : low > 0 ? std::optional(false) : std::nullopt;
  if (predicate == "sgt") return low > 0 ? std::optional(true) : high <= 0 ? std::optional(false) : std::nullopt;
  if (predicate == "sge") return low >= 0 ? std::optional(true) : high < 0 ? std::optional(false) : std::nullopt;
  const bool apart = low > 0 || high < 0, same = low == 0 && high == 0;
  if (predicate == "eq") return same ? std::optional(true) : apart ? std::optional(false) : std::nullopt;
  if (predicate == "ne") return apart ? std::optional(true) : same ? std::optional(false) : std::nullopt;
  return std::nullopt;
}

/// Elements of the result are elements of operands.
bool isRearrangement(std::string_view word) {
  static constexpr std::string_view words[] = {"splat", "broadcast", "expand_dims", "reshape", "trans", "permute", "convert_layout",
                                               "unsplat", "join", "split", "cat", "concat"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

IntegerRange IntegerRange::between(int64_t low, int64_t high) {
  if (low == high) return exactly(low);
  IntegerRange range;
  range.low = low;
  range.high = high;
  return range;
}

IntegerRange IntegerRange::all(uint32_t width) {
  if (width == 1) return between(0, 1);
  if (width == 0 || width >= 64) return {};
  return between(-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1);
}

bool IntegerRange::isMultipleOf(uint64_t divisor) const {
  if (divisor == 0) return false;
  if (modulus == 0) return floorMod(residue, divisor) == 0;
  return modulus % divisor == 0 && floorMod(residue, divisor) == 0;
}

bool IntegerRange::contains(int64_t value) const {
  if (value < low || value > high) return false;
  return modulus == 0 ? value == residue : floorMod(value, modulus) == floorMod(residue, modulus);
}

std::string IntegerRange::str() const {
  if (isExact()) return fmt::format("{}", low);
  std::string text = fmt::format("{}..{}", low, high);
  if (modulus > 1) text += fmt::format(", {} mod {}", residue, modulus);
  return text;
}

Result<Assumptions> Assumptions::parse(std::string_view text) {
  Assumptions out;
  const auto number = [](std::string_view digits, int64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
    size_t end = at;
    while (end < text.size() && text[end] != ' ' && text[end] != ',') ++end;
    if (end == at) break;
    const std::string_view item = text.substr(at, end - at);
    at = end;
    const auto wrong = [&] {
      return failure(fmt::format("cannot read the assumption '{}'", item), "write grid.x=16, N=1024, M=1..4096 or K%64=0");
    };
    const size_t equal = item.find('=');
    if (equal == std::string_view::npos || equal == 0) return wrong();
    std::string_view name = item.substr(0, equal), value = item.substr(equal + 1);
    uint64_t modulus = 0;
    if (const size_t percent = name.find('%'); percent != std::string_view::npos) {
      int64_t divisor = 0;
      if (!number(name.substr(percent + 1), divisor) || divisor < 1) return wrong();
      modulus = static_cast<uint64_t>(divisor);
      name = name.substr(0, percent);
    }
    IntegerRange range;
    if (const size_t dots = value.find(".."); dots != std::string_view::npos) {
      int64_t low = 0, high = 0;
      if (modulus || !number(value.substr(0, dots), low) || !number(value.substr(dots + 2), high) || low > high) return wrong();
      range = IntegerRange::between(low, high);
    } else {
      int64_t exact = 0;
      if (!number(value, exact)) return wrong();
      if (modulus) setCongruence(range, modulus, exact);
      else range = IntegerRange::exactly(exact);
    }
    if (name.starts_with("grid.") && name.size() == 6 && name[5] >= 'x' && name[5] <= 'z') {
      if (!range.isExact() || range.low < 1 || modulus) return wrong();
      out.grid[name[5] - 'x'] = range.low;
      continue;
    }
    auto [entry, added] = out.arguments.emplace(std::string(name), range);
    if (added) continue;
    // Bounds and divisibility of one argument may be said apart.
    entry->second.low = std::max(entry->second.low, range.low);
    entry->second.high = std::min(entry->second.high, range.high);
    if (entry->second.modulus == 1) entry->second.modulus = range.modulus, entry->second.residue = range.residue;
    if (entry->second.low > entry->second.high) return wrong();
    entry->second = tightened(entry->second);
  }
  return out;
}

IntegerRange RangeAnalysis::of(const ir::Value* value) {
  const uint32_t width = value && value->type ? integerWidth(value->type) : 0;
  if (width == 0 || width > 64) return {};
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  // In a circle, or far from where the question was: nothing is known (and not remembered).
  if (busy_.count(value) || depth_ > 300) return IntegerRange::all(width);
  busy_[value] = true;
  ++depth_;
  const IntegerRange range = compute(value);
  --depth_;
  busy_.erase(value);
  // What was found while an outer question was open may rest on it, but only in the safe direction.
  known_[value] = range;
  return range;
}

IntegerRange RangeAnalysis::compute(const ir::Value* value) {
  const uint32_t width = integerWidth(value->type);
  return value->owner ? ofResult(value, *value->owner, width) : ofArgument(value, width);
}

IntegerRange RangeAnalysis::ofArgument(const ir::Value* value, uint32_t width) {
  const IntegerRange all = IntegerRange::all(width);
  const ir::Operation* owner = ownerOf(*value);
  if (!owner || value->block != value->block->parent->blocks[0].get()) return all;
  if (owner->name == "scf.for") return value->index == 0 ? ofInduction(*owner, width) : ofCarried(value, *owner, width);
  if (owner->name != "tt.func" && owner->name != "tile.func") return all;
  IntegerRange range = all;
  if (auto assumed = assumptions_.arguments.find(value->name.empty() ? value->spelling : value->name); assumed != assumptions_.arguments.end()) {
    range = assumed->second;
    range.low = std::max(range.low, all.low);
    range.high = std::min(range.high, all.high);
    if (range.low > range.high) return all;
  }
  const ir::Attribute list = owner->attribute("arg_attrs");
  if (range.modulus != 0 && list && value->index < list->elements.size() && list->elements[value->index].kind() == ir::AttributeKind::Dictionary)
    for (const auto& [key, attribute] : list->elements[value->index]->entries)
      if (key == "tt.divisibility" && width > 1 && attribute.asInteger().value_or(0) > 0) {
        const uint64_t divisor = static_cast<uint64_t>(*attribute.asInteger());
        if (range.modulus % divisor != 0) setCongruence(range, range.residue == 0 ? std::lcm(range.modulus, divisor) : divisor, 0);
      }
  return tightened(range);
}

/// True if the loop's variable meets the upper bound exactly, so that it never passes it.
bool RangeAnalysis::endsAtBound(const ir::Operation& loop) {
  const IntegerRange low = of(loop.operands[0]), high = of(loop.operands[1]), step = of(loop.operands[2]);
  if (!step.isExact() || step.low <= 0) return false;
  const uint64_t by = static_cast<uint64_t>(step.low);
  const uint64_t modulus = std::gcd(low.modulus, high.modulus);
  if (modulus % by != 0) return false;
  return floorMod(low.residue, by) == floorMod(high.residue, by);
}

std::optional<int64_t> RangeAnalysis::maxTrips(const ir::Operation& loop) {
  if (loop.name != "scf.for" || loop.attribute("unsignedCmp")) return std::nullopt;
  const IntegerRange low = of(loop.operands[0]), high = of(loop.operands[1]), step = of(loop.operands[2]);
  if (step.low <= 0) return std::nullopt;
  const Wide length = static_cast<Wide>(high.high) - low.low;
  // A variable that wraps begins again.
  const uint32_t width = integerWidth(loop.operands[0]->type);
  if (!width || width > 64) return std::nullopt;
  if (!endsAtBound(loop) && static_cast<Wide>(high.high) + step.high - 1 > IntegerRange::all(width).high) return std::nullopt;
  if (length <= 0) return 0;
  return saturated((length + step.low - 1) / step.low);
}

IntegerRange RangeAnalysis::ofInduction(const ir::Operation& loop, uint32_t width) {
  const IntegerRange all = IntegerRange::all(width);
  if (loop.operands.size() < 3 || loop.attribute("unsignedCmp")) return all;
  const IntegerRange low = of(loop.operands[0]), high = of(loop.operands[1]), step = of(loop.operands[2]);
  if (step.low <= 0) return all;
  const bool ends = endsAtBound(loop);
  const bool wraps = !ends && static_cast<Wide>(high.high) + step.high - 1 > all.high;
  IntegerRange range = all;
  // The body runs only below the bound.
  Wide top = static_cast<Wide>(high.high) - (ends ? step.low : 1);
  if (!wraps && low.isExact() && step.isExact() && top >= low.low) top = low.low + (top - low.low) / step.low * step.low;
  range.high = saturated(std::max<Wide>(top, all.low));
  if (!wraps) range.low = std::min(low.low, range.high);
  uint64_t modulus = std::gcd(low.modulus, divisorOf(step));
  if (wraps) modulus = modulus ? modulus & (~modulus + 1) : 1;
  if (modulus) setCongruence(range, modulus, low.residue);
  return tightened(range);
}

IntegerRange RangeAnalysis::ofCarried(const ir::Value* value, const ir::Operation& loop, uint32_t width) {
  const size_t number = value->index - 1;
  if (loop.operands.size() <= 3 + number || value->block->operations.empty()) return IntegerRange::all(width);
  const ir::Operation& yield = *value->block->operations.back();
  if (yield.name != "scf.yield" || number >= yield.operands.size()) return IntegerRange::all(width);
  const IntegerRange init = of(loop.operands[3 + number]);
  const ir::Value* next = yield.operands[number];
  if (next == value) return init;
  const ir::Operation* step = next->owner;
  if (!step || (step->name != "arith.addi" && step->name != "arith.subi")) return IntegerRange::all(width);
  const bool first = step->operands[0] == value, second = step->operands[1] == value && step->name == "arith.addi";
  if (!first && !second) return IntegerRange::all(width);
  IntegerRange by = of(step->operands[first ? 1 : 0]);
  if (step->name == "arith.subi") by = sum(IntegerRange::exactly(0), by, -1, 64);
  const uint64_t modulus = std::gcd(init.modulus, divisorOf(by));
  const auto trips = maxTrips(loop);
  if (!trips) return fitted(-(Wide{1} << 100), Wide{1} << 100, modulus ? modulus : 1, init.residue, width);
  // As it is read in the body: after at most trips - 1 steps.
  const Wide steps = std::max<int64_t>(*trips - 1, 0);
  const Wide low = init.low + std::min<Wide>(0, steps * by.low), high = init.high + std::max<Wide>(0, steps * by.high);
  return fitted(low, high, modulus ? modulus : (low == high ? 0 : 1), init.residue, width);
}

IntegerRange RangeAnalysis::ofResult(const ir::Value* value, const ir::Operation& op, uint32_t width) {
  const IntegerRange all = IntegerRange::all(width);
  const std::string& name = op.name;
  const std::string_view word = std::string_view(name).substr(name.find('.') + 1);
  if (op.isOpaque() && word != "convert_layout") return all;

  if (name == "arith.constant") {
    if (auto constant = constantInteger(value)) return IntegerRange::exactly(*constant);
    const ir::Attribute data = op.attribute("value");
    if (!data || data.kind() != ir::AttributeKind::DenseElements) return all;
    const uint32_t bytes = ir::denseElementBytes(value->type.elementType());
    if (!bytes || bytes > 8 || data->data.size() < bytes) return all;
    std::optional<IntegerRange> range;
    for (size_t at = 0; at + bytes <= data->data.size(); at += bytes) {
      uint64_t bits = 0;
      std::memcpy(&bits, data->data.data() + at, bytes);
      const IntegerRange one = IntegerRange::exactly(width == 1 ? static_cast<int64_t>(bits & 1) : wrapped(static_cast<int64_t>(bits), width));
      range = range ? hull(*range, one) : one;
    }
    return *range;
  }
  if (word == "make_range" || word == "iota") return IntegerRange::between(op.integer("start"), op.integer("end") - 1);
  if (word == "get_program_id" || word == "program_id" || word == "get_num_programs" || word == "num_programs") {
    const std::string_view axis = op.string("axis");
    const auto grid = axis.size() == 1 && axis[0] >= 'x' && axis[0] <= 'z' ? assumptions_.grid[axis[0] - 'x'] : std::nullopt;
    const int64_t most = std::min<int64_t>(grid.value_or(INT32_MAX), all.high);
    if (word.ends_with("programs")) return grid ? IntegerRange::exactly(*grid) : IntegerRange::between(1, most);
    return IntegerRange::between(0, grid ? *grid - 1 : most - 1);
  }
  if (isRearrangement(word)) {
    std::optional<IntegerRange> range;
    for (const ir::Value* operand : op.operands) {
      if (integerWidth(operand->type) != width) return all;
      range = range ? hull(*range, of(operand)) : of(operand);
    }
    return range.value_or(all);
  }
  if (name == "arith.select") {
    if (op.operands.size() != 3) return all;
    if (auto condition = truth(op.operands[0])) return of(op.operands[*condition ? 1 : 2]);
    return hull(of(op.operands[1]), of(op.operands[2]));
  }
  if (name == "scf.if" || name == "scf.for") {
    const auto yielded = [&](const ir::Region& region) -> std::optional<IntegerRange> {
      if (region.blocks.size() != 1 || region.blocks[0]->operations.empty()) return std::nullopt;
      const ir::Operation& yield = *region.blocks[0]->operations.back();
      if (yield.name != "scf.yield" || value->index >= yield.operands.size()) return std::nullopt;
      return of(yield.operands[value->index]);
    };
    if (name == "scf.for") {
      const auto last = yielded(*op.regions[0]);
      return last && op.operands.size() > 3 + value->index ? hull(of(op.operands[3 + value->index]), *last) : all;
    }
    if (auto condition = truth(op.operands[0]); condition && op.regions.size() == 2)
      if (auto one = yielded(*op.regions[*condition ? 0 : 1])) return *one;
    const auto a = yielded(*op.regions[0]), b = op.regions.size() > 1 ? yielded(*op.regions[1]) : std::nullopt;
    return a && b ? hull(*a, *b) : all;
  }
  if (op.operands.size() == 1) {
    const uint32_t from = integerWidth(op.operands[0]->type);
    if (!from || from > 64) return all;
    const IntegerRange in = of(op.operands[0]);
    if (name == "arith.extsi" || name == "arith.index_cast" || name == "arith.trunci") {
      if (from == 1) return name == "arith.trunci" ? all : IntegerRange::between(-in.high, -in.low);
      if (width == 1) return in.isExact() ? IntegerRange::exactly(in.low & 1) : in.modulus > 1 && in.modulus % 2 == 0 ? IntegerRange::exactly(in.residue & 1) : all;
      return fitted(in.low, in.high, in.modulus, in.residue, width);
    }
    if (name == "arith.extui" || name == "arith.index_castui") {
      if (in.low >= 0) return fitted(in.low, in.high, in.modulus, in.residue, width);
      if (from >= width || from >= 63) return all;
      return IntegerRange::between(0, (int64_t{1} << from) - 1);
    }
    return all;
  }
  if (op.operands.size() != 2) return all;
  const uint32_t operandWidth = integerWidth(op.operands[0]->type);
  if (!operandWidth || operandWidth > 64 || integerWidth(op.operands[1]->type) != operandWidth) return all;
  if (name == "arith.cmpi") {
    const std::string_view predicate = op.string("predicate");
    std::string_view meant = predicate;
    if (predicate.starts_with('u')) {
      // As signed ones, where neither side is negative.
      if (operandWidth == 1 || of(op.operands[0]).low < 0 || of(op.operands[1]).low < 0) return all;
      meant = predicate == "ult" ? "slt" : predicate == "ule" ? "sle" : predicate == "ugt" ? "sgt" : "sge";
    } else if (operandWidth == 1 && predicate.starts_with('s')) {
      return all;  // booleans are 0 and -1 there
    }
    const auto answer = decided(meant, difference(op.operands[0], op.operands[1]));
    return answer ? IntegerRange::exactly(*answer) : all;
  }
  const IntegerRange a = of(op.operands[0]), b = of(op.operands[1]);
  if (width == 1) {
    if (name == "arith.andi" || name == "arith.muli") return IntegerRange::between(std::min(a.low & b.low, a.high & b.high), a.high & b.high);
    if (name == "arith.ori") return IntegerRange::between(a.low | b.low, a.high | b.high);
    if ((name == "arith.xori" || name == "arith.addi" || name == "arith.subi") && a.isExact() && b.isExact()) return IntegerRange::exactly((a.low ^ b.low) & 1);
    return all;
  }
  if (name == "arith.addi") return sum(a, b, 1, width);
  if (name == "arith.subi") {
    IntegerRange range = sum(a, b, -1, width);
    const auto [low, high] = difference(op.operands[0], op.operands[1]);
    if (low >= range.low && high <= range.high) range.low = low, range.high = high;
    else if (range.low >= all.low && range.high <= all.high && low >= all.low && high <= all.high) range.low = std::max(range.low, low), range.high = std::min(range.high, high);
    return tightened(range);
  }
  if (name == "arith.muli") return product(a, b, width);
  if (name == "arith.divsi" || (name == "arith.divui" && a.low >= 0)) return quotient(a, b, width);
  if (name == "arith.remsi" || (name == "arith.remui" && a.low >= 0)) return remainder(a, b, width);
  if (name == "arith.remui" && b.low > 0) return IntegerRange::between(0, b.high - 1);
  if (name == "arith.minsi" || (name == "arith.minui" && a.low >= 0 && b.low >= 0)) {
    IntegerRange range = hull(a, b);
    range.high = std::min(a.high, b.high);
    range.low = std::min(range.low, range.high);
    return tightened(range);
  }
  if (name == "arith.maxsi" || (name == "arith.maxui" && a.low >= 0 && b.low >= 0)) {
    IntegerRange range = hull(a, b);
    range.low = std::max(a.low, b.low);
    return tightened(range);
  }
  if (name == "arith.andi") {
    if (a.isExact() && b.isExact()) return IntegerRange::exactly(a.low & b.low);
    if (a.low >= 0 && b.low >= 0) return IntegerRange::between(0, std::min(a.high, b.high));
    if (a.low >= 0) return IntegerRange::between(0, a.high);
    if (b.low >= 0) return IntegerRange::between(0, b.high);
    return all;
  }
  if (name == "arith.ori" || name == "arith.xori") {
    if (a.isExact() && b.isExact()) return IntegerRange::exactly(name == "arith.ori" ? a.low | b.low : a.low ^ b.low);
    if (a.low >= 0 && b.low >= 0) return IntegerRange::between(0, maskOf(std::max(a.high, b.high)));
    return all;
  }
  if (name == "arith.shli" && b.isExact() && b.low >= 0 && b.low < static_cast<int64_t>(width) && b.low < 62)
    return product(a, IntegerRange::exactly(int64_t{1} << b.low), width);
  if ((name == "arith.shrsi" || (name == "arith.shrui" && a.low >= 0)) && b.isExact() && b.low >= 0 && b.low < static_cast<int64_t>(width))
    return IntegerRange::between(a.low >> b.low, a.high >> b.low);
  return all;
}

/// A value as a sum of scalars times constants, and a rest in bounds. Only through operations that cannot wrap.
struct RangeAnalysis::Linear {
  std::map<const ir::Value*, Wide> terms;
  Wide low = 0, high = 0;
};

RangeAnalysis::Linear RangeAnalysis::linear(const ir::Value* value, int depth) {
  Linear out;
  const IntegerRange own = of(value);
  const auto leaf = [&] {
    if (own.isExact() || value->type.isTensor()) out.low = own.low, out.high = own.high;
    else out.terms[value] = 1;
    return out;
  };
  const ir::Operation* op = value->owner;
  const uint32_t width = integerWidth(value->type);
  if (!op || own.isExact() || depth > 40) return leaf();
  const std::string_view word = std::string_view(op->name).substr(op->name.find('.') + 1);
  if (isRearrangement(word) && op->operands.size() == 1 && integerWidth(op->operands[0]->type) == width) return linear(op->operands[0], depth + 1);
  if ((op->name == "arith.extsi" || (op->name == "arith.extui" && of(op->operands[0]).low >= 0)) && integerWidth(op->operands[0]->type) > 1) return linear(op->operands[0], depth + 1);
  const bool add = op->name == "arith.addi", sub = op->name == "arith.subi", mul = op->name == "arith.muli";
  if ((!add && !sub && !mul) || op->operands.size() != 2 || width <= 1) return leaf();
  const IntegerRange a = of(op->operands[0]), b = of(op->operands[1]);
  const IntegerRange all = IntegerRange::all(width);
  if (mul) {
    const bool left = a.isExact();
    if (!left && !b.isExact()) return leaf();
    const Wide factor = left ? a.low : b.low;
    const IntegerRange& other = left ? b : a;
    const Wide x = factor * other.low, y = factor * other.high;
    if (std::min(x, y) < all.low || std::max(x, y) > all.high) return leaf();
    out = linear(op->operands[left ? 1 : 0], depth + 1);
    for (auto& [symbol, coefficient] : out.terms) coefficient *= factor;
    const Wide low = out.low * factor, high = out.high * factor;
    out.low = std::min(low, high);
    out.high = std::max(low, high);
    return out;
  }
  const int sign = add ? 1 : -1;
  const Wide low = static_cast<Wide>(a.low) + (add ? b.low : -static_cast<Wide>(b.high)), high = static_cast<Wide>(a.high) + (add ? b.high : -static_cast<Wide>(b.low));
  if (low < all.low || high > all.high) return leaf();
  out = linear(op->operands[0], depth + 1);
  const Linear other = linear(op->operands[1], depth + 1);
  for (const auto& [symbol, coefficient] : other.terms)
    if ((out.terms[symbol] += sign * coefficient) == 0) out.terms.erase(symbol);
  out.low += add ? other.low : -other.high;
  out.high += add ? other.high : -other.low;
  return out;
}

std::pair<int64_t, int64_t> RangeAnalysis::difference(const ir::Value* a, const ir::Value* b) {
  const uint32_t widthA = integerWidth(a->type), widthB = integerWidth(b->type);
  if (!widthA || widthA > 64 || !widthB || widthB > 64) return {INT64_MIN, INT64_MAX};
  if (a == b && !a->type.isTensor()) return {0, 0};
  Linear d = linear(a, 0);
  const Linear other = linear(b, 0);
  for (const auto& [symbol, coefficient] : other.terms)
    if ((d.terms[symbol] -= coefficient) == 0) d.terms.erase(symbol);
  d.low -= other.high;
  d.high -= other.low;
  // A loop's variable stays below its bound: by a whole step, if it meets the bound.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [symbol, coefficient] : d.terms) {
      const ir::Operation* loop = symbol->block ? ownerOf(*symbol) : nullptr;
      if (!loop || loop->name != "scf.for" || symbol->index != 0 || loop->attribute("unsignedCmp") || loop->operands.size() < 3) continue;
      auto bound = d.terms.find(loop->operands[1]);
      if (bound == d.terms.end() || bound->second != -coefficient) continue;
      const IntegerRange step = of(loop->operands[2]), variable = of(symbol), upper = of(loop->operands[1]);
      if (step.low <= 0) continue;
      const Wide most = -(endsAtBound(*loop) ? step.low : Wide{1});          // variable - bound
      const Wide least = static_cast<Wide>(variable.low) - upper.high;
      const Wide x = coefficient * most, y = coefficient * least;
      d.low += std::min(x, y);
      d.high += std::max(x, y);
      d.terms.erase(bound);
      d.terms.erase(symbol);
      changed = true;
      break;
    }
  }
  for (const auto& [symbol, coefficient] : d.terms) {
    const IntegerRange range = of(symbol);
    const Wide x = coefficient * range.low, y = coefficient * range.high;
    d.low += std::min(x, y);
    d.high += std::max(x, y);
  }
  return {saturated(d.low), saturated(d.high)};
}

std::optional<bool> RangeAnalysis::truth(const ir::Value* value) {
  if (!value || integerWidth(value->type) != 1) return std::nullopt;
  const IntegerRange range = of(value);
  return range.isExact() ? std::optional(range.low != 0) : std::nullopt;
}

}  // namespace tilesight::passes
