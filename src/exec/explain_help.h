// The bound that a user knows an axis by.
#pragma once

#include "exec/explainer.h"

namespace tilesight::exec {

struct Bound {
  const launch::Argument* argument = nullptr;  // null: none is convincing
  bool compared = false;                       // the kernel compares it with the variable
};

/// The scalar argument that a mask on `variable` would compare it with: its value is `size`. One that the kernel
/// compares with the variable elsewhere; else one that is neither the bound of another variable nor a stride.
/// None if several would do. `variable` may be null.
Bound boundOf(const Explainer& explainer, const Ref* variable, int64_t size);

}  // namespace tilesight::exec
