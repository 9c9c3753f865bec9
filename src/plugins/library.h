// One plugin: a shared library, what it offers, or why it is refused.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dialects/added.h"
#include "passes/pass.h"
#include "tilesight/plugin.h"

namespace tilesight::plugins {

struct Library {
  std::string path;
  std::string hash;  // SHA-256 of the file
  uint32_t abiMajor = 0, abiMinor = 0;
  std::string id, version, summary;
  std::vector<passes::Pass> passes;
  std::vector<std::string> stages;   // of the passes: "ttir", "ttgir", "tile", or ""
  std::vector<const ts_client*> clients;
  std::vector<std::shared_ptr<const dialects::Dialect>> dialects;  // read, not added yet: the catalog does
  std::string refused;               // why; empty: it is usable
};

/// Opens the library, unless its file is none for this machine, asks what it offers and checks the answer. Never fails:
/// the reason of a refusal is in the result. Libraries stay loaded until the process ends.
Library openLibrary(const std::string& path);

/// Who opens plugins that are Python files (`*.py`): fills what the library offers, or why it is refused. Set by the
/// Python module; without it they are refused.
using PythonOpener = std::function<void(const std::string& path, Library& library)>;
void setPythonOpener(PythonOpener opener);

/// What a plugin's table says, or why it is refused; for tests too.
void readPlugin(const ts_plugin* plugin, Library& library);

}  // namespace tilesight::plugins
