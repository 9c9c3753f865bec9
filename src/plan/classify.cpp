#include "plan/classify.h"

#include <string_view>

#include <fmt/format.h>

#include "exec/kernels/kernels.h"

namespace tilesight::plan {

namespace {

using exec::BinaryOp;
using exec::CastOp;
using exec::CmpFOp;
using exec::CmpIOp;
using exec::DotPrecision;
using exec::UnaryOp;
using ir::ElementKind;
using ir::Operation;

template <typename E>
struct Named {
  std::string_view name;
  E value;
};

constexpr Named<BinaryOp> kBinary[] = {
    {"arith.addi", BinaryOp::AddI},         {"arith.subi", BinaryOp::SubI},
    {"arith.muli", BinaryOp::MulI},         {"arith.divsi", BinaryOp::DivS},
    {"arith.divui", BinaryOp::DivU},        {"arith.remsi", BinaryOp::RemS},
    {"arith.remui", BinaryOp::RemU},        {"arith.andi", BinaryOp::And},
    {"arith.ori", BinaryOp::Or},            {"arith.xori", BinaryOp::Xor},
    {"arith.shli", BinaryOp::Shl},          {"arith.shrsi", BinaryOp::ShrS},
    {"arith.shrui", BinaryOp::ShrU},        {"arith.minsi", BinaryOp::MinS},
    {"arith.minui", BinaryOp::MinU},        {"arith.maxsi", BinaryOp::MaxS},
    {"arith.maxui", BinaryOp::MaxU},        {"tile.mulhiui", BinaryOp::MulHiU},
    {"arith.addf", BinaryOp::AddF},         {"arith.subf", BinaryOp::SubF},
    {"arith.mulf", BinaryOp::MulF},         {"arith.divf", BinaryOp::DivF},
    {"arith.remf", BinaryOp::RemF},         {"arith.minimumf", BinaryOp::MinimumF},
    {"arith.maximumf", BinaryOp::MaximumF}, {"arith.minnumf", BinaryOp::MinNumF},
    {"arith.maxnumf", BinaryOp::MaxNumF},
};

constexpr Named<UnaryOp> kUnary[] = {
    {"arith.negf", UnaryOp::NegF}, {"math.absf", UnaryOp::AbsF},   {"math.absi", UnaryOp::AbsI},
    {"math.exp", UnaryOp::Exp},    {"math.exp2", UnaryOp::Exp2},   {"math.log", UnaryOp::Log},
    {"math.log2", UnaryOp::Log2},  {"math.sin", UnaryOp::Sin},     {"math.cos", UnaryOp::Cos},
    {"math.tanh", UnaryOp::Tanh},  {"math.sqrt", UnaryOp::Sqrt},   {"math.rsqrt", UnaryOp::Rsqrt},
    {"math.erf", UnaryOp::Erf},    {"math.floor", UnaryOp::Floor}, {"math.ceil", UnaryOp::Ceil},
};

constexpr Named<CastOp> kCast[] = {
    {"arith.extsi", CastOp::SExt},    {"arith.extui", CastOp::ZExt},    {"arith.trunci", CastOp::Trunc},
    {"arith.sitofp", CastOp::SIToFP}, {"arith.uitofp", CastOp::UIToFP}, {"arith.fptosi", CastOp::FPToSI},
    {"arith.fptoui", CastOp::FPToUI}, {"arith.extf", CastOp::FPExt},    {"arith.truncf", CastOp::FPTruncRtne},
};

// Libdevice functions that are one of our own operations.
constexpr Named<UnaryOp> kLibdevice[] = {
    {"__nv_tanhf", UnaryOp::Tanh},   {"__nv_expf", UnaryOp::Exp},     {"__nv_exp2f", UnaryOp::Exp2},
    {"__nv_logf", UnaryOp::Log},     {"__nv_log2f", UnaryOp::Log2},   {"__nv_sqrtf", UnaryOp::Sqrt},
    {"__nv_rsqrtf", UnaryOp::Rsqrt}, {"__nv_erff", UnaryOp::Erf},     {"__nv_floorf", UnaryOp::Floor},
    {"__nv_ceilf", UnaryOp::Ceil},   {"__nv_fabsf", UnaryOp::AbsF},   {"__nv_sinf", UnaryOp::Sin},
    {"__nv_cosf", UnaryOp::Cos},     {"__nv_tanh", UnaryOp::Tanh},    {"__nv_exp", UnaryOp::Exp},
    {"__nv_log", UnaryOp::Log},      {"__nv_sqrt", UnaryOp::Sqrt},    {"__nv_erf", UnaryOp::Erf},
    {"__nv_floor", UnaryOp::Floor},  {"__nv_ceil", UnaryOp::Ceil},    {"__nv_fabs", UnaryOp::AbsF},
};

constexpr Named<CmpIOp> kCmpI[] = {
    {"eq", CmpIOp::Eq},   {"ne", CmpIOp::Ne},   {"slt", CmpIOp::Slt}, {"sle", CmpIOp::Sle},
    {"sgt", CmpIOp::Sgt}, {"sge", CmpIOp::Sge}, {"ult", CmpIOp::Ult}, {"ule", CmpIOp::Ule},
    {"ugt", CmpIOp::Ugt}, {"uge", CmpIOp::Uge}};
constexpr Named<CmpFOp> kCmpF[] = {
    {"false", CmpFOp::False}, {"oeq", CmpFOp::Oeq}, {"ogt", CmpFOp::Ogt}, {"oge", CmpFOp::Oge},
    {"olt", CmpFOp::Olt},     {"ole", CmpFOp::Ole}, {"one", CmpFOp::One}, {"ord", CmpFOp::Ord},
    {"ueq", CmpFOp::Ueq},     {"ugt", CmpFOp::Ugt}, {"uge", CmpFOp::Uge}, {"ult", CmpFOp::Ult},
    {"ule", CmpFOp::Ule},     {"une", CmpFOp::Une}, {"uno", CmpFOp::Uno}, {"true", CmpFOp::True}};
constexpr Named<RmwKind> kRmw[] = {
    {"and", RmwKind::And},   {"or", RmwKind::Or},     {"xor", RmwKind::Xor},   {"add", RmwKind::Add},
    {"fadd", RmwKind::FAdd}, {"max", RmwKind::Max},   {"min", RmwKind::Min},   {"umax", RmwKind::UMax},
    {"umin", RmwKind::UMin}, {"exch", RmwKind::Xchg}, {"inc", RmwKind::Inc},   {"dec", RmwKind::Dec}};

// Rearrangements and the like: name, opcode, purity.
struct Plain {
  std::string_view name;
  Opcode op;
  bool pure;
};
constexpr Plain kPlain[] = {
    {"tile.splat", Opcode::Splat, true},
    {"tile.unsplat", Opcode::Reshape, true},
    {"tile.broadcast", Opcode::Broadcast, true},
    {"tile.reshape", Opcode::Reshape, true},
    {"tile.permute", Opcode::Permute, true},
    {"tile.join", Opcode::Join, true},
    {"tile.split", Opcode::Split, true},
    {"tile.concat", Opcode::Concat, true},
    {"tile.ptr_to_int", Opcode::PtrToInt, true},
    {"tile.int_to_ptr", Opcode::IntToPtr, true},
    {"tile.bitcast", Opcode::Bitcast, true},
    {"arith.bitcast", Opcode::Bitcast, true},
    {"arith.select", Opcode::Select, true},
    {"arith.constant", Opcode::Const, true},
    {"ub.poison", Opcode::Poison, true},
    {"math.fma", Opcode::Fma, true},
    {"tile.print", Opcode::Print, false},
    {"tile.assert", Opcode::Assert, false},
    {"tile.assume", Opcode::Assume, false},
    {"tile.barrier", Opcode::Assume, false},
    {"tile.view_advance", Opcode::ViewAdvance, true},
    {"tile.atomic_cas", Opcode::AtomicCas, false},
    {"tile.view_gather", Opcode::ViewGather, false},
    {"tile.view_scatter", Opcode::ViewScatter, false},
};

template <typename E, size_t N>
const Named<E>* find(const Named<E> (&table)[N], std::string_view name) {
  for (const auto& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

// An enum attribute: by keyword, or by its integer value in table order starting at `first`.
template <typename E, size_t N>
const E* keyword(const Named<E> (&table)[N], const Operation& op, std::string_view key, int64_t first) {
  ir::Attribute attribute = op.attribute(key);
  if (!attribute) return nullptr;
  if (auto value = attribute.asInteger()) {
    int64_t index = *value - first;
    return index >= 0 && index < static_cast<int64_t>(N) ? &table[index].value : nullptr;
  }
  const auto* row = find(table, attribute.asString());
  return row ? &row->value : nullptr;
}

int axisOf(const Operation& op) {
  ir::Attribute attribute = op.attribute("axis");
  if (!attribute) return 0;
  if (auto value = attribute.asInteger()) return static_cast<int>(*value);
  std::string_view name = attribute.asString();
  return name == "y" ? 1 : name == "z" ? 2 : 0;
}

ElementKind resultKind(const Operation& op) {
  return op.results.empty() ? ElementKind::Invalid : op.result()->type.elementType().elementKind();
}
ElementKind operandKind(const Operation& op, unsigned i) {
  return op.operands[i]->type.elementType().elementKind();
}

int64_t checkedDims(const Operation& op, int rank) {
  if (op.string("oob") == "error") return 0;
  ir::Attribute check = op.attribute("boundaryCheck");
  if (!check) return (int64_t{1} << rank) - 1;
  int64_t bits = 0;
  for (int64_t d : check->integers) bits |= int64_t{1} << d;
  return bits;
}

int64_t elements(const Operation& op, unsigned i) { return op.operands[i]->type.numElements(); }

std::string badDot(const Operation& op) {
  const auto &a = op.operands[0]->type.shape(), &b = op.operands[1]->type.shape(), &d = op.result()->type.shape();
  size_t rank = a.size();
  bool good = (rank == 2 || rank == 3) && b.size() == rank && d.size() == rank &&
              op.operands[2]->type.shape() == d && a[rank - 1] == b[rank - 2] && d[rank - 2] == a[rank - 2] &&
              d[rank - 1] == b[rank - 1] && (rank == 2 || (a[0] == b[0] && a[0] == d[0]));
  return good ? std::string() : "a tt.dot whose shapes do not fit cannot be executed";
}

// Operations whose shapes the tables do not tie together: the executor relies on what is checked here.
std::string badShapes(const Operation& op) {
  std::string_view name = op.name;
  if (name == "tile.concat" && elements(op, 0) + elements(op, 1) != op.result()->type.numElements())
    return "a tt.cat whose shapes do not fit cannot be executed";
  if (name == "tile.take" && (op.operands.size() != 2 || op.operands[1]->type.shape() != op.result()->type.shape() ||
                              op.operands[0]->type.shape().size() != op.result()->type.shape().size()))
    return "a tt.gather whose shapes do not fit cannot be executed";
  if (name == "tile.reduce" || name == "tile.scan") {
    size_t count = op.operands.size();
    bool good = count > 0 && op.results.size() == count && op.regions.size() == 1 && !op.regions[0]->empty() &&
                op.regions[0]->blocks.size() == 1 && op.regions[0]->blocks[0]->arguments.size() == 2 * count &&
                !op.regions[0]->blocks[0]->operations.empty() &&
                op.regions[0]->blocks[0]->operations.back()->operands.size() == count;
    for (size_t i = 0; good && i < count; ++i) good = op.operands[i]->type.shape() == op.operands[0]->type.shape();
    if (!good) return std::string(name) + " whose combine function does not fit cannot be executed";
    return {};
  }
  if (!name.starts_with("tile.view")) return {};
  constexpr std::string_view bad = "an access through a tensor descriptor whose shapes do not fit cannot be executed";
  ir::Type view = name == "tile.view" ? op.result()->type : op.operands[0]->type;
  if (view.kind() != ir::TypeKind::View) return std::string(bad);
  size_t rank = view->shape.size(), count = op.operands.size();
  int64_t block = 1;
  for (int64_t d : view->shape) {
    if (d <= 0 || d > (int64_t{1} << 24) / block) return std::string(bad);
    block *= d;
  }
  // Descriptors spell the sign of integers, tiles do not.
  ElementKind kind = view->inner.elementKind();
  auto holds = [&](ir::Type tile) { return tile.numElements() == block && tile.elementKind() == kind; };
  bool good = true;
  if (name == "tile.view")
    good = (count == 1 + 2 * rank || count == 1 + 3 * rank) && op.operands[0]->type.isPointer() &&
           op.operands[0]->type->inner.elementKind() == kind;
  else if (name == "tile.view_advance") good = count == 1 + rank && op.result()->type == view;
  else if (name == "tile.view_load") good = (count == 1 || count == 1 + rank) && holds(op.result()->type);
  else if (name == "tile.view_store") good = (count == 2 || count == 2 + rank) && holds(op.operands[1]->type);
  else if (name == "tile.view_gather" || name == "tile.view_scatter") {
    bool gather = name == "tile.view_gather";
    good = rank == 2 && count == (gather ? 3u : 4u);
    if (good) {
      ir::Type tile = gather ? op.result()->type : op.operands[3]->type;
      good = tile.shape().size() == 2 && tile.shape()[0] == elements(op, 1) && tile.elementKind() == kind;
    }
  }
  return good ? std::string() : std::string(bad);
}

}  // namespace

std::optional<Class> classify(const Operation& op) {
  std::string_view name = op.name;
  if (name.starts_with("scf.") || name.starts_with("cf.") || name == "tile.call" ||
      name == "tile.return" || name == "tile.func" || name == "tile.yield")
    return std::nullopt;
  auto as = [](auto value) { return static_cast<uint8_t>(value); };
  Class unsupported{Opcode::Unsupported, 0, 0, 0, false};
  if (!cannotExecute(op).empty()) return unsupported;
  if (const auto* row = find(kBinary, name)) return Class{Opcode::Binary, as(row->value)};
  if (const auto* row = find(kUnary, name)) return Class{Opcode::Unary, as(row->value)};
  if (const auto* row = find(kCast, name))
    return Class{Opcode::Cast, as(row->value), as(resultKind(op))};
  for (const Plain& plain : kPlain)
    if (plain.name == name) return Class{plain.op, 0, 0, 0, plain.pure};
  if (name == "tile.program_id") return Class{Opcode::ProgramId, 0, 0, axisOf(op)};
  if (name == "tile.num_programs") return Class{Opcode::NumPrograms, 0, 0, axisOf(op)};
  if (name == "tile.iota") return Class{Opcode::Iota, 0, 0, op.integer("start")};
  if (name == "tile.ptr_add") {
    ir::Type pointee = op.result()->type.elementType()->inner;
    uint32_t bytes = ir::elementBytes(pointee.elementKind());
    return Class{Opcode::PtrAdd, 0, 0, bytes};
  }
  if (name == "tile.convert") {
    ElementKind from = operandKind(op, 0), to = resultKind(op);
    bool widen = ir::elementBytes(to) > ir::elementBytes(from);
    ir::Attribute rounding = op.attribute("rounding");
    bool zero = rounding && (rounding.asString() == "rtz" || rounding.asInteger() == 0);
    CastOp cast = widen ? CastOp::FPExt : zero ? CastOp::FPTruncRtz : CastOp::FPTruncRtne;
    return Class{Opcode::Cast, as(cast), as(to)};
  }
  if (name == "arith.cmpi") return Class{Opcode::CompareI, as(*keyword(kCmpI, op, "predicate", 0))};
  if (name == "arith.cmpf") return Class{Opcode::CompareF, as(*keyword(kCmpF, op, "predicate", 0))};
  if (name == "tile.clampf") {
    ir::Attribute nan = op.attribute("propagateNan");
    bool all = nan && (nan.asString() == "all" || nan.asInteger().value_or(0) != 0);
    return Class{Opcode::ClampF, 0, as(all)};
  }
  if (name == "tile.load") {
    uint8_t flag = (op.operands.size() > 1 ? 1 : 0) | (op.operands.size() > 2 ? 2 : 0);
    return Class{Opcode::Load, 0, flag, 0, false};
  }
  if (name == "tile.store") return Class{Opcode::Store, 0, as(op.operands.size() > 2), 0, false};
  if (name == "tile.atomic_rmw")
    return Class{Opcode::AtomicRmw, as(*keyword(kRmw, op, "atomic_rmw_op", 1)), as(op.operands.size() > 2), 0, false};
  if (name == "tile.dot") {
    std::string_view precision = op.string("inputPrecision");
    bool f32 = operandKind(op, 0) == ElementKind::F32;
    DotPrecision p = f32 && precision == "tf32" ? DotPrecision::Tf32 : DotPrecision::Ieee;
    return Class{Opcode::Dot, as(p)};
  }
  if (name == "tile.reduce") return Class{Opcode::Reduce, 0, 0, op.integer("axis")};
  if (name == "tile.scan") return Class{Opcode::Scan, 0, as(op.integer("reverse")), op.integer("axis")};
  if (name == "tile.extern") return Class{Opcode::Unary, as(find(kLibdevice, op.string("symbol"))->value)};
  if (name == "tile.view") {
    size_t rank = op.result()->type->shape.size();
    bool block = op.operands.size() > 1 + 2 * rank;
    ir::Attribute padding = op.attribute("padding");
    bool nan = padding && (padding.asInteger().value_or(1) == 2 || padding.asString() == "nan");
    return Class{Opcode::View, 0, as((block ? 1 : 0) | (nan ? 2 : 0)),
                 static_cast<int64_t>(rank)};
  }
  if (name == "tile.view_load" || name == "tile.view_store") {
    int rank = static_cast<int>(op.operands[0]->type->shape.size());
    ir::Attribute padding = op.attribute("padding");
    int64_t pad = padding ? padding.asInteger().value_or(padding.asString() == "nan" ? 2 : 1) : 0;
    uint8_t flag = (pad == 2 ? 2 : 0) | (pad ? 4 : 0);
    return Class{name == "tile.view_load" ? Opcode::ViewLoad : Opcode::ViewStore, 0, flag, checkedDims(op, rank), false};
  }
  if (name == "tile.view_reduce")
    return Class{Opcode::ViewReduce, as(*keyword(kRmw, op, "kind", 1)), 0, 0, false};
  if (name == "tile.histogram") return Class{Opcode::Histogram, 0, as(op.operands.size() > 1)};
  if (name == "tile.take") return Class{Opcode::Take, 0, 0, op.integer("axis")};
  return unsupported;
}

std::string cannotExecute(const Operation& op) {
  std::string_view name = op.name;
  if (name == "tile.opaque") return std::string(op.string("name")) + " cannot be executed yet";
  if (name == "tile.dot_scaled") return "tt.dot_scaled cannot be executed yet";
  if (name == "tile.map") return "tt.map_elementwise cannot be executed yet";
  if (name == "tile.view_reduce") return "tt.descriptor_reduce cannot be executed yet";
  if (name == "tile.inline_asm") {
    return fmt::format("inline assembly cannot be executed: {}", op.string("asm_string"));
  }
  if (name == "tile.extern") {
    std::string_view symbol = op.string("symbol");
    if (op.operands.size() == 1 && find(kLibdevice, symbol)) return {};
    return fmt::format("extern function {} cannot be executed yet", symbol);
  }
  if (name == "tile.dot") {
    std::string_view precision = op.string("inputPrecision");
    if (std::string reason = badDot(op); !reason.empty()) return reason;
    if (!precision.empty() && precision != "ieee" && precision != "tf32")
      return fmt::format("tt.dot with inputPrecision = {} cannot be executed yet", precision);
    return {};
  }
  if (name == "tile.atomic_rmw" && !keyword(kRmw, op, "atomic_rmw_op", 1))
    return "this kind of tt.atomic_rmw cannot be executed";
  if (name == "arith.cmpi" && !keyword(kCmpI, op, "predicate", 0)) return "arith.cmpi without a known predicate";
  if (name == "arith.cmpf" && !keyword(kCmpF, op, "predicate", 0)) return "arith.cmpf without a known predicate";
  if (name == "tile.ptr_add") {
    ir::Type pointer = op.results.empty() ? ir::Type{} : op.result()->type.elementType();
    if (!pointer.isPointer() || ir::elementBytes(pointer->inner.elementKind()) == 0)
      return "pointer arithmetic on elements without a size in bytes cannot be executed";
    return {};
  }
  if (std::string reason = badShapes(op); !reason.empty()) return reason;
  if (name == "tile.reduce" || name == "tile.scan" || name == "tile.take") {
    int64_t axis = op.integer("axis");
    if (op.operands.empty() || axis < 0 || axis >= static_cast<int64_t>(op.operands[0]->type.shape().size()))
      return std::string(name) + " with an axis the tile does not have";
  }
  if (name == "tile.permute") {
    ir::Attribute order = op.attribute("order");
    size_t rank = op.operands.empty() ? 0 : op.operands[0]->type.shape().size();
    std::vector<bool> seen(rank, false);
    bool good = order && order->integers.size() == rank;
    for (size_t d = 0; good && d < rank; ++d) {
      int64_t at = order->integers[d];
      good = at >= 0 && at < static_cast<int64_t>(rank) && !seen[at];
      if (good) seen[at] = true;
    }
    if (!good) return "a transposition whose order is no permutation cannot be executed";
  }
  if ((name == "tile.reduce" || name == "tile.scan") && op.regions.size() == 1) {
    std::string reason;
    for (auto& block : op.regions[0]->blocks)
      for (auto& nested : block->operations)
        if (nested->name.starts_with("scf.") || nested->name.starts_with("cf."))
          reason = "control flow inside a combine function cannot be executed yet";
    return reason;
  }
  static constexpr std::string_view kHandled[] = {
      "tile.program_id", "tile.num_programs", "tile.iota", "tile.convert", "tile.clampf", "tile.load",
      "tile.store", "tile.view", "tile.view_load", "tile.view_store", "tile.histogram", "tile.take"};
  for (std::string_view handled : kHandled)
    if (handled == name) return {};
  if (name == "arith.cmpi" || name == "arith.cmpf" || name == "tile.atomic_rmw" || name == "tile.reduce" ||
      name == "tile.scan" || find(kBinary, name) || find(kUnary, name) || find(kCast, name))
    return {};
  for (const Plain& plain : kPlain)
    if (plain.name == name) return {};
  if (name.starts_with("scf.") || name.starts_with("cf.")) {
    static constexpr std::string_view kControl[] = {"scf.for", "scf.if", "scf.while", "scf.yield",
                                                    "scf.condition", "cf.br", "cf.cond_br"};
    for (std::string_view control : kControl)
      if (control == name) return {};
  }
  if (name == "tile.call" || name == "tile.return" || name == "tile.func" || name == "tile.yield") return {};
  return std::string(name) + " cannot be executed yet";
}

}  // namespace tilesight::plan
