// From the names on the command line to clients.
#pragma once

#include <string>
#include <vector>

#include "exec/run.h"
#include "support/result.h"

namespace tilesight::tools {

/// The clients named, each once: of Tilesight itself, of the plugins given (libraries), of those on the search path, or
/// LIBRARY:NAME. Errors: a name that is no client (with the nearest one), or one that is planned; a library that is
/// refused.
Result<std::vector<exec::ClientInstance>> clientsNamed(const std::vector<std::string>& names,
                                                       const std::vector<std::string>& plugins = {});

/// Why the library cannot be used as a plugin, as one line; "" if it can.
std::string pluginProblem(const std::string& path);

/// The clients of a group: `memcheck`, `initcheck`, `racecheck`.
Result<std::vector<std::string>> clientsOfTool(const std::string& tool);

}  // namespace tilesight::tools
