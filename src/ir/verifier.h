// Checks that a module is well-formed: what the tables say of each operation, and how operations
// fit together.
#pragma once

#include "ir/operation.h"
#include "support/result.h"

namespace tilesight::ir {

/// Verifies every operation of `module`: operand, result, region and successor counts; attributes;
/// type classes and rules; terminators; definitions before uses; symbols. Opaque operations are
/// only checked for definitions before uses. The first violation is reported with its line and
/// column in the MLIR text the module was parsed from.
Status verify(const Module& module);

}  // namespace tilesight::ir
