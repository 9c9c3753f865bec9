// tilesight run on Windows, where no Triton captures launches: refused by name.
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {

int runPython(int, char**) {
  return usageError("`run` needs the Python module of Tilesight, which is not built for Windows: check bundles that "
                    "`tilesight run --save` made elsewhere",
                    "check");
}

}  // namespace tilesight::tools
