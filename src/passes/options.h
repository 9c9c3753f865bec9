// Values of options from their text, checked against what a pass says of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "passes/pass.h"

namespace tilesight::passes {

/// Every option's value, given or default. Errors: an option that the pass does not have (with the nearest),
/// given twice, of the wrong kind, or out of range.
Result<OptionValues> optionValues(const Pass& pass, const std::vector<std::pair<std::string, std::string>>& given);

/// "integer from 1 to 8, default 2" and the like.
std::string describe(const OptionInfo& option);

}  // namespace tilesight::passes
