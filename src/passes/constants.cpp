#include "passes/constants.h"

#include <cstring>

namespace tilesight::passes {

int64_t wrapped(int64_t value, uint32_t width) {
  if (width == 0 || width >= 64) return value;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - width)) >> (64 - width);
}

uint32_t integerWidth(ir::Type type) {
  if (!type) return 0;
  const ir::Type element = type.elementType();
  if (element.kind() == ir::TypeKind::Index) return 64;
  return element.kind() == ir::TypeKind::Integer ? element->width : 0;
}

std::optional<int64_t> constantInteger(const ir::Value* value) {
  if (!value || !value->owner || value->owner->name != "arith.constant") return std::nullopt;
  const ir::Attribute constant = value->owner->attribute("value");
  const uint32_t width = integerWidth(value->type);
  if (!constant || !width || width > 64) return std::nullopt;
  // Booleans are 0 and 1, not 0 and -1.
  if (constant.kind() == ir::AttributeKind::Bool || constant.kind() == ir::AttributeKind::Integer)
    return width == 1 ? (constant->integer & 1) : wrapped(constant->integer, width);
  if (constant.kind() != ir::AttributeKind::DenseElements || !constant->splat) return std::nullopt;
  if (constant->data.empty() || constant->data.size() > 8) return std::nullopt;
  uint64_t bits = 0;
  std::memcpy(&bits, constant->data.data(), constant->data.size());
  return width == 1 ? static_cast<int64_t>(bits & 1) : wrapped(static_cast<int64_t>(bits), width);
}

std::optional<int64_t> splatInteger(const ir::Value* value) {
  while (value && value->owner) {
    if (auto constant = constantInteger(value)) return constant;
    const std::string& name = value->owner->name;
    const size_t dot = name.find('.');
    const std::string_view word = std::string_view(name).substr(dot + 1);
    if (word != "splat" && word != "broadcast" && word != "expand_dims" && word != "reshape" && word != "trans" &&
        word != "permute" && word != "convert_layout" && word != "unsplat")
      return std::nullopt;
    value = value->owner->operands[0];
  }
  return std::nullopt;
}

ir::Attribute integerConstant(ir::Context& context, ir::Type type, int64_t value) {
  const uint32_t width = integerWidth(type);
  if (!width || width > 64) return {};
  if (width == 1) value &= 1;
  else value = wrapped(value, width);
  if (!type.isTensor()) return context.integerAttr(value, type);
  const uint32_t bytes = ir::denseElementBytes(type.elementType());
  if (!bytes || bytes > 8) return {};
  std::string data(bytes, '\0');
  std::memcpy(data.data(), &value, bytes);
  return context.denseElements(type, std::move(data), true);
}

}  // namespace tilesight::passes
