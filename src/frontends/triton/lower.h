// Triton's TTIR to the common IR: `tt` operations become `tile` operations, arith, math, scf and cf
// stay. See docs/ir.md for what each common operation means.
#pragma once

#include "ir/context.h"
#include "ir/operation.h"
#include "support/result.h"

namespace tilesight::frontends::triton {

/// Lowers every function of `source`. Operations this front end does not know survive as
/// `tile.opaque` with the source operation's name in `name`: they are refused by that name when they
/// would have to be executed. Locations, names and operation numbers are kept. The result lives in
/// the same context.
Result<ir::Module> lower(const ir::Module& source, ir::Context& context);

}  // namespace tilesight::frontends::triton
