// Passes on IR text, with the plugins that have them: what `opt`, `check --pass` and ts.opt do.
#pragma once

#include <string>
#include <vector>

#include "passes/manager.h"
#include "plugins/catalog.h"
#include "support/child.h"

namespace tilesight::tools {

struct Transform {
  std::vector<std::string> pipelines;  // "a,b{x=1}", run in order
  std::vector<std::string> plugins;    // libraries, besides those that are found
  std::vector<passes::Pass> passes;    // besides those of plugins
  bool verifyEach = true;
  std::vector<std::string> printBefore, printAfter;  // passes, or "all": the IR on standard error
  bool isolate = false;                // in a child process, plugins are loaded there only
  double seconds = 60;                 // that loading a plugin and each pass may take, with `isolate`
};

/// Errors without a file are wrong usage: a pass or an option that there is not. Else a plugin that is refused, text that is
/// not valid, or, with `isolate`, a plugin or a pass, by name, that crashed, ended the process or did not return.
Result<passes::Outcome> transform(std::string text, const std::string& fileName, const Transform& how);

/// The errors of `transform` that depend on no text: a pass or an option that there is not, a plugin that is refused.
Status checkPasses(const Transform& how);

/// Error: the first of the plugins given by name that was refused.
Status accepted(const plugins::Catalog& catalog);

/// What a pass and a plugin are called while they work.
std::string named(const passes::Pass& pass);
std::string loading(const std::string& path);

}  // namespace tilesight::tools
