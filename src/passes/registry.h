// All passes by name: those built in, and those that plugins brought.
#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace tilesight::passes {

class Registry {
 public:
  /// With the passes that are built in.
  Registry();
  /// Error: a pass of this name is there already.
  Status add(Pass pass);
  /// Null if there is none.
  const Pass* find(std::string_view name) const;
  const std::vector<Pass>& all() const { return passes_; }
  /// "there is no pass 'x'; did you mean y?"
  std::string unknown(std::string_view name) const;

 private:
  std::vector<Pass> passes_;
};

}  // namespace tilesight::passes
