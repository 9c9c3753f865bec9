// Where the entries of a zip lie in it, which libzip does not tell.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace tilesight::launch {

/// Offset of the first byte of each stored entry, by name, of the zip that is open as `file`. Entries that cannot be told
/// are left out. Nothing is trusted but that reads of the file do what they say.
std::unordered_map<std::string, uint64_t> zipOffsets(int file);

}  // namespace tilesight::launch
