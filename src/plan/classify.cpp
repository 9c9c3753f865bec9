#include "plan/classify.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "exec/kernels/kernels.h"
#include "foreign/function.h"
#include "foreign/ptx.h"

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

constexpr Named<DotPrecision> kPrecision[] = {{"tf32", DotPrecision::Tf32},
                                              {"tf32x3", DotPrecision::Tf32x3},
                                              {"ieee", DotPrecision::Ieee},
                                              {"bf16x3", DotPrecision::Bf16x3},
                                              {"bf16x6", DotPrecision::Bf16x6}};
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

// What a tt.descriptor_reduce does to each element: signs are in the descriptor's type.
std::optional<RmwKind> viewReduceKind(const Operation& op) {
  static constexpr Named<RmwKind> kKinds[] = {{"add", RmwKind::Add}, {"min", RmwKind::Min}, {"max", RmwKind::Max},
                                              {"inc", RmwKind::Inc}, {"dec", RmwKind::Dec}, {"and", RmwKind::And},
                                              {"or", RmwKind::Or},   {"xor", RmwKind::Xor}};
  const RmwKind* kind = keyword(kKinds, op, "kind", 1);
  if (!kind) return std::nullopt;
  ir::Type element = op.operands[0]->type->inner;
  bool isFloat = ir::isFloatKind(element.elementKind());
  bool isUnsigned = element->signedness == ir::Signedness::Unsigned;
  switch (*kind) {
    case RmwKind::Add: return isFloat ? RmwKind::FAdd : RmwKind::Add;
    case RmwKind::Min: return isUnsigned ? RmwKind::UMin : RmwKind::Min;
    case RmwKind::Max: return isUnsigned ? RmwKind::UMax : RmwKind::Max;
    default: return isFloat ? std::nullopt : std::optional(*kind);
  }
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

// The table's row for a call, or null.
const foreign::Function* externFunction(const Operation& op) {
  std::vector<ElementKind> kinds;
  for (size_t i = 0; i < op.operands.size(); ++i) kinds.push_back(operandKind(op, static_cast<unsigned>(i)));
  const foreign::Function* function = foreign::find(op.string("symbol"), kinds);
  return function && op.results.size() == 1 && resultKind(op) == function->result ? function : nullptr;
}

std::string badExtern(const Operation& op) {
  bool same = !op.results.empty();
  for (auto* operand : op.operands) same = same && operand->type.shape() == op.result()->type.shape();
  if (same && externFunction(op)) return {};
  std::string_view symbol = op.string("symbol");
  if (!foreign::known(symbol)) return fmt::format("extern function {} cannot be executed yet", symbol);
  std::string types;
  for (size_t i = 0; i < op.operands.size(); ++i)
    types += std::string(i ? ", " : "") + ir::elementName(operandKind(op, static_cast<unsigned>(i)));
  return fmt::format("extern function {} on ({}) cannot be executed", symbol, types);
}

std::string badAssembly(const Operation& op) {
  auto ptx = foreign::Ptx::compile(op.string("asm_string"), op.string("constraints"));
  if (!ptx) return fmt::format("inline assembly cannot be executed: {}", ptx.error().message);
  int64_t pack = op.integer("packed_element", 1);
  int outputs = 0, inputs = 0;
  bool good = pack >= 1 && pack <= 64 && !op.results.empty();
  auto count = [&](ElementKind kind, int& registers) {
    good = good && ir::elementBytes(kind) > 0;
    if (!good) return;
    Packing p = packing(kind, pack);
    good = p.registers * p.perRegister == pack;
    registers += p.registers;
  };
  for (auto& result : op.results) {
    ElementKind kind = result->type.elementType().elementKind();
    good = good && kind != ElementKind::Pointer && result->type.shape() == op.results[0]->type.shape();
    count(kind, outputs);
  }
  for (size_t i = 0; i < op.operands.size(); ++i) {
    good = good && op.operands[i]->type.shape() == op.results[0]->type.shape();
    count(operandKind(op, static_cast<unsigned>(i)), inputs);
  }
  if (good && (*ptx)->outputs() == outputs && (*ptx)->inputs() == inputs) return {};
  return fmt::format("inline assembly whose constraints \"{}\" do not fit its operands cannot be executed", op.string("constraints"));
}

// The two matrices of a dot_scaled in elements, not bytes.
std::string badScaledDot(const Operation& op) {
  constexpr std::string_view bad = "a tt.dot_scaled whose shapes do not fit cannot be executed";
  const auto &a = op.operands[0]->type.shape(), &b = op.operands[1]->type.shape(), &d = op.result()->type.shape();
  size_t rank = d.size();
  if ((rank != 2 && rank != 3) || a.size() != rank || b.size() != rank || op.operands[2]->type.shape() != d)
    return std::string(bad);
  ScaledShape s = scaledShape(op);
  for (auto& side : s.sides) {
    if (side.format == ElementKind::Invalid)
      return fmt::format("tt.dot_scaled of {} cannot be executed yet", side.name);
    if (ir::elementBytes(side.format == ElementKind::F4E2M1FN ? ElementKind::I8 : side.format) != ir::elementBytes(side.stored))
      return std::string(bad);
    if (side.k != s.k || side.rows != side.expectedRows) return std::string(bad);
    if (side.scale && (side.scaleShape.size() != rank || side.scaleShape[rank - 2] != side.rows ||
                       side.scaleShape[rank - 1] <= 0 || s.k % side.scaleShape[rank - 1] != 0 ||
                       (rank == 3 && side.scaleShape[0] != d[0])))
      return std::string(bad);
    if (side.scale && ir::elementBytes(side.scaleKind) == 0) return std::string(bad);
  }
  if (rank == 3 && (a[0] != d[0] || b[0] != d[0])) return std::string(bad);
  return {};
}

// Functions of elements run on whole tiles, each scalar held as a tile: they know no tiles of their own, nor memory.
bool ofElements(const ir::Region& region) {
  auto scalar = [](const ir::Value* value) { return !value->type.isTensor(); };
  for (auto& block : region.blocks)
    for (auto& op : block->operations) {
      if (op->name == "tile.load" || op->name == "tile.store") return false;
      if (!std::all_of(op->operands.begin(), op->operands.end(), scalar)) return false;
      for (auto& result : op->results)
        if (!scalar(&*result)) return false;
      for (auto& inner : op->regions)
        if (!ofElements(*inner)) return false;
    }
  return true;
}

std::string badCombine(const Operation& op) {
  return op.regions.size() == 1 && ofElements(*op.regions[0])
             ? std::string()
             : fmt::format("a {} whose function uses tensors or memory cannot be executed", op.name == "tile.scan" ? "tt.scan" : "tt.reduce");
}

std::string badMap(const Operation& op) {
  if (op.regions.size() == 1 && !ofElements(*op.regions[0]))
    return "a tt.map_elementwise whose function uses tensors or memory cannot be executed";
  int64_t pack = op.integer("pack", 1);
  bool good = op.regions.size() == 1 && op.regions[0]->blocks.size() == 1 && !op.operands.empty() && pack >= 1 &&
              pack <= 1024 && !op.results.empty();
  if (good) {
    const auto& block = *op.regions[0]->blocks[0];
    good = block.arguments.size() == op.operands.size() * pack && !block.operations.empty() &&
           block.operations.back()->operands.size() == op.results.size() * pack &&
           op.operands[0]->type.numElements() % pack == 0;
    for (auto* operand : op.operands) good = good && operand->type.shape() == op.operands[0]->type.shape();
    for (auto& result : op.results) good = good && result->type.shape() == op.operands[0]->type.shape();
  }
  return good ? std::string() : "a tt.map_elementwise whose function does not fit cannot be executed";
}

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
  else if (name == "tile.view_reduce") good = (count == 2 || count == 2 + rank) && holds(op.operands[1]->type);
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

Packing packing(ElementKind kind, int64_t pack) {
  int64_t bits = 8 * ir::elementBytes(kind);
  int64_t each = std::min(std::max<int64_t>(32 / bits, 1), pack);
  return {static_cast<int>(each), static_cast<int>(pack / each)};
}

Extents extentsOf(const Operation& op) {
  const auto& from = op.operands[0]->type.shape();
  const auto& to = op.results[0]->type.shape();
  int64_t elements = 1;
  for (int64_t d : to) elements *= d;
  if (op.name == "tile.dot" || op.name == "tile.dot_scaled") {
    int64_t n = to.empty() ? 1 : to.back();
    int64_t k = op.name == "tile.dot_scaled" ? scaledShape(op).k : from.empty() ? 1 : from.back();
    return {n ? elements / n : 0, n, k};
  }
  auto axis = static_cast<size_t>(op.integer("axis"));
  return {elements, 1, axis < from.size() ? from[axis] : 1};
}

Order orderOf(const Operation& op) {
  static constexpr Named<uint32_t> kSem[] = {{"relaxed", 1}, {"acquire", 2}, {"release", 3}, {"acq_rel", 4}};
  static constexpr Named<uint32_t> kScope[] = {{"gpu", 1}, {"cta", 2}, {"sys", 3}};
  const uint32_t* sem = keyword(kSem, op, "sem", 1);
  const uint32_t* scope = keyword(kScope, op, "scope", 1);
  return {sem ? *sem : 1, scope ? *scope : 1};
}

ScaledShape scaledShape(const Operation& op) {
  static constexpr Named<ElementKind> kFormats[] = {
      {"e4m3", ElementKind::F8E4M3FN}, {"e5m2", ElementKind::F8E5M2}, {"e2m3", ElementKind::Invalid},
      {"e3m2", ElementKind::Invalid},  {"e2m1", ElementKind::F4E2M1FN}, {"bf16", ElementKind::BF16},
      {"fp16", ElementKind::F16}};
  ScaledShape s;
  const auto& d = op.result()->type.shape();
  const auto& segments = op.operandSegments;
  bool haveA = segments.size() == 5 ? segments[3] : op.operands.size() > 3;
  bool haveB = segments.size() == 5 ? segments[4] : op.operands.size() > 4;
  for (int i = 0; i < 2; ++i) {
    ScaledSide& side = s.sides[i];
    const auto& shape = op.operands[i]->type.shape();
    std::string_view key = i ? "b_elem_type" : "a_elem_type";
    const ElementKind* format = keyword(kFormats, op, key, 0);
    side.format = format ? *format : ElementKind::Invalid;
    for (const auto& row : kFormats)
      if (format == &row.value) side.name = row.name;
    side.stored = operandKind(op, static_cast<unsigned>(i));
    ir::Attribute pack = op.attribute(i ? "rhs_k_pack" : "lhs_k_pack");
    side.kPacked = !pack || pack.asInteger().value_or(1) != 0;
    size_t rank = shape.size();
    side.k = shape[i ? rank - 2 : rank - 1];
    side.rows = shape[i ? rank - 1 : rank - 2];
    if (side.format == ElementKind::F4E2M1FN) (side.kPacked ? side.k : side.rows) *= 2;
    side.expectedRows = d[i ? d.size() - 1 : d.size() - 2];
    bool have = i ? haveB : haveA;
    size_t at = 3 + (i && haveA ? 1 : 0);
    if (have && at < op.operands.size()) {
      side.scale = static_cast<int>(at);
      side.scaleShape = op.operands[at]->type.shape();
      side.scaleKind = operandKind(op, static_cast<unsigned>(at));
    }
  }
  s.k = s.sides[0].k;
  return s;
}

bool isDivision(BinaryOp op) {
  return op == BinaryOp::DivS || op == BinaryOp::DivU || op == BinaryOp::RemS || op == BinaryOp::RemU;
}
bool isShift(BinaryOp op) { return op == BinaryOp::Shl || op == BinaryOp::ShrS || op == BinaryOp::ShrU; }

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
    const auto* precision = keyword(kPrecision, op, "inputPrecision", 0);
    bool f32 = operandKind(op, 0) == ElementKind::F32 && operandKind(op, 1) == ElementKind::F32;
    return Class{Opcode::Dot, as(f32 && precision ? *precision : DotPrecision::Ieee)};
  }
  if (name == "tile.reduce") return Class{Opcode::Reduce, 0, 0, op.integer("axis")};
  if (name == "tile.scan") return Class{Opcode::Scan, 0, as(op.integer("reverse")), op.integer("axis")};
  if (name == "tile.extern") {
    const foreign::Function* function = externFunction(op);
    if (function->unary >= 0) return Class{Opcode::Unary, static_cast<uint8_t>(function->unary)};
    return Class{Opcode::Extern, 0, 0, function - foreign::all().data()};
  }
  if (name == "tile.inline_asm") return Class{Opcode::InlineAsm, 0, 0, op.integer("packed_element", 1), false};
  if (name == "tile.map") return Class{Opcode::Map, 0, 0, op.integer("pack", 1)};
  if (name == "tile.dot_scaled") return Class{Opcode::DotScaled};
  if (name == "tile.atomic_load") return Class{Opcode::AtomicLoad, 0, as(op.operands.size() > 1), 0, false};
  if (name == "tile.atomic_store") return Class{Opcode::AtomicStore, 0, as(op.operands.size() > 2), 0, false};
  if (name == "tile.atomic_poll") return Class{Opcode::AtomicPoll, 0, as(op.operands.size() > 2), 0, false};
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
  if (name == "tile.view_reduce") {
    int rank = static_cast<int>(op.operands[0]->type->shape.size());
    return Class{Opcode::ViewReduce, as(*viewReduceKind(op)), 0, (int64_t{1} << rank) - 1, false};
  }
  if (name == "tile.histogram") return Class{Opcode::Histogram, 0, as(op.operands.size() > 1)};
  if (name == "tile.take") return Class{Opcode::Take, 0, 0, op.integer("axis")};
  return unsupported;
}

