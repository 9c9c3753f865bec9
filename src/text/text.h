// MLIR text to modules and back.
#pragma once

#include <string>
#include <string_view>

#include "ir/context.h"
#include "ir/operation.h"
#include "support/result.h"

namespace tilesight::text {

/// Parses MLIR text: a module, or top-level operations, which are then wrapped in one. Operations
/// of the tables are read in their custom or generic form; unknown ones are kept as they are
/// written (see Operation::opaqueText). `fileName` is used in diagnostics, which carry the line and
/// column of `text`. Any bytes give a module or a diagnostic; nesting deeper than 200 is refused.
/// The module uses types, attributes and locations of `context`, which must outlive it. The module
/// is not verified: see ir/verifier.h.
Result<ir::Module> parse(std::string_view text, std::string fileName, ir::Context& context);

struct PrintOptions {
  bool locations = true;  // trailing loc(...), collected in #loc aliases
  bool generic = false;   // every operation in MLIR's generic form
};

/// The module as MLIR text. Parsing it gives an equal module, whose text is the same.
std::string print(const ir::Module& module, PrintOptions options = {});

/// One operation as text (its regions too), without locations: for messages and debugging.
std::string print(const ir::Operation& op);

}  // namespace tilesight::text
