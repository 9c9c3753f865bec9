// Writes operations as the user's expressions.
#include <algorithm>

#include <fmt/format.h>

#include "exec/explainer.h"

namespace tilesight::exec {

using ir::Operation;
using ir::Value;

namespace {

constexpr int kMaxDepth = 24;

int axisNumber(const Operation& op) {
  ir::Attribute axis = op.attribute("axis");
  if (auto value = axis.asInteger()) return static_cast<int>(*value);
  return axis.asString() == "y" ? 1 : axis.asString() == "z" ? 2 : 0;
}

const char* comparison(std::string_view p) {
  if (p == "eq" || p == "oeq" || p == "ueq") return "==";
  if (p == "ne" || p == "one" || p == "une") return "!=";
  if (p == "slt" || p == "ult" || p == "olt") return "<";
  if (p == "sle" || p == "ule" || p == "ole") return "<=";
  if (p == "sgt" || p == "ugt" || p == "ogt") return ">";
  return ">=";
}

}  // namespace

std::string Explainer::render(Ref ref, const std::string& current, int64_t at, int level, int depth) {
  ref = resolve(ref);
  std::string name = nameOf(ref);
  const Operation* op = ref.value->owner;
  if (!name.empty() && name != current) {
    mention(ref, name, at);
    return name;
  }
  if (depth > kMaxDepth) return "...";
  if (!op) return name.empty() ? "?" : name;
  auto operand = [&](unsigned i, int need) { 
    return render({ref.instance, op->operands[i]}, current, operandElement(*op, i, at), need, depth + 1);
  };
  auto infix = [&](const char* sign, int own) {
    std::string text = fmt::format("{} {} {}", operand(0, own), sign, operand(1, own + 1));
    noteWrap(ref, text);
    return own < level ? "(" + text + ")" : text;
  };
  std::string_view o = op->name;
  if (o == "arith.constant") return constantText(*op);
  if (o == "tile.iota" || o == "tile.program_id" || o == "tile.load" || o.starts_with("tile.atomic")) unnamedVaries_ = true;
  if (o == "tile.splat" || o == "tile.broadcast" || o == "tile.unsplat" || o == "arith.extsi" || o == "arith.extui" ||
      o == "arith.bitcast" || o == "tile.bitcast" || o == "arith.extf" || o == "arith.truncf" ||
      o == "tile.int_to_ptr" || o == "tile.ptr_to_int")
    return operand(0, level);
  if (o == "arith.trunci") 
    return fmt::format("{}int{}({})", isUnsigned(ref) ? "u" : "", ref.value->type.elementType()->width, operand(0, 0));
  if (o == "tile.reshape") {
    ir::Attribute axis = op->attribute("axis");
    std::string inner = operand(0, axis ? 10 : level);
    if (!axis) return inner;
    size_t rank = ref.value->type.shape().size();
    std::string index;
    for (size_t d = 0; d < rank; ++d) index += std::string(d ? ", " : "") + (static_cast<int64_t>(d) == axis.asInteger() ? "None" : ":");
    // x[:, None] of a scalar expression reads badly: only mark variables and ranges.
    return fmt::format("{}[{}]", inner, index);
  }
  if (o == "tile.permute") return fmt::format("trans({})", operand(0, 0));
  if (o == "tile.iota") return fmt::format("arange({}, {})", op->integer("start"), op->integer("end"));
  if (o == "tile.program_id") return fmt::format("program_id({})", axisNumber(*op));
  if (o == "tile.num_programs") return fmt::format("num_programs({})", axisNumber(*op));
  if (o == "arith.addi" || o == "arith.addf" || o == "tile.ptr_add") return infix("+", 5);
  if (o == "arith.subi" || o == "arith.subf") return infix("-", 5);
  if (o == "arith.muli" || o == "arith.mulf") return infix("*", 6);
  if (o == "arith.divsi" || o == "arith.divui") return infix("//", 6);
  if (o == "arith.divf") return infix("/", 6);
  if (o == "arith.remsi" || o == "arith.remui") return infix("%", 6);
  if (o == "arith.andi") return infix("&", 3);
  if (o == "arith.ori") return infix("|", 1);
  if (o == "arith.xori") return infix("^", 2);
  if (o == "arith.shli") return infix("<<", 4);
  if (o == "arith.shrsi" || o == "arith.shrui") return infix(">>", 4);
  if (o == "arith.minsi" || o == "arith.minui") return fmt::format("minimum({}, {})", operand(0, 0), operand(1, 0));
  if (o == "arith.maxsi" || o == "arith.maxui") return fmt::format("maximum({}, {})", operand(0, 0), operand(1, 0));
  if (o == "arith.cmpi" || o == "arith.cmpf") return infix(comparison(op->string("predicate")), 0);
  if (o == "arith.select")
    return fmt::format("where({}, {}, {})", operand(0, 0), operand(1, 0), operand(2, 0));
  if (o == "arith.sitofp" || o == "arith.uitofp") return fmt::format("float({})", operand(0, 0));
  if (o == "arith.fptosi" || o == "arith.fptoui") return fmt::format("int({})", operand(0, 0));
  if (o == "tile.atomic_rmw") {
    std::string kind(op->string("atomic_rmw_op"));
    kind = kind == "fadd" ? "add" : kind == "umax" ? "max" : kind == "umin" ? "min" : kind == "exch" ? "xchg" : kind;
    return fmt::format("atomic_{}({}, {})", kind, operand(0, 0), operand(1, 0));
  }
  if (o == "tile.atomic_cas")
    return fmt::format("atomic_cas({}, {}, {})", operand(0, 0), operand(1, 0), operand(2, 0));
  if (o == "tile.view") {
    auto list = [&](size_t from, size_t count) {
      std::string text;
      for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + operand(static_cast<unsigned>(from + i), 0);
      return "[" + text + "]";
    };
    size_t rank = ref.value->type->shape.size();
    bool block = op->operands.size() > 1 + 2 * rank;
    std::string text = fmt::format("{}({}, {}, {}", block ? "make_block_ptr" : "make_tensor_descriptor", operand(0, 0),
                                   list(1, rank), list(1 + rank, rank));
    return text + (block ? ", " + list(1 + 2 * rank, rank) : std::string()) + ")";
  }
  if (o == "tile.load") return fmt::format("load({})", operand(0, 0));
  if (o == "tile.call") return callText(ref, current, at, depth);
  if (o == "scf.for" || o == "scf.while" || o == "scf.if") return name.empty() ? "?" : name;
  std::string text(o.substr(o.find('.') + 1));
  text += "(";
  for (size_t i = 0; i < op->operands.size(); ++i) text += (i ? ", " : "") + operand(static_cast<unsigned>(i), 0);
  return text + ")";
}

std::string Explainer::callText(Ref ref, const std::string& current, int64_t at, int depth) {
  const Operation& op = *ref.value->owner;
  std::string callee(op.string("callee"));
  std::string text = callee.substr(0, callee.find("__"));
  size_t dot = text.rfind('.');
  if (dot != std::string::npos) text = text.substr(dot + 1);
  text += "(";
  for (unsigned i = 0; i < op.operands.size(); ++i)
    text += (i ? ", " : "") + render({ref.instance, op.operands[i]}, current, operandElement(op, i, at), 0, depth + 1);
  return text + ")";
}

// Integer sums and products that left their width: the address is not what the expression says.
void Explainer::noteWrap(Ref ref, const std::string& text) {
  const Operation& op = *ref.value->owner;
  bool product = op.name == "arith.muli", sum = op.name == "arith.addi", difference = op.name == "arith.subi";
  if (!product && !sum && !difference) return;
  WideRange a, b;
  if (!rangeOf(resolve({ref.instance, op.operands[0]}), &a) || !rangeOf(resolve({ref.instance, op.operands[1]}), &b)) return;
  using Wide = __int128;
  Wide values[4] = {a.min, a.min, a.max, a.max};
  const Wide others[4] = {b.min, b.max, b.min, b.max};
  for (int i = 0; i < 4; ++i) values[i] = product ? values[i] * others[i] : sum ? values[i] + others[i] : values[i] - others[i];
  Wide low = *std::min_element(values, values + 4), high = *std::max_element(values, values + 4);
  const unsigned width = 8 * ir::elementBytes(machineKind(ref.value->type));  // of index too
  if (width == 0) return;
  bool natural = isUnsigned(ref);
  auto outside = [&](Wide v) {
    Wide half = Wide(1) << (width - 1);
    return natural ? v < 0 || v >= 2 * half : v < -half || v >= half;
  };
  if (!outside(low) && !outside(high)) return;
  Wide shown = outside(high) ? high : low;
  std::string value = shown > INT64_MAX || shown < INT64_MIN ? "it" : std::to_string(static_cast<int64_t>(shown));
  std::string note = fmt::format("{} wraps: {} does not fit {}", text, value, fmt::format("{}{}", natural ? "u" : "i", width));
  if (std::find(wraps_.begin(), wraps_.end(), note) == wraps_.end() && wraps_.size() < 3) wraps_.push_back(note);
}

void Explainer::mention(Ref ref, const std::string& name, int64_t at) {
  if (!seen_.insert(name).second) return;
  order_.push_back({ref, name, at});
}

std::string Explainer::definition(Ref ref, const std::string& name, int64_t at) {
  const Operation* op = ref.value->owner;
  if (op) {
    if (isDownwardVariable(*op)) return {};
    if (op->name == "scf.if") {
      auto side = [&](unsigned i) {
        return render({ref.instance, op->regions[i]->blocks[0]->operations.back()->operands[ref.value->index]}, name, at, 0, 0);
      };
      std::string yes = side(0), no = side(1);
      return fmt::format("{} if {} else {}", yes, render({ref.instance, op->operands[0]}, name, kNoElement, 0, 0), no);
    }
    if (op->name == "scf.for" || op->name == "scf.while") return {};
    return render(ref, name, at, 0, 0);
  }
  // The value before the loop and what an iteration adds.
  const std::optional<Carried> loop = carried(ref);
  if (!loop) return {};
  const std::string start = render(loop->start, name, at, 0, 0);
  const Operation* step = loop->next.value->owner;
  if (step && (step->name == "tile.ptr_add" || step->name == "arith.addi") && step->operands[0] == ref.value)
    return fmt::format("{}, then += {} each iteration", start, render({loop->next.instance, step->operands[1]}, name, at, 0, 0));
  return start + " before the loop";
}

std::string Explainer::constantText(const Operation& op) const {
  ir::Attribute value = op.attribute("value");
  if (!value) return "?";
  if (auto integer = value.asInteger()) {
    if (value.kind() == ir::AttributeKind::Bool) return *integer ? "True" : "False";
    if (op.result()->type.elementType().elementKind() == ElementKind::I1) return *integer ? "True" : "False";
    return std::to_string(*integer);
  }
  for (auto& instance : machine_.context().plan->program.instances) {
    const Tile* tile = tileOf({instance.get(), op.result()});
    if (!tile || !tile->isSplat()) continue;
    return tile->kind == ElementKind::I1 ? (tile->base ? "True" : "False") : elementText(*tile, 0);
  }
  return "?";
}

}  // namespace tilesight::exec
