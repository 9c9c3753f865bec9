// Files and processes of the operating system, the same on POSIX and Windows.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "support/result.h"

namespace tilesight::support {

/// The first `bytes` (over 0) of a file, read-only. Errors: cannot be opened, or not mapped.
Result<const uint8_t*> mapFile(const std::string& path, uint64_t bytes);
void unmapFile(const uint8_t* start, uint64_t bytes);

/// Puts `from` in the place of `to`, which may be there, in one step. Error: why it cannot be.
Status replaceFile(const std::string& from, const std::string& to);

/// A new file in `folder`, open to write and then read, that is gone when it is closed. Null and errno if there is none.
std::FILE* temporaryFile(const std::string& folder);

/// Number of this process.
int64_t processId();

}  // namespace tilesight::support
