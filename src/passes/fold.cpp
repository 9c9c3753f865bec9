#include "passes/fold.h"

#include <algorithm>

#include "passes/constants.h"

namespace tilesight::passes {

namespace {

uint64_t unsignedOf(int64_t value, uint32_t width) {
  return width >= 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t{1} << width) - 1);
}

std::optional<bool> compare(std::string_view predicate, int64_t a, int64_t b, uint32_t width) {
  const uint64_t ua = unsignedOf(a, width), ub = unsignedOf(b, width);
  if (width == 1) a = -(a & 1), b = -(b & 1);  // signed comparisons of booleans see 0 and -1
  if (predicate == "eq") return ua == ub;
  if (predicate == "ne") return ua != ub;
  if (predicate == "slt") return a < b;
  if (predicate == "sle") return a <= b;
  if (predicate == "sgt") return a > b;
  if (predicate == "sge") return a >= b;
  if (predicate == "ult") return ua < ub;
  if (predicate == "ule") return ua <= ub;
  if (predicate == "ugt") return ua > ub;
  if (predicate == "uge") return ua >= ub;
  return std::nullopt;
}

bool isBinaryInteger(std::string_view name) {
  static constexpr std::string_view names[] = {"arith.addi",  "arith.subi",  "arith.muli",  "arith.divsi", "arith.divui", "arith.remsi",
                                               "arith.remui", "arith.andi",  "arith.ori",   "arith.xori",  "arith.minsi", "arith.maxsi",
                                               "arith.minui", "arith.maxui", "arith.shli",  "arith.shrsi", "arith.shrui", "arith.cmpi"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// x + 0, x * 1 and the like: the operand that the result equals.
ir::Value* neutral(const ir::Operation& op) {
  ir::Value *x = op.operands[0], *y = op.operands[1];
  const auto a = constantInteger(x), b = constantInteger(y);
  const uint32_t width = integerWidth(x->type);
  const std::string& name = op.name;
  if (name == "arith.addi" || name == "arith.ori" || name == "arith.xori") {
    if (b == 0) return x;
    if (a == 0) return y;
  }
  if (name == "arith.subi" || name == "arith.shli" || name == "arith.shrsi" || name == "arith.shrui") return b == 0 ? x : nullptr;
  if (name == "arith.muli") {
    if (width > 1 && b == 1) return x;
    if (width > 1 && a == 1) return y;
    if (b == 0) return y;
    if (a == 0) return x;
  }
  if ((name == "arith.divsi" || name == "arith.divui") && width > 1 && b == 1) return x;
  if (name == "arith.andi") {
    const int64_t ones = width == 1 ? 1 : -1;
    if (x == y || b == ones) return x;
    if (a == ones) return y;
    if (b == 0) return y;
    if (a == 0) return x;
  }
  if (name == "arith.ori" && x == y) return x;
  if ((name == "arith.minsi" || name == "arith.maxsi" || name == "arith.minui" || name == "arith.maxui") && x == y) return x;
  return nullptr;
}

}  // namespace

std::optional<int64_t> foldInteger(std::string_view name, std::string_view predicate, int64_t a, int64_t b, uint32_t width) {
  const uint64_t ua = unsignedOf(a, width), ub = unsignedOf(b, width);
  // Signless booleans are kept as 0 and 1, but are 0 and -1 to signed operations.
  const int64_t sa = width == 1 ? -(a & 1) : a, sb = width == 1 ? -(b & 1) : b;
  const int64_t least = width >= 64 ? INT64_MIN : -(int64_t{1} << (width - 1));
  std::optional<int64_t> out;
  if (name == "arith.cmpi") {
    const auto truth = compare(predicate, a, b, width);
    return truth ? std::optional<int64_t>(*truth) : std::nullopt;
  }
  if (name == "arith.addi") out = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else if (name == "arith.subi") out = static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else if (name == "arith.muli") out = static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else if (name == "arith.andi") out = a & b;
  else if (name == "arith.ori") out = a | b;
  else if (name == "arith.xori") out = a ^ b;
  else if (name == "arith.minsi") out = std::min(sa, sb);
  else if (name == "arith.maxsi") out = std::max(sa, sb);
  else if (name == "arith.minui") out = static_cast<int64_t>(std::min(ua, ub));
  else if (name == "arith.maxui") out = static_cast<int64_t>(std::max(ua, ub));
  else if (name == "arith.divsi" && sb != 0 && !(sa == least && sb == -1)) out = sa / sb;
  else if (name == "arith.remsi" && sb != 0 && !(sa == least && sb == -1)) out = sa % sb;
  else if (name == "arith.divui" && ub != 0) out = static_cast<int64_t>(ua / ub);
  else if (name == "arith.remui" && ub != 0) out = static_cast<int64_t>(ua % ub);
  else if (name == "arith.shli" && ub < width) out = static_cast<int64_t>(ua << ub);
  else if (name == "arith.shrsi" && ub < width) out = sa >> ub;
  else if (name == "arith.shrui" && ub < width) out = static_cast<int64_t>(ua >> ub);
  if (!out) return std::nullopt;
  return width == 1 ? (*out & 1) : wrapped(*out, width);
}

std::vector<ir::Value*> fold(Rewriter& rewriter, ir::Operation& op) {
  if (op.isOpaque() || op.results.size() != 1) return {};
  ir::Context& context = rewriter.context();
  const ir::Type type = op.result()->type;
  const std::string& name = op.name;
  const auto constant = [&](int64_t value) -> std::vector<ir::Value*> {
    const ir::Attribute attribute = integerConstant(context, type, value);
    if (!attribute) return {};
    ir::Operation* made = rewriter.createConstant(Point::beforeOp(&op), attribute, op.location);
    made->result()->name = op.result()->name;
    return {made->result()};
  };
  if (isBinaryInteger(name) && op.operands.size() == 2) {
    if (name != "arith.cmpi" && type == op.operands[0]->type)
      if (ir::Value* same = neutral(op)) return {same};
    const auto a = constantInteger(op.operands[0]), b = constantInteger(op.operands[1]);
    if (a && b)
      if (auto value = foldInteger(name, op.string("predicate"), *a, *b, integerWidth(op.operands[0]->type))) return constant(*value);
    if (name == "arith.subi" && op.operands[0] == op.operands[1]) return constant(0);
    if (name == "arith.cmpi" && op.operands[0] == op.operands[1])
      if (auto truth = compare(op.string("predicate"), 0, 0, 32)) return constant(*truth);
    return {};
  }
  if (name == "arith.extsi" || name == "arith.trunci" || name == "arith.index_cast") {
    const auto a = constantInteger(op.operands[0]);
    return a ? constant(integerWidth(op.operands[0]->type) == 1 ? -*a : *a) : std::vector<ir::Value*>{};
  }
  if (name == "arith.extui") {
    const auto a = constantInteger(op.operands[0]);
    return a ? constant(static_cast<int64_t>(unsignedOf(*a, integerWidth(op.operands[0]->type)))) : std::vector<ir::Value*>{};
  }
  if (name == "arith.select") {
    if (op.operands[1] == op.operands[2]) return {op.operands[1]};
    if (const auto condition = constantInteger(op.operands[0])) return {op.operands[*condition ? 1 : 2]};
    return {};
  }
  // Shape operations of equal elements, and those that keep the shape.
  const std::string_view word = std::string_view(name).substr(name.find('.') + 1);
  if (word == "splat" || word == "broadcast" || word == "expand_dims" || word == "reshape" || word == "trans" || word == "permute") {
    if (word == "broadcast" && op.operands[0]->type == type) return {op.operands[0]};
    if (const auto a = constantInteger(op.operands[0])) return constant(*a);
  }
  return {};
}

}  // namespace tilesight::passes
