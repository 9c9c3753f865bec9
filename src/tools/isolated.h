// Work with plugins in a process of its own: what `--isolate` does, and the hidden command `isolated`, which is its other end.
#pragma once

#include <string>
#include <vector>

#include "passes/case_file.h"
#include "tools/transform.h"

namespace tilesight::tools {

// What can be isolated. Each loads plugins first, and says by `begins` what it does.
Result<passes::Outcome> transformHere(std::string text, const std::string& fileName, const Transform& how, const support::Begins& begins);
Result<std::string> listOfPasses(const std::vector<std::string>& plugins, const support::Begins& begins);
/// The names of a plugin's passes, a line each.
Result<std::string> passesOf(const std::string& library, const support::Begins& begins);
/// Runs the case of a file (passes/case_file.h) with a plugin.
Result<passes::CaseOutcome> runCaseOf(const std::string& library, const std::string& file, const support::Begins& begins);

// The same in a process of its own, where each thing may take `seconds`. Errors are those of the work; and a plugin or a pass, by
// name, that crashed, ended the process or did not return.
Result<passes::Outcome> transformApart(const std::string& text, const std::string& fileName, const Transform& how);
Result<std::string> listOfPassesApart(const std::vector<std::string>& plugins, double seconds);
Result<std::string> passesOfApart(const std::string& library, double seconds);
Result<passes::CaseOutcome> runCaseApart(const std::string& library, const std::string& file, double seconds);

/// How to start a Python that is `tilesight isolated`: its program and arguments. Set by the Python module; without it, passes in
/// Python are refused anyway.
void isolatePythonWith(std::vector<std::string> command);
/// From now on, for tests: start this program instead of copying this process.
void isolateWith(std::vector<std::string> command);

/// The command `isolated`: what another process of Tilesight asked for on standard input.
int isolated();

}  // namespace tilesight::tools
