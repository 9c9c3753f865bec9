// Writing a zip of stored entries.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tilesight::launch {

/// Makes the zip `path`, which is not there yet, of files of `folder`, named relative to it: stored, and with
/// a fixed time, so that equal files make equal zips. Errors: it cannot be written, or this build has no libzip.
Status zipFiles(const std::string& path, const std::string& folder, const std::vector<std::string>& files);

}  // namespace tilesight::launch
