#include "tools/client_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "clients/registry.h"
#include "findings/format.h"
#include "findings/nearest.h"
#include "plugins/catalog.h"

namespace tilesight::tools {
namespace {

constexpr std::string_view plannedClients[] = {"races", "race_detector", "profiler", "visualizer",
                                               "numerics"};

tl::unexpected<Diagnostic> notYet(const std::string& name) {
  return failure(fmt::format("the client {} is planned and not built yet", name),
                 fmt::format("available: {}", findings::joined(clients::names(), ", ")));
}

/// Clients of TILESIGHT_PLUGIN_PATHS and of the installed folder; loaded when one is asked for.
const ts_client* clientOfPlugins(std::string_view name) {
  static const plugins::Catalog catalog = plugins::Catalog::load({});
  for (const plugins::Library& library : catalog.libraries())
    for (const ts_client* client : library.clients)
      if (library.refused.empty() && name == client->name) return client;
  return nullptr;
}

}  // namespace

Result<std::vector<exec::ClientInstance>> clientsNamed(const std::vector<std::string>& names) {
  std::vector<exec::ClientInstance> instances;
  for (const std::string& name : names) {
    const ts_client* table = clients::find(name);
    if (!table) table = clientOfPlugins(name);
    if (!table) {
      if (std::find(std::begin(plannedClients), std::end(plannedClients), name) !=
          std::end(plannedClients))
        return notYet(name);
      const std::vector<std::string> known = clients::names();
      const std::vector<std::string_view> candidates(known.begin(), known.end());
      return failure(fmt::format("there is no client \"{}\"{}", name,
                                 findings::didYouMean(name, candidates)),
                     fmt::format("available: {}", findings::joined(known, ", ")));
    }
    const bool there = std::any_of(instances.begin(), instances.end(),
                                   [&](const auto& instance) { return instance.table == table; });
    if (!there) instances.push_back({.table = table});
  }
  return instances;
}

Result<std::vector<std::string>> clientsOfTool(const std::string& tool) {
  if (tool == "memcheck") return std::vector<std::string>{"sanitizer"};
  if (tool == "initcheck" || tool == "racecheck")
    return failure(fmt::format("--tool {} is planned and not built yet", tool), "available: memcheck");
  constexpr std::string_view tools[] = {"memcheck", "initcheck", "racecheck"};
  return failure(fmt::format("there is no tool \"{}\"{}", tool, findings::didYouMean(tool, tools)),
                 "available: memcheck");
}

}  // namespace tilesight::tools
