// Actual against expected: what a launch left in a tensor, and the array that it should have left there.
#pragma once

#include <string>

#include "server/workspace.h"

namespace tilesight::server {

/// Reads the bytes of a .npy file. Errors: what is none, or an array of another shape than the tensor's.
Result<Expectation> expectationOf(const Loaded& loaded, size_t argument, const std::string& bytes, const std::string& file);

/// JSON: {"file": null} if there is no expectation; else its file, `elements`, `wrong`, `relative` and `absolute` (the
/// tolerance), `first` (index, actual and expected of the first wrong element, or null), `largest` (likewise, index and
/// error) and `text` (where the wrong ones are). Errors: no such tensor, or its data was not saved.
Result<std::string> comparisonJson(const Loaded& loaded, size_t argument, const Expectation* expectation);

}  // namespace tilesight::server
