// The files that `check` and `info` are given: what they are, before they are opened.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tilesight::tools {

enum class InputKind {
  Bundle,         // a zip file, or a folder with a bundle.json
  FolderOfBundles,
  Text,           // may be IR
};

/// What is at `path`. Errors: what is nothing of that sort (a Python program, an empty or binary file, a
/// folder without bundles, a report), with what to do instead.
Result<InputKind> inputKind(const std::string& path);

/// The bundles at `path`: itself, or those in a folder, by name. Errors: also text, IR or not.
Result<std::vector<std::string>> bundlesAt(const std::string& path);

}  // namespace tilesight::tools
