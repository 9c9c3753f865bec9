#include "plugins/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "clients/registry.h"
#include "passes/options.h"
#include "plugins/dynamic.h"
#include "plugins/lowering.h"

namespace tilesight::plugins {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> librariesIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == librarySuffix) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

nlohmann::json valueAsJson(const passes::OptionValue& value) {
  return std::visit([](const auto& plain) { return nlohmann::json(plain); }, value);
}

std::string valueAsText(const passes::OptionValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  const std::string& text = std::get<std::string>(value);
  return text.empty() ? "empty" : text;
}

/// All of its dialects, or none and the reason.
void addDialects(Library& library) {
  for (const auto& dialect : library.dialects)
    if (library.refused.empty()) library.refused = dialects::clashOf(*dialect);
  if (!library.refused.empty()) return;
  for (const auto& dialect : library.dialects) {
    (void)dialects::add(dialect);
    addLowering(*static_cast<const ts_dialect*>(dialect->table), *dialect);
  }
}

}  // namespace

std::vector<std::string> installedFolders() {
  const std::string own = ownFile();
  if (own.empty()) return {};
  std::error_code error;
  const fs::path self = fs::weakly_canonical(own, error);
  std::vector<std::string> found;
  const fs::path folder = self.parent_path();
  // Beside the Python module, or libtilesight; installed, with or without the machine's name in the path; in the build, seen from the program and from the package.
  for (const fs::path& candidate : {folder / "plugins", folder / "tilesight/plugins", folder / "../" TILESIGHT_LIBDIR "/tilesight/plugins", folder / "../lib/tilesight/plugins", folder / "../../plugins", folder / "../../build/plugins"}) {
    const fs::path real = fs::weakly_canonical(candidate, error);
    if (fs::is_directory(real, error) && !librariesIn(real.string()).empty() && std::find(found.begin(), found.end(), real.string()) == found.end())
      found.push_back(real.string());
  }
  return found;
}

