// Edits of a module spliced into the text it was parsed from: what was not touched comes out byte for
// byte, comments, aliases, opaque operations and blank lines included.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ir/context.h"
#include "ir/operation.h"
#include "support/result.h"

namespace tilesight::text {

/// A text, and what its operations looked like when it was read.
class Original {
 public:
  ~Original();
  Original(Original&&) noexcept;
  Original& operator=(Original&&) noexcept;

  std::string_view text() const;

  /// The text of `module`, which is what parsing gave, or a copy (see passes/clone.h), edited since.
  /// Operations that are as they were keep their text; others are written anew, with the names and
  /// aliases of the text; new ones stand on lines of their own. `reprint` writes every operation
  /// anew (for tests of the tables).
  std::string splice(const ir::Module& module, bool reprint = false) const;

  struct Impl;

 private:
  friend Result<std::pair<ir::Module, Original>> parseToEdit(std::string, std::string, ir::Context&);
  explicit Original(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// As `parse`, keeping what `splice` needs.
Result<std::pair<ir::Module, Original>> parseToEdit(std::string text, std::string fileName, ir::Context& context);

}  // namespace tilesight::text
