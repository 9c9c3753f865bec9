// tilesight run and migrate on Windows, where there is no Python module: refused by name.
#include <cstring>

#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {

int runPython(const char* name, int, char**) {
  if (std::strcmp(name, "run"))
    return usageError("`migrate` needs the Python module of Tilesight, which is not built for Windows", name);
  return usageError("`run` needs the Python module of Tilesight, which is not built for Windows: check bundles that "
                    "`tilesight run --save` made elsewhere",
                    "check");
}

}  // namespace tilesight::tools
