#include "tools/client_names.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

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

/// TILESIGHT_PLUGIN_PATHS and the installed folder, loaded when a name is none of Tilesight's own.
const plugins::Catalog& foundPlugins() {
  static const plugins::Catalog catalog = plugins::Catalog::load({});
  return catalog;
}

/// The library at `path`, opened once: whoever names it for every launch does not pay for every launch.
const plugins::Library& libraryAt(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<plugins::Catalog>> opened;
  std::lock_guard lock(mutex);
  std::unique_ptr<plugins::Catalog>& catalog = opened[path];
  // One that was refused may have been built anew since.
  if (!catalog || catalog->refusedOfGiven()) catalog = std::make_unique<plugins::Catalog>(plugins::Catalog::load({path}));
  return catalog->libraries()[0];
}

tl::unexpected<Diagnostic> refusedPlugin(const plugins::Library& library) {
  return failure(Diagnostic{library.path, 0, 0, "plugin refused: " + library.refused, {}});
}

const ts_client* clientOf(const plugins::Library& library, std::string_view name) {
  for (const ts_client* client : library.clients)
    if (library.refused.empty() && name == client->name) return client;
  return nullptr;
}

std::vector<std::string> clientNamesOf(const plugins::Library& library) {
  std::vector<std::string> names;
  for (const ts_client* client : library.clients) names.emplace_back(client->name);
  return names;
}

tl::unexpected<Diagnostic> noClient(const std::string& name, const plugins::Catalog& catalog) {
  if (std::find(std::begin(plannedClients), std::end(plannedClients), name) != std::end(plannedClients)) return notYet(name);
  std::vector<std::string> known = clients::names();
  for (const plugins::Library& library : catalog.libraries())
    if (library.refused.empty())
      for (std::string& more : clientNamesOf(library)) known.push_back(std::move(more));
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return failure(fmt::format("there is no client \"{}\"{}", name, findings::didYouMean(name, candidates)),
                 fmt::format("available: {}", findings::joined(known, ", ")));
}

/// The client of LIBRARY:NAME, or null if `text` has no such form.
Result<const ts_client*> clientOfLibrary(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return nullptr;
  const plugins::Library& library = libraryAt(text.substr(0, colon));
  if (!library.refused.empty()) return refusedPlugin(library);
  const std::string name = text.substr(colon + 1);
  if (const ts_client* client = clientOf(library, name)) return client;
  const std::vector<std::string> known = clientNamesOf(library);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return failure(Diagnostic{library.path, 0, 0,
                            fmt::format("the plugin has no client \"{}\"{}", name, findings::didYouMean(name, candidates)),
                            known.empty() ? "it has none" : fmt::format("it has: {}", findings::joined(known, ", "))});
}

}  // namespace

Result<std::vector<exec::ClientInstance>> clientsNamed(const std::vector<std::string>& names,
                                                       const std::vector<std::string>& plugins) {
  std::optional<plugins::Catalog> given;
  if (!plugins.empty()) {
    given = plugins::Catalog::load(plugins);
    if (const plugins::Library* refused = given->refusedOfGiven()) return refusedPlugin(*refused);
  }
  std::vector<exec::ClientInstance> instances;
  for (const std::string& name : names) {
    const ts_client* table = clients::find(name);
    const bool foreign = !table;
    if (!table) {
      auto named = clientOfLibrary(name);
      if (!named) return failure(std::move(named).error());
      table = *named;
    }
    if (!table) {
      const plugins::Catalog& catalog = given ? *given : foundPlugins();
      for (const plugins::Library& library : catalog.libraries())
        if (!table) table = clientOf(library, name);
      if (!table) return noClient(name, catalog);
    }
    const bool there = std::any_of(instances.begin(), instances.end(),
                                   [&](const auto& instance) { return instance.table == table; });
    if (!there) instances.push_back({.table = table, .foreign = foreign});
  }
  return instances;
}

std::string pluginProblem(const std::string& path) {
  const plugins::Library& library = libraryAt(path);
  return library.refused.empty() ? "" : refusedPlugin(library).value().str();
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
