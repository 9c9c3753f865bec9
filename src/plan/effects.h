// Which of an entry function's pointer parameters a kernel may read and write through.
#pragma once

#include <vector>

#include "ir/operation.h"

namespace tilesight::plan {

struct Effects {
  std::vector<bool> loaded, stored;  // per entry parameter
  /// Some access goes through a pointer that came from an integer or from memory.
  bool unknown = false;
};

/// Follows pointers through arithmetic, control flow and calls; may only err towards more.
Effects effects(const ir::Module& module);

}  // namespace tilesight::plan
