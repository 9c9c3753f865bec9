// Which passes to run, as text: `a,b{x=1 y=two},c`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "passes/options.h"
#include "passes/registry.h"

namespace tilesight::passes {

struct Step {
  const Pass* pass = nullptr;
  OptionValues options;
};

/// Passes separated by commas, each with options in braces, separated by spaces or commas; values may be quoted
/// with '"'. Errors: unknown passes and options, and what cannot be read.
Result<std::vector<Step>> parsePipeline(std::string_view text, const Registry& registry);

}  // namespace tilesight::passes
