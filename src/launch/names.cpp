#include "launch/names.h"

#include <utility>

namespace tilesight::launch {

std::optional<ir::ElementKind> elementNamed(std::string_view name) {
  constexpr auto last = static_cast<uint8_t>(ir::ElementKind::Pointer);
  for (uint8_t i = 1; i <= last; ++i) {
    const auto kind = static_cast<ir::ElementKind>(i);
    if (name == ir::elementName(kind)) return kind;
  }
  return std::nullopt;
}

std::optional<ir::ElementKind> elementOfDtype(std::string_view dtype) {
  using enum ir::ElementKind;
  // The names that numpy, ml_dtypes, torch and Triton give to what a kernel can be handed.
  static constexpr std::pair<std::string_view, ir::ElementKind> names[] = {
      {"bool", I1}, {"int1", I1}, {"uint1", I1}, {"u1", I1},
      {"int8", I8}, {"uint8", I8}, {"u8", I8}, {"int16", I16}, {"uint16", I16}, {"u16", I16},
      {"int", I32}, {"int32", I32}, {"uint32", I32}, {"u32", I32},
      {"int64", I64}, {"uint64", I64}, {"u64", I64},
      {"half", F16}, {"float16", F16}, {"fp16", F16}, {"bfloat16", BF16},
      {"float", F32}, {"float32", F32}, {"fp32", F32}, {"double", F64}, {"float64", F64}, {"fp64", F64},
      {"float8_e4m3fn", F8E4M3FN}, {"float8e4nv", F8E4M3FN}, {"fp8e4nv", F8E4M3FN},
      {"float8_e5m2", F8E5M2}, {"float8e5", F8E5M2}, {"fp8e5", F8E5M2},
      {"float8_e4m3fnuz", F8E4M3FNUZ}, {"float8e4b8", F8E4M3FNUZ}, {"fp8e4b8", F8E4M3FNUZ},
      {"float8_e5m2fnuz", F8E5M2FNUZ}, {"float8e5b16", F8E5M2FNUZ}, {"fp8e5b16", F8E5M2FNUZ},
      {"float8e4b15", I8}, {"fp8e4b15", I8}, {"void", I8}};
  for (const auto& [name, element] : names)
    if (name == dtype) return element;
  return elementNamed(dtype);
}

const char* argumentKindName(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::Tensor: return "tensor";
    case Argument::Kind::Scalar: return "scalar";
    case Argument::Kind::Descriptor: return "descriptor";
    case Argument::Kind::Specialized: return "specialized";
  }
  return "scalar";
}

std::optional<Argument::Kind> argumentKindNamed(std::string_view name) {
  for (auto kind : {Argument::Kind::Tensor, Argument::Kind::Scalar, Argument::Kind::Descriptor,
                    Argument::Kind::Specialized})
    if (name == argumentKindName(kind)) return kind;
  return std::nullopt;
}

}  // namespace tilesight::launch
