// From the names on the command line to clients.
#pragma once

#include <string>
#include <vector>

#include "exec/run.h"
#include "support/result.h"

namespace tilesight::tools {

/// The clients named, each once. Errors: a name that is no client (with the nearest one), or one that
/// is planned.
Result<std::vector<exec::ClientInstance>> clientsNamed(const std::vector<std::string>& names);

/// The clients of a group: `memcheck`, `initcheck`, `racecheck`.
Result<std::vector<std::string>> clientsOfTool(const std::string& tool);

}  // namespace tilesight::tools
