// Windows has no copy of a process.
#include "support/child.h"

namespace tilesight::support {

const bool canRunInChild = false;

Result<std::string> runInChild(const std::function<std::string(const Begins&)>&, double) {
  return failure("running in a child process is not there on Windows");
}

}  // namespace tilesight::support
