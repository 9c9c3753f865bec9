// A build without the visualizer's server.
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {

int view(const ViewOptions&) {
  return usageError("this build of Tilesight has no visualizer: it was made without its server (TILESIGHT_SERVER)", "view");
}

}  // namespace tilesight::tools
