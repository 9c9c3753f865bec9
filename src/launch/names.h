// How bundles spell element kinds and argument kinds.
#pragma once

#include <optional>
#include <string_view>

#include "launch/launch.h"

namespace tilesight::launch {

/// "f32" -> F32: the inverse of ir::elementName.
std::optional<ir::ElementKind> elementNamed(std::string_view name);
/// The elements of a tensor of the program's dtype: "float16" -> F16, "uint8" -> I8.
std::optional<ir::ElementKind> elementOfDtype(std::string_view dtype);

const char* argumentKindName(Argument::Kind kind);
std::optional<Argument::Kind> argumentKindNamed(std::string_view name);

}  // namespace tilesight::launch
