#include "launch/names.h"

namespace tilesight::launch {

std::optional<ir::ElementKind> elementNamed(std::string_view name) {
  constexpr auto last = static_cast<uint8_t>(ir::ElementKind::Pointer);
  for (uint8_t i = 1; i <= last; ++i) {
    const auto kind = static_cast<ir::ElementKind>(i);
    if (name == ir::elementName(kind)) return kind;
  }
  return std::nullopt;
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
