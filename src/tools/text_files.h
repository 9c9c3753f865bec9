// IR text from files, and text to files.
#pragma once

#include <string>

#include "support/result.h"

namespace tilesight::tools {

/// The text of a file ("-": standard input). Errors: it is none, or larger than 256 MiB.
Result<std::string> readText(const std::string& file);

/// Whole or not at all: what is there stays until the new file is complete.
Status writeWhole(const std::string& file, const std::string& text);

}  // namespace tilesight::tools