void Catalog::open(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  for (const Library& library : libraries_)
    if (fs::weakly_canonical(library.path, error) == real) return;
  if (opening_) opening_(path);
  Library library = openLibrary(path);
  if (library.refused.empty()) {
    for (const Library& other : libraries_) {
      if (!other.refused.empty()) continue;
      if (other.id == library.id) library.refused = fmt::format("has the id '{}', as {}", library.id, other.path);
      for (const passes::Pass& pass : library.passes)
        for (const passes::Pass& known : other.passes)
          if (known.name == pass.name && library.refused.empty()) library.refused = fmt::format("has a pass '{}', as {}", pass.name, other.path);
      for (const ts_client* client : library.clients)
        for (const ts_client* known : other.clients)
          if (library.refused.empty() && std::string_view(known->name) == client->name) library.refused = fmt::format("has a client '{}', as {}", client->name, other.path);
    }
    const passes::Registry builtIn;
    for (const passes::Pass& pass : library.passes)
      if (builtIn.find(pass.name) && library.refused.empty()) library.refused = fmt::format("has a pass '{}', as Tilesight itself", pass.name);
    for (size_t i = 0; i < library.clients.size(); ++i) {
      const std::string_view name = library.clients[i]->name;
      if (clients::find(name) && library.refused.empty()) library.refused = fmt::format("has a client '{}', as Tilesight itself", name);
      for (size_t j = 0; j < i; ++j)
        if (name == library.clients[j]->name && library.refused.empty()) library.refused = fmt::format("has two clients '{}'", name);
    }
    for (size_t i = 0; i < library.passes.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (library.passes[i].name == library.passes[j].name && library.refused.empty()) library.refused = fmt::format("has two passes '{}'", library.passes[i].name);
    if (library.refused.empty()) addDialects(library);
  }
  libraries_.push_back(std::move(library));
}

Catalog Catalog::load(const std::vector<std::string>& given, const std::function<void(const std::string& path)>& opening) {
  Catalog catalog;
  catalog.opening_ = opening;
  for (const std::string& path : given) catalog.open(path);
  catalog.given_ = catalog.libraries_.size();
  std::vector<std::string> places;
  if (const char* paths = std::getenv("TILESIGHT_PLUGIN_PATHS")) {
    std::istringstream in(paths);
    for (std::string place; std::getline(in, place, pathSeparator);)
      if (!place.empty()) places.push_back(place);
  }
  std::error_code error;
  for (const std::string& place : places) {
    if (!fs::is_directory(place, error)) catalog.open(place);
    else
      for (const std::string& path : librariesIn(place)) catalog.open(path);
  }
  for (const std::string& folder : installedFolders())
    for (const std::string& path : librariesIn(folder)) catalog.open(path);
  catalog.opening_ = nullptr;
  return catalog;
}

void addDialectsOfPaths() {
  if (const char* paths = std::getenv("TILESIGHT_PLUGIN_PATHS"); paths && *paths) (void)Catalog::load({});
}

const Library* Catalog::refusedOfGiven() const {
  for (size_t i = 0; i < given_; ++i)
    if (!libraries_[i].refused.empty()) return &libraries_[i];
  return nullptr;
}

void Catalog::addTo(passes::Registry& registry) const {
  for (const Library& library : libraries_)
    if (library.refused.empty())
      for (const passes::Pass& pass : library.passes) (void)registry.add(pass);  // names differ: see `open`
}

std::string listOf(const Catalog& catalog) {
  std::string out;
  for (const Library& library : catalog.libraries()) {
    if (!library.refused.empty()) {
      out += fmt::format("{}\n  refused: {}\n", library.path, library.refused);
      continue;
    }
    out += fmt::format("{}\n  {} {}, ABI {}.{}, SHA-256 {}\n", library.path, library.id, library.version, library.abiMajor, library.abiMinor, library.hash);
    for (size_t i = 0; i < library.passes.size(); ++i) {
      const passes::Pass& pass = library.passes[i];
      out += fmt::format("  pass {}{}: {}\n", pass.name, library.stages[i].empty() ? "" : " (" + library.stages[i] + ")", pass.summary);
      for (const passes::OptionInfo& option : pass.options)
        out += fmt::format("    {}: {} ({}, default {})\n", option.name, option.help, passes::describe(option), valueAsText(option.fallback));
    }
    for (const ts_client* client : library.clients) out += fmt::format("  client {}\n", client->name);
    for (const auto& dialect : library.dialects)
      out += fmt::format("  dialect {} ({} operations{}): {}\n", dialect->name, dialect->operations.size(), hasLowering(*dialect) ? "" : ", not lowered", dialect->summary);
  }
  return out.empty() ? "no plugins\n" : out;
}

std::string listAsJson(const Catalog& catalog) {
  nlohmann::json list = nlohmann::json::array();
  for (const Library& library : catalog.libraries()) {
    nlohmann::json item = {{"path", library.path}, {"hash", library.hash}, {"state", library.refused.empty() ? "ok" : "refused"}};
    if (!library.refused.empty()) item["reason"] = library.refused;
    if (library.abiMajor) item["abi"] = fmt::format("{}.{}", library.abiMajor, library.abiMinor);
    if (!library.id.empty()) item["id"] = library.id, item["version"] = library.version, item["summary"] = library.summary;
    item["passes"] = nlohmann::json::array();
    for (size_t i = 0; i < library.passes.size(); ++i) {
      const passes::Pass& pass = library.passes[i];
      nlohmann::json options = nlohmann::json::array();
      for (const passes::OptionInfo& option : pass.options) {
        static constexpr const char* kinds[] = {"integer", "boolean", "string", "choice"};
        nlohmann::json one = {{"name", option.name}, {"kind", kinds[static_cast<size_t>(option.kind)]}, {"help", option.help}, {"default", valueAsJson(option.fallback)}};
        if (option.kind == passes::OptionInfo::Kind::Integer) one["least"] = option.least, one["most"] = option.most;
        if (!option.choices.empty()) one["choices"] = option.choices;
        options.push_back(std::move(one));
      }
      item["passes"].push_back({{"name", pass.name}, {"stage", library.stages[i]}, {"summary", pass.summary}, {"options", options}});
    }
    item["clients"] = nlohmann::json::array();
    for (const ts_client* client : library.clients) item["clients"].push_back(client->name);
    item["dialects"] = nlohmann::json::array();
    for (const auto& dialect : library.dialects) {
      nlohmann::json names = nlohmann::json::array();
      for (const dialects::OpInfo& info : dialect->operations) names.push_back(info.name);
      item["dialects"].push_back({{"name", dialect->name}, {"summary", dialect->summary}, {"operations", names}, {"lowered", hasLowering(*dialect)}});
    }
    list.push_back(std::move(item));
  }
  return list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tilesight::plugins
