// The two kinds of archives, behind Archive::open.
#pragma once

#include "launch/archive.h"

namespace tilesight::launch {

Result<std::unique_ptr<Archive>> openZip(const std::string& path);
Result<std::unique_ptr<Archive>> openZipBytes(std::span<const uint8_t> bytes,
                                              const std::string& name);
Result<std::unique_ptr<Archive>> openDirectory(const std::string& path);

}  // namespace tilesight::launch
