// All plugins there are.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "passes/registry.h"
#include "plugins/library.h"

namespace tilesight::plugins {

class Catalog {
 public:
  /// Loads the libraries given by name, then those of TILESIGHT_PLUGIN_PATHS (files, or folders of libraries, separated
  /// by ':', on Windows ';'), then those of the installed folder. One that is refused, or whose id or passes are there already, is kept with the
  /// reason. A file that is found twice is loaded once. Dialects of those that are not refused are known to the whole process
  /// from then on, and lowered before a kernel runs. `opening`, if there is one, hears of each before it is opened.
  static Catalog load(const std::vector<std::string>& given, const std::function<void(const std::string& path)>& opening = {});

  const std::vector<Library>& libraries() const { return libraries_; }
  /// The first of those given by name that was refused, or null.
  const Library* refusedOfGiven() const;
  /// Adds the passes of all that are usable.
  void addTo(passes::Registry& registry) const;

 private:
  void open(const std::string& path);
  std::function<void(const std::string&)> opening_;
  std::vector<Library> libraries_;
  size_t given_ = 0;
};

/// Makes the dialects of TILESIGHT_PLUGIN_PATHS known, for commands that load no plugins otherwise. Nothing where it is not set.
void addDialectsOfPaths();

/// Folders of installed plugins that exist, found from where this code is.
std::vector<std::string> installedFolders();

/// The libraries as a table for people, or as JSON.
std::string listOf(const Catalog& catalog);
std::string listAsJson(const Catalog& catalog);

}  // namespace tilesight::plugins