std::string cannotExecute(const Operation& op) {
  std::string_view name = op.name;
  if (name == "tile.opaque") {
    const std::string_view reason = op.string("reason");
    return fmt::format("{} cannot be executed{}{}", op.string("name"), reason.empty() ? " yet" : ": ", reason);
  }
  if (name == "tile.dot_scaled") return badScaledDot(op);
  if (name == "tile.map") return badMap(op);
  if (name == "tile.reduce" || name == "tile.scan") return badCombine(op);
  if (name == "tile.inline_asm") return badAssembly(op);
  if (name == "tile.extern") return badExtern(op);
  if (name == "tile.dot") {
    if (std::string reason = badDot(op); !reason.empty()) return reason;
    if (op.attribute("inputPrecision") && !keyword(kPrecision, op, "inputPrecision", 0))
      return fmt::format("tt.dot with inputPrecision = {} cannot be executed yet", op.string("inputPrecision"));
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
  if (name == "tile.view_reduce") {
    if (viewReduceKind(op)) return {};
    ir::Attribute kind = op.attribute("kind");
    return fmt::format("tt.descriptor_reduce {} on {} cannot be executed", kind ? kind.asString() : "", op.operands[0]->type->inner.str());
  }
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
  static constexpr std::string_view kHandled[] = {
      "tile.program_id", "tile.num_programs", "tile.iota", "tile.convert", "tile.clampf", "tile.load",
      "tile.store", "tile.view", "tile.view_load", "tile.view_store", "tile.histogram", "tile.take",
      "tile.atomic_load", "tile.atomic_store", "tile.atomic_poll"};
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
