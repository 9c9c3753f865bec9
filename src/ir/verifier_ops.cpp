#include "ir/verifier_ops.h"

#include <fmt/format.h>

#include "dialects/table.h"

namespace tilesight::ir {

namespace {

using Check = std::string (*)(const Operation&, const SymbolTable&);

std::vector<Type> typesOf(const std::vector<Value*>& values, size_t first = 0) {
  std::vector<Type> types;
  for (size_t i = first; i < values.size(); ++i) types.push_back(values[i]->type);
  return types;
}

std::vector<Type> typesOf(const std::vector<std::unique_ptr<Value>>& values, size_t first = 0) {
  std::vector<Type> types;
  for (size_t i = first; i < values.size(); ++i) types.push_back(values[i]->type);
  return types;
}

std::string listOf(const std::vector<Type>& types) {
  std::string text = "(";
  for (Type type : types) text += (text.size() > 1 ? ", " : "") + type.str();
  return text + ")";
}

/// "" if the lists agree; results of opaque operations have no type and agree with any.
std::string agree(const std::vector<Type>& found, const std::vector<Type>& wanted, std::string_view what) {
  bool same = found.size() == wanted.size();
  for (size_t i = 0; same && i < found.size(); ++i) same = !found[i] || !wanted[i] || found[i] == wanted[i];
  return same ? "" : fmt::format("{} are {}, expected {}", what, listOf(found), listOf(wanted));
}

const Operation* terminatorOf(const Region& region) {
  if (region.empty() || region.blocks.back()->operations.empty()) return nullptr;
  return region.blocks.back()->operations.back().get();
}

// --- functions

/// One dictionary for each argument or result.
std::string dictionaries(const Operation& op, std::string_view key, size_t count) {
  const Attribute list = op.attribute(key);
  if (!list) return "";
  bool fits = list->elements.size() == count;
  for (Attribute element : list->elements) fits = fits && element.kind() == AttributeKind::Dictionary;
  return fits ? "" : fmt::format("{} must have a dictionary for each of {} types", key, count);
}

std::string function(const Operation& op, const SymbolTable&) {
  const Type type = op.attribute("function_type")->type;
  if (type.kind() != TypeKind::Function) return "function_type must be a function type";
  if (op.attribute("sym_visibility")) {
    const std::string_view visibility = op.string("sym_visibility");
    if (visibility != "public" && visibility != "private" && visibility != "nested")
      return fmt::format("sym_visibility cannot be \"{}\"", visibility);
  }
  if (std::string wrong = dictionaries(op, "arg_attrs", type->inputs.size()); !wrong.empty()) return wrong;
  if (std::string wrong = dictionaries(op, "res_attrs", type->results.size()); !wrong.empty()) return wrong;
  if (op.regions[0]->empty()) return "";  // a declaration
  return agree(typesOf(op.regions[0]->blocks[0]->arguments), type->inputs, "the arguments of the entry block");
}

std::string returns(const Operation& op, const SymbolTable&) {
  const Attribute type = op.parentOp()->attribute("function_type");
  if (!type || type.kind() != AttributeKind::TypeValue || type->type.kind() != TypeKind::Function) return "";
  return agree(typesOf(op.operands), type->type->results, "the returned values");
}

std::string call(const Operation& op, const SymbolTable& symbols) {
  auto found = symbols.find(op.string("callee"));
  if (found == symbols.end()) return fmt::format("there is no function '@{}'", op.string("callee"));
  const Attribute type = found->second->attribute("function_type");
  if (!type || type.kind() != AttributeKind::TypeValue || type->type.kind() != TypeKind::Function) return "";
  std::string wrong = agree(typesOf(op.operands), type->type->inputs, "the arguments");
  return wrong.empty() ? agree(typesOf(op.results), type->type->results, "the results") : wrong;
}

std::string moduleOp(const Operation& op, const SymbolTable&) {
  const bool plain = op.regions[0]->blocks.size() <= 1 && (op.regions[0]->empty() || op.regions[0]->blocks[0]->arguments.empty());
  return plain ? "" : "its region must be one block without arguments";
}

std::string constant(const Operation& op, const SymbolTable&) {
  const Attribute value = op.attribute("value");
  switch (value.kind()) {
    case AttributeKind::Opaque: return "";  // of a type that is not modelled
    case AttributeKind::Bool:
    case AttributeKind::Integer:
    case AttributeKind::Float:
    case AttributeKind::DenseElements: break;
    default: return "the value must be a number, or data of a tensor";
  }
  if (value->type == op.result()->type) return "";
  return fmt::format("the value {} does not have type {}", value.str(), op.result()->type.str());
}

// --- shapes

/// The shape of a tensor, or nothing to judge.
const std::vector<int64_t>* shapeOf(const Value* value) {
  return value->type && value->type.isTensor() ? &value->type.shape() : nullptr;
}

std::string expandDims(const Operation& op, const SymbolTable&) {
  const auto *from = shapeOf(op.operands[0]), *to = shapeOf(op.result());
  if (!from || !to) return "";
  const int64_t axis = op.integer("axis");
  if (axis < 0 || axis > static_cast<int64_t>(from->size())) return fmt::format("axis {} is out of range", axis);
  std::vector<int64_t> wanted = *from;
  wanted.insert(wanted.begin() + axis, 1);
  return *to == wanted ? "" : "the result must be the source with an extent of 1 at the axis";
}

std::string broadcast(const Operation& op, const SymbolTable&) {
  const auto *from = shapeOf(op.operands[0]), *to = shapeOf(op.result());
  if (!from || !to) return "";
  bool fits = from->size() == to->size();
  for (size_t i = 0; fits && i < from->size(); ++i) fits = (*from)[i] == (*to)[i] || (*from)[i] == 1;
  return fits ? "" : fmt::format("{} does not broadcast to {}", op.operands[0]->type.str(), op.result()->type.str());
}

std::string permute(const Operation& op, const SymbolTable&) {
  const auto *from = shapeOf(op.operands[0]), *to = shapeOf(op.result());
  if (!from || !to) return "";
  const std::vector<int64_t>& order = op.attribute("order")->integers;
  std::vector<bool> seen(from->size());
  bool fits = order.size() == from->size() && to->size() == from->size();
  for (size_t i = 0; fits && i < order.size(); ++i) {
    fits = order[i] >= 0 && order[i] < static_cast<int64_t>(from->size()) && !seen[order[i]] && (*to)[i] == (*from)[order[i]];
    if (fits) seen[order[i]] = true;
  }
  return fits ? "" : "order must be a permutation of the axes that gives the result's shape";
}

std::string join(const Operation& op, const SymbolTable&) {
  const auto *from = shapeOf(op.operands[0]), *to = shapeOf(op.result());
  if (!from || !to) return "";
  std::vector<int64_t> wanted = *from;
  wanted.push_back(2);
  return *to == wanted ? "" : "the result must have a last extent of 2 more than the operands";
}

std::string split(const Operation& op, const SymbolTable&) {
  const auto* from = shapeOf(op.operands[0]);
  if (!from || from->empty() || from->back() != 2) return "the last extent of the source must be 2";
  return std::vector<int64_t>(from->begin(), from->end() - 1) == op.result()->type.shape()
             ? "" : "the results must be the source without its last extent";
}

std::string makeRange(const Operation& op, const SymbolTable&) {
  const auto* shape = shapeOf(op.result());
  const int64_t length = op.integer("end") - op.integer("start");
  if (!shape || shape->size() != 1 || (*shape)[0] != length) return fmt::format("the result must have {} elements", length);
  return "";
}

std::string dot(const Operation& op, const SymbolTable&) {
  const auto *a = shapeOf(op.operands[0]), *b = shapeOf(op.operands[1]), *d = shapeOf(op.result());
  if (!a || !b || !d) return "";
  const size_t rank = d->size();
  if ((rank != 2 && rank != 3) || a->size() != rank || b->size() != rank) return "operands must be 2-D or 3-D";
  const bool fits = (*a)[rank - 1] == (*b)[rank - 2] && (*d)[rank - 2] == (*a)[rank - 2] && (*d)[rank - 1] == (*b)[rank - 1] &&
                    (rank == 2 || ((*a)[0] == (*b)[0] && (*a)[0] == (*d)[0]));
  return fits ? "" : fmt::format("shapes of {} * {} -> {} do not fit", op.operands[0]->type.str(), op.operands[1]->type.str(), op.result()->type.str());
}

std::string gather(const Operation& op, const SymbolTable&) {
  const auto *from = shapeOf(op.operands[0]), *indices = shapeOf(op.operands[1]);
  if (!from || !indices) return "";
  if (from->size() != indices->size()) return "source and indices must have the same rank";
  const int64_t axis = op.integer("axis");
  return axis >= 0 && axis < static_cast<int64_t>(from->size()) ? "" : fmt::format("axis {} is out of range", axis);
}

// --- casts

uint32_t widthOf(Type type) {
  const Type element = type.elementType();
  if (element.kind() == TypeKind::Index || element.kind() == TypeKind::Pointer) return 64;
  return element.kind() == TypeKind::Integer || element.kind() == TypeKind::Float ? element->width : 0;
}

std::string widening(const Operation& op, const SymbolTable&) {
  const uint32_t from = widthOf(op.operands[0]->type), to = widthOf(op.result()->type);
  return !from || !to || to > from ? "" : fmt::format("{} is not wider than {}", op.result()->type.str(), op.operands[0]->type.str());
}

std::string narrowing(const Operation& op, const SymbolTable&) {
  const uint32_t from = widthOf(op.operands[0]->type), to = widthOf(op.result()->type);
  return !from || !to || to < from ? "" : fmt::format("{} is not narrower than {}", op.result()->type.str(), op.operands[0]->type.str());
}

std::string sameWidth(const Operation& op, const SymbolTable&) {
  const uint32_t from = widthOf(op.operands[0]->type), to = widthOf(op.result()->type);
  return !from || !to || to == from ? "" : fmt::format("{} and {} differ in width", op.operands[0]->type.str(), op.result()->type.str());
}

// --- loops and regions

std::string forLoop(const Operation& op, const SymbolTable&) {
  if (op.regions[0]->empty()) return "the body is missing";
  const Block& body = *op.regions[0]->blocks[0];
  const std::vector<Type> carried = typesOf(op.operands, 3);
  std::vector<Type> arguments = carried;
  arguments.insert(arguments.begin(), op.operands[0]->type);
  std::string wrong = agree(typesOf(body.arguments), arguments, "the arguments of the body");
  if (wrong.empty()) wrong = agree(typesOf(op.results), carried, "the results");
  const Operation* last = terminatorOf(*op.regions[0]);
  if (wrong.empty() && last && last->name == "scf.yield") wrong = agree(typesOf(last->operands), carried, "the yielded values");
  return wrong;
}

std::string ifOp(const Operation& op, const SymbolTable&) {
  if (op.regions[0]->empty()) return "the first region is missing";
  if (!op.results.empty() && op.regions[1]->empty()) return "a result needs an else";
  for (const auto& region : op.regions) {
    if (region->empty()) continue;
    if (!region->blocks[0]->arguments.empty()) return "its regions take no arguments";
    const Operation* last = terminatorOf(*region);
    if (!last || last->name != "scf.yield") continue;
    if (std::string wrong = agree(typesOf(last->operands), typesOf(op.results), "the yielded values"); !wrong.empty()) return wrong;
  }
  return "";
}

std::string whileLoop(const Operation& op, const SymbolTable&) {
  if (op.regions[0]->empty() || op.regions[1]->empty()) return "a region is missing";
  std::string wrong = agree(typesOf(op.regions[0]->blocks[0]->arguments), typesOf(op.operands), "the arguments of the first region");
  if (wrong.empty()) wrong = agree(typesOf(op.regions[1]->blocks[0]->arguments), typesOf(op.results), "the arguments of the second region");
  const Operation* condition = terminatorOf(*op.regions[0]);
  const Operation* yield = terminatorOf(*op.regions[1]);
  if (wrong.empty() && condition) {
    if (condition->name == "scf.condition") wrong = agree(typesOf(condition->operands, 1), typesOf(op.results), "the values of 'scf.condition'");
    else if (condition->info) wrong = "the first region must end with 'scf.condition'";
  }
  if (wrong.empty() && yield) {
    if (yield->name == "scf.yield") wrong = agree(typesOf(yield->operands), typesOf(op.operands), "the yielded values");
    else if (yield->info) wrong = "the second region must end with 'scf.yield'";
  }
  return wrong;
}

/// Reductions and scans: a region of 2n scalars that yields n.
std::string combining(const Operation& op, bool keepsShape) {
  if (op.operands.empty()) return "there is nothing to combine";
  const int64_t axis = op.integer("axis");
  std::vector<Type> elements, results;
  for (const Value* value : op.operands) {
    if (!value->type || !value->type.isTensor()) return "";
    if (value->type.shape() != op.operands[0]->type.shape()) return "the operands must have the same shape";
    elements.push_back(value->type.elementType());
  }
  const std::vector<int64_t>& shape = op.operands[0]->type.shape();
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return fmt::format("axis {} is out of range", axis);
  if (op.results.size() != elements.size()) return fmt::format("{} results for {} operands", op.results.size(), elements.size());
  std::vector<int64_t> reduced = shape;
  if (!keepsShape) reduced.erase(reduced.begin() + axis);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Type type = op.results[i]->type;
    if (type.elementType() != elements[i] || type.shape() != reduced || (reduced.empty() && type.isTensor()))
      return fmt::format("result {} has type {}, which does not follow from {}", i, type.str(), op.operands[i]->type.str());
  }
  if (op.regions[0]->empty()) return "the region is missing";
  std::vector<Type> arguments = elements;
  arguments.insert(arguments.end(), elements.begin(), elements.end());
  std::string wrong = agree(typesOf(op.regions[0]->blocks[0]->arguments), arguments, "the arguments of the region");
  const Operation* last = terminatorOf(*op.regions[0]);
  if (wrong.empty() && last && last->info) wrong = agree(typesOf(last->operands), elements, "the combined values");
  return wrong;
}

std::string reduce(const Operation& op, const SymbolTable&) { return combining(op, false); }
std::string scan(const Operation& op, const SymbolTable&) { return combining(op, true); }

}  // namespace

