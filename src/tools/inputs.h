// The files that commands are given: what they are, before they are opened.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tilesight::tools {

enum class InputKind {
  Bundle,         // a zip file, or a folder with a bundle.json
  FolderOfBundles,
  Trace,          // a folder of tables, with its bundles in it
  Text,           // may be IR
};

/// What is at `path`. Errors: what is nothing of that sort (a Python program, an empty or binary file, a
/// folder without bundles, a report), with what to do instead.
Result<InputKind> inputKind(const std::string& path);

/// The bundles at `path`: itself, or those in a folder or trace, in the order of their launches. Errors: also text, IR or not.
Result<std::vector<std::string>> bundlesAt(const std::string& path);

}  // namespace tilesight::tools
