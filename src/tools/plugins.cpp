// tilesight plugins: what plugins there are.
#include "plugins/catalog.h"
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {

int plugins(const PluginsOptions& options) {
  const plugins::Catalog catalog = plugins::Catalog::load(options.plugins);
  printOut(options.json ? plugins::listAsJson(catalog) : plugins::listOf(catalog));
  const plugins::Library* refused = catalog.refusedOfGiven();
  if (!refused) return 0;
  printError(Diagnostic{refused->path, 0, 0, "plugin refused: " + refused->refused, {}});
  return 2;
}

}  // namespace tilesight::tools
