// The visualizer as one file: the page with all answers that it needs, for who has no Tilesight.
#pragma once

#include <cstdint>
#include <string>

#include "server/workspace.h"

namespace tilesight::server {

struct PageFile {
  std::string html;
  std::string note;  // whose values it holds
};

/// Waits for all launches. Holds what all views show of each, and the values of some programs: those of findings, the
/// first and the last, until `limit` bytes are full. Errors: this build has no page; the limit is too small for the
/// launches without values.
Result<PageFile> pageFile(Workspace& workspace, uint64_t limit);

}  // namespace tilesight::server
