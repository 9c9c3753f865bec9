// Commands of the contract that are not built yet.
#include <fmt/format.h>

#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {

const std::vector<PlannedCommand>& plannedCommands() {
  static const std::vector<PlannedCommand> commands = {
      {"profile", "count what a launch does"},
      {"prove", "check all grids and sizes"},
  };
  return commands;
}

int planned(const std::string& command) {
  printErr(fmt::format("tilesight: error: `{}` is planned and not built yet (see tilesight --help)\n",
                       command));
  return 2;
}

}  // namespace tilesight::tools
