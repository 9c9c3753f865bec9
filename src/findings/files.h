// Files, whole: reports, baselines, settings.
#pragma once

#include <cstdint>
#include <string>

#include "support/result.h"

namespace tilesight::findings {

/// The bytes of a file. Errors: what cannot be read, is a folder, or is larger than `maxBytes`.
Result<std::string> readFile(const std::string& path, size_t maxBytes);

/// Is it there and neither a file nor a folder (/dev/null, a pipe)?
bool isDevice(const std::string& path);

/// What a link leads to in the end, whether it is there or not; other paths as they are.
std::string linkTarget(const std::string& path);

/// Writes a file under its name when it is complete, or not at all; what a link leads to is replaced, not the
/// link, and keeps its mode. Devices, and the files that standard output and error go to, get it after what
/// they have.
Status writeFile(const std::string& path, const std::string& text);

}  // namespace tilesight::findings
