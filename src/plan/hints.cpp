#include "plan/hints.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>

namespace tilesight::plan {

namespace {

using ir::Operation;

// `dense<16> : tensor<1xi32>`, one number an axis.
std::vector<int64_t> numbers(ir::Attribute attribute) {
  std::vector<int64_t> result;
  if (!attribute || attribute.kind() != ir::AttributeKind::DenseElements) return result;
  uint32_t bytes = ir::denseElementBytes(attribute->type.elementType());
  if (bytes != 4 && bytes != 8) return result;
  int64_t count = attribute->type.numElements();
  if (count < 1 || count > 16) return result;
  for (int64_t i = 0; i < count; ++i) {
    size_t at = attribute->splat ? 0 : static_cast<size_t>(i) * bytes;
    if (at + bytes > attribute->data.size()) return {};
    int64_t wide = 0;
    int32_t narrow = 0;
    if (bytes == 8) std::memcpy(&wide, attribute->data.data() + at, 8);
    else std::memcpy(&narrow, attribute->data.data() + at, 4), wide = narrow;
    result.push_back(wide);
  }
  return result;
}

std::optional<Hint> hintNamed(const Operation& op, ir::Type type, const std::string& suffix) {
  Hint hint{numbers(op.attribute("tt.divisibility" + suffix)), numbers(op.attribute("tt.contiguity" + suffix)),
            numbers(op.attribute("tt.constancy" + suffix))};
  ir::Type element = type.elementType();
  if (!element.isPointer() && !ir::isIntegerKind(element.elementKind())) return std::nullopt;
  size_t axes = std::max<size_t>(type.shape().size(), 1);
  for (auto* list : {&hint.divisibility, &hint.contiguity, &hint.constancy}) {
    bool useful = list->size() == axes && std::all_of(list->begin(), list->end(), [](int64_t n) { return n > 0; }) &&
                  std::any_of(list->begin(), list->end(), [](int64_t n) { return n > 1; });
    if (!useful) list->clear();
  }
  if (hint.divisibility.empty() && hint.contiguity.empty() && hint.constancy.empty()) return std::nullopt;
  return hint;
}

bool oneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The same value in all elements, as far as the defining operation tells.
bool isUniform(const ir::Value* value) {
  if (value->type.shape().empty()) return true;
  if (!value->owner) return false;
  if (oneOf(value->owner->name, {"arith.extsi", "arith.extui", "arith.trunci"}) && value->owner->operands.size() == 1)
    value = value->owner->operands[0];
  if (!value->owner) return false;
  if (ir::Attribute constant = value->owner->attribute("value"))
    return value->owner->name == "arith.constant" && constant.kind() == ir::AttributeKind::DenseElements && constant->splat;
  return value->owner->name == "tile.splat";
}

// Was the value led elsewhere (Hint::redirected), before conversions, changes of shape and sums with one number?
bool isRedirected(const Operation* op) {
  constexpr int kFar = 32;
  for (int steps = 0; op && steps < kFar; ++steps) {
    if (oneOf(op->name, {"arith.remsi", "arith.remui", "arith.select", "arith.minsi", "arith.minui", "arith.maxsi",
                         "arith.maxui"}))
      return true;
    const ir::Value* from = nullptr;
    if (oneOf(op->name, {"arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui", "tile.bitcast",
                         "tile.broadcast", "tile.reshape", "tile.permute"})) {
      if (op->operands.size() == 1) from = op->operands[0];
    } else if (oneOf(op->name, {"arith.addi", "arith.subi", "tile.ptr_add"}) && op->operands.size() == 2) {
      if (isUniform(op->operands[1])) from = op->operands[0];
      else if (isUniform(op->operands[0])) from = op->operands[1];
    }
    op = from ? from->owner : nullptr;
  }
  return false;
}

}  // namespace

std::optional<Hint> resultHint(const Operation& op) {
  if (op.results.size() != 1) return std::nullopt;
  std::optional<Hint> hint = hintNamed(op, op.result()->type, "");
  if (!hint) return hint;
  hint->redirected = isRedirected(&op);
  return hint;
}

std::optional<Hint> argumentHint(const Operation& loop, size_t index) {
  const auto& arguments = loop.regions.back()->blocks[0]->arguments;
  return hintNamed(loop, arguments[index]->type, "_arg" + std::to_string(index));
}

std::optional<Hint> parameterHint(const Operation& function, size_t index) {
  ir::Attribute all = function.attribute("arg_attrs");
  if (!all || index >= all->elements.size()) return std::nullopt;
  for (const auto& [key, value] : all->elements[index]->entries)
    if (key == "tt.divisibility" && value.asInteger().value_or(0) > 1) return Hint{{*value.asInteger()}, {}, {}};
  return std::nullopt;
}

}  // namespace tilesight::plan
