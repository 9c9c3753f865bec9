// Shared libraries, as the operating system has them.
#pragma once

#include <string>

#include "support/result.h"

namespace tilesight::plugins {

/// ".so" or ".dll".
extern const char* const librarySuffix;
/// Between the entries of TILESIGHT_PLUGIN_PATHS: ':' or ';'.
extern const char pathSeparator;

/// Why a file with these bytes is no library for this machine; "" if it may be one.
std::string wrongFile(const std::string& bytes);

/// Loads the library at an absolute path, for good. Error: what the system says.
Result<void*> loadLibrary(const std::string& path);

/// The function of this name that the library exports, or null.
void* findFunction(void* library, const char* name);

/// The file that this code is in: the program, or the Python module. "" if that cannot be found.
std::string ownFile();

}  // namespace tilesight::plugins
