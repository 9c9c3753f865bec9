// The small structure of launches, as JSON.
#pragma once

#include <string>
#include <vector>

#include "server/loaded.h"
#include "server/workspace.h"

namespace tilesight::server {

std::string launchesJson(const std::vector<Entry>& entries, uint64_t version);
/// Kernel, grid, arguments, sources, IR and its operations.
std::string launchJson(const Loaded& loaded);
/// Of a launch that has run, or a part of it: findings, what is not known, accesses, totals by operation.
std::string surveyJson(const Surveyed& surveyed);
std::string errorJson(const std::string& error);
/// {"state": "running"}: come again; `loaded`: how far it is, or null.
std::string pendingJson(const Loaded* loaded);
std::string changedJson();

}  // namespace tilesight::server
