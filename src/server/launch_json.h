// The small structure of launches, as JSON.
#pragma once

#include <string>
#include <vector>

#include "server/loaded.h"
#include "server/workspace.h"

namespace tilesight::server {

std::string launchesJson(const std::vector<Entry>& entries, uint64_t version);
/// Kernel, grid, arguments, findings, sources, IR and its operations with their totals.
std::string launchJson(const Loaded& loaded);
std::string errorJson(const std::string& error);
/// {"state": "running"}: come again.
std::string pendingJson();
std::string changedJson();
std::string recordsMeta(const Loaded& loaded, size_t total, const std::vector<uint32_t>& patterns);

}  // namespace tilesight::server
