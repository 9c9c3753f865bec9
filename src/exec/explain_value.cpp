// The values that expressions had: signed or unsigned as the program takes them.
#include <algorithm>

#include <fmt/format.h>

#include "exec/explainer.h"

namespace tilesight::exec {

using ir::Operation;
using ir::Value;
using Sign = Explainer::Sign;

namespace {

constexpr int kMaxSteps = 10;

int64_t widthOf(ElementKind kind) { return kind == ElementKind::I1 ? 1 : 8 * static_cast<int64_t>(ir::elementBytes(kind)); }

bool isWideInteger(const Value& value) {
  ElementKind kind = machineKind(value.type);
  return ir::isIntegerKind(kind) && kind != ElementKind::I1;
}

// A sign-extended integer as its unsigned value.
__int128 natural(int64_t bits, ElementKind kind) {
  __int128 value = bits;
  return value < 0 ? value + (static_cast<__int128>(1) << widthOf(kind)) : value;
}

// What an operation takes its integer operands for, from its name alone.
Sign signOfOperation(const Operation& op) {
  std::string_view o = op.name;
  if (o == "arith.divui" || o == "arith.remui" || o == "arith.minui" || o == "arith.maxui" || o == "arith.uitofp") return Sign::Unsigned;
  if (o == "arith.divsi" || o == "arith.remsi" || o == "arith.minsi" || o == "arith.maxsi" || o == "arith.sitofp" ||
      o == "arith.extsi")
    return Sign::Signed;
  if (o == "arith.extui") return isWideInteger(*op.operands[0]) ? Sign::Unsigned : Sign::Unknown;
  if (o == "arith.cmpi") {
    char first = op.string("predicate").empty() ? ' ' : op.string("predicate")[0];
    return first == 'u' ? Sign::Unsigned : first == 's' ? Sign::Signed : Sign::Unknown;
  }
  return Sign::Unknown;
}

// Operations whose result is of the same type as their operands.
bool keepsType(const Operation& op) {
  std::string_view o = op.name;
  return o == "arith.addi" || o == "arith.subi" || o == "arith.muli" || o == "arith.andi" || o == "arith.ori" || o == "arith.xori" ||
         o == "arith.shli" || o == "arith.select" || onlyMoves(o) || o == "tile.unsplat";
}

}  // namespace

const std::vector<const Operation*>& Explainer::usersOf(const plan::Instance* instance, const Value* value) const {
  static const std::vector<const Operation*> kNone;
  auto [at, fresh] = users_.try_emplace(instance->function);
  if (fresh)
    ir::walk(const_cast<Operation&>(*instance->function), [&, &users = at->second](Operation& op) {
      for (const Value* operand : op.operands) users[operand].push_back(&op);
      return true;
    });
  auto found = at->second.find(value);
  return found == at->second.end() ? kNone : found->second;
}

// From where the value comes from.
Sign Explainer::producerSign(const plan::Instance* instance, const Value* value, int depth) const {
  const Operation* op = value->owner;
  if (!op || depth > kMaxSteps) return Sign::Unknown;
  std::string_view o = op->name;
  if (o == "arith.fptoui" || o == "arith.shrui") return Sign::Unsigned;
  if (o == "arith.fptosi" || o == "arith.shrsi") return Sign::Signed;
  if (o == "tile.load") {
    // The dtype of the tensor it is loaded from.
    Ref at = strip({instance, op->operands[0]});
    while (at.value->owner && at.value->owner->name == "tile.ptr_add") at = strip({at.instance, at.value->owner->operands[0]});
    const auto& context = machine_.context();
    const auto& parameters = context.plan->program.instances[0]->function->regions[0]->blocks[0]->arguments;
    for (size_t p = 0; p < parameters.size() && p < context.argumentOfParameter.size(); ++p) {
      if (parameters[p].get() != at.value) continue;
      const launch::Argument& tensor = context.launch->arguments[context.argumentOfParameter[p]];
      if (tensor.kind != launch::Argument::Kind::Tensor || tensor.view.element != machineKind(value->type)) break;
      return tensor.view.dtype.starts_with("uint") ? Sign::Unsigned : tensor.view.dtype.starts_with("int") ? Sign::Signed : Sign::Unknown;
    }
    return Sign::Unknown;
  }
  if (o != "arith.cmpi" && o != "arith.extui" && o != "arith.extsi")
    if (Sign sign = signOfOperation(*op); sign != Sign::Unknown) return sign;
  if (!keepsType(*op)) return Sign::Unknown;
  Sign result = Sign::Unknown;
  for (const Value* operand : op->operands) {
    if (!isWideInteger(*operand)) continue;
    Ref from = resolve({instance, operand});
    Sign sign = signOf(from.instance, from.value, depth + 2);
    if (sign == Sign::Unsigned) return sign;  // an unsigned operand makes the result unsigned
    if (sign == Sign::Signed) result = sign;
  }
  return result;
}

Sign Explainer::signOf(const plan::Instance* instance, const Value* value, int depth) const {
  if (depth > kMaxSteps || !isWideInteger(*value)) return Sign::Unknown;
  for (const Operation* user : usersOf(instance, value)) {
    if ((user->name == "arith.shrui" || user->name == "arith.shrsi") && user->operands[0] == value)
      return user->name == "arith.shrui" ? Sign::Unsigned : Sign::Signed;
    if (user->name == "arith.select" && user->operands[0] == value) continue;
    if (Sign sign = signOfOperation(*user); sign != Sign::Unknown) return sign;
  }
  if (Sign sign = producerSign(instance, value, depth); sign != Sign::Unknown) return sign;
  for (const Operation* user : usersOf(instance, value))
    if (keepsType(*user))
      if (Sign sign = signOf(instance, user->result(), depth + 3); sign != Sign::Unknown) return sign;
  return Sign::Unknown;
}

Sign Explainer::signOf(Ref ref) const { return signOf(ref.instance, ref.value, 0); }

bool Explainer::rangeOf(Ref ref, WideRange* range) const {
  const Tile* tile = tileOf(ref);
  Range bits;
  if (!tile || !valueRange(*tile, &bits)) return false;
  *range = {bits.min, bits.max};
  if (bits.min >= 0 || !isUnsigned(ref)) return true;
  range->min = range->max = natural(elementBits(*tile, 0), tile->kind);
  for (int64_t i = 1; i < tile->numel(); ++i) {
    __int128 value = natural(elementBits(*tile, i), tile->kind);
    range->min = std::min(range->min, value);
    range->max = std::max(range->max, value);
  }
  return true;
}

std::string Explainer::valueText(Ref ref, int64_t at) const {
  const Tile* tile = tileOf(ref);
  if (!tile || tile->kind == ElementKind::Pointer || tile->kind == ElementKind::I1) return {};
  if (ir::isFloatKind(tile->kind)) {
    if (tile->numel() == 1 || tile->isSplat()) return elementText(*tile, 0);
    return at >= 0 && at < tile->numel() ? "here " + elementText(*tile, at) : std::string();
  }
  WideRange range;
  if (!rangeOf(ref, &range)) return {};
  if (range.min == range.max) return fmt::format("{}", range.min);
  std::string text = fmt::format("{}..{}", range.min, range.max);
  // What came from memory says little as a range: add the value at the witness.
  if (at >= 0 && at < tile->numel() && tile->form == Form::Dense) {
    int64_t bits = elementBits(*tile, at);
    text += fmt::format(", here {}", isUnsigned(ref) ? natural(bits, tile->kind) : bits);
  }
  return text;
}

bool Explainer::valueAt(Ref ref, int64_t at, int64_t* value, int depth) const {
  ref = resolve(ref);
  if (const Tile* tile = tileOf(ref)) {
    if (!ir::isIntegerKind(tile->kind) || tile->kind == ElementKind::I1) return false;
    if (tile->isSplat()) at = 0;
    if (at < 0 || at >= tile->numel()) return false;
    *value = elementBits(*tile, at);
    return true;
  }
  const Operation* op = ref.value->owner;
  if (!op || depth > 2 * kMaxSteps) return false;
  std::string_view o = op->name;
  if (o == "tile.iota") {
    if (at < 0) return false;
    *value = op->integer("start") + at;
    return true;
  }
  int64_t a = 0, b = 0;
  auto operand = [&](unsigned i, int64_t* out) { return valueAt({ref.instance, op->operands[i]}, operandElement(*op, i, at), out, depth + 1); };
  if (onlyMoves(o) || o == "arith.extsi") {
    if (!operand(0, &a)) return false;
    *value = a;
    return true;
  }
  if (o != "arith.addi" && o != "arith.subi" && o != "arith.muli") return false;
  if (!operand(0, &a) || !operand(1, &b)) return false;
  bool over = o == "arith.addi"   ? __builtin_add_overflow(a, b, value)
              : o == "arith.subi" ? __builtin_sub_overflow(a, b, value)
                                  : __builtin_mul_overflow(a, b, value);
  return !over && fitsKind(machineKind(ref.value->type), *value);
}

}  // namespace tilesight::exec
