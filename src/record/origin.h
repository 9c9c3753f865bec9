// The bundles that questions about a trace are answered from: those that it keeps, or the one that it was made of.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tilesight::record {

/// Those in the trace if they have all data; else those that its launches name, while they are as they were: not
/// younger than the trace, with the same launches and no others; else those in the trace, whose data is withheld.
/// None: the trace keeps no launch and those that it names are not as they were. Errors: tables that cannot be read.
Result<std::vector<std::string>> originOf(const std::string& trace);

}  // namespace tilesight::record
