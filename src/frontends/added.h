// Dialects that plugins add: their operations become ones of the core before any front end sees them.
#pragma once

#include <functional>
#include <optional>

#include "ir/operation.h"

namespace tilesight::frontends {

/// Attribute of an operation of an added dialect that could not be lowered: why.
inline constexpr const char* kNotLowered = "tilesight.not_lowered";

/// A copy of a module, in the same context, where operations of added dialects are lowered. Those that cannot be are
/// there as they were, with `kNotLowered`. What is made for an operation has its number and place.
using AddedLowering = std::function<ir::Module(const ir::Module& source)>;

/// Set by src/plugins when the first dialect is added; this folder knows nothing of plugins. Thread-safe.
void setAddedLowering(AddedLowering lowering);

/// The lowered copy, or nothing where `source` has no operation of an added dialect.
std::optional<ir::Module> lowerAdded(const ir::Module& source);

}  // namespace tilesight::frontends