std::string verifyOperation(const Operation& op, const SymbolTable& symbols) {
  static const std::unordered_map<std::string_view, Check> checks = {
      {"builtin.module", moduleOp}, {"tt.func", function},        {"tile.func", function},      {"tt.return", returns},
      {"tile.return", returns},     {"tt.call", call},            {"tile.call", call},
      {"arith.constant", constant}, {"tt.expand_dims", expandDims}, {"tt.broadcast", broadcast},
      {"tile.broadcast", broadcast}, {"tt.trans", permute},       {"tile.permute", permute},
      {"tt.join", join},            {"tile.join", join},          {"tt.split", split},
      {"tile.split", split},        {"tt.make_range", makeRange}, {"tt.dot", dot},
      {"tile.dot", dot},            {"tt.gather", gather},        {"tile.take", gather},
      {"arith.extsi", widening},    {"arith.extui", widening},    {"arith.extf", widening},
      {"arith.trunci", narrowing},  {"arith.truncf", narrowing},  {"arith.bitcast", sameWidth},
      {"tt.bitcast", sameWidth},    {"tile.bitcast", sameWidth},  {"scf.for", forLoop},
      {"scf.if", ifOp},             {"scf.while", whileLoop},     {"tt.reduce", reduce},
      {"tile.reduce", reduce},      {"tt.scan", scan},            {"tile.scan", scan}};
  auto found = checks.find(op.name);
  // Returns look at their function, which the parents of their row guarantee but for opaque ones.
  if (found == checks.end() || (found->second == returns && !op.parentOp())) return "";
  return found->second(op, symbols);
}

}  // namespace tilesight::ir
