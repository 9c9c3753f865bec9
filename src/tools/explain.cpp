// tilesight explain: what a kind of finding means.
#include <fmt/format.h>

#include "findings/kinds.h"
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {
namespace {

std::string listText() {
  std::string out, client;
  for (const findings::KindInfo& kind : findings::kinds()) {
    if (kind.client != client) {
      client = kind.client;
      out += fmt::format("{}{}\n", out.empty() ? "" : "\n", client);
    }
    out += fmt::format("  {:<22} {}{}\n", kind.name, kind.summary,
                       kind.state == findings::KindState::Planned ? " (planned)" : "");
  }
  return out;
}

}  // namespace

int explain(const ExplainOptions& options) {
  if (options.kinds.empty()) {
    if (!options.markdown) {
      printOut(listText());
      return 0;
    }
    printOut(findings::kindsMarkdown());
    return 0;
  }
  std::string out;
  for (const std::string& name : options.kinds) {
    const findings::KindInfo* kind = findings::findKind(name);
    if (!kind) {
      const std::string hint = findings::didYouMeanKind(name);
      return usageError(fmt::format("there is no kind of finding \"{}\"{}", name,
                                    hint.empty() ? "; tilesight explain lists all" : hint),
                        "explain");
    }
    if (!out.empty()) out += "\n";
    out += options.markdown ? findings::explainMarkdown(*kind) : findings::explainText(*kind);
  }
  printOut(out);
  return 0;
}

}  // namespace tilesight::tools
