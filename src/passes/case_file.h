// Before/after tests of passes, in files:
//
//   # anything about the case
//   pass: name{option=value},other
//   run: grid.x=4 N=64 K%16=0
//   --- in
//   IR text
//   --- out
//   IR text, or the one word `unchanged`
//   --- remarks
//   done [rule]
//   refused [rule]
//
// The remarks may be left out; then they are not compared. `run:`, which may be left out too, says what arguments the
// kernel may be run with (Assumptions in range.h), by those who compare what it computes before and after.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/manager.h"
#include "passes/registry.h"

namespace tilesight::passes {

struct Case {
  std::string file, name;  // the name is the file's, without folder and extension
  std::string comment, pipeline, run, input, expected;
  std::optional<std::vector<std::string>> remarks;
};

struct CaseOutcome {
  std::vector<std::string> failures;  // empty: as expected
  std::string output;
  std::vector<std::string> remarks;   // "done [rule]"
  std::string assumed;                // the option `assume` of its passes: what they were promised
};

Result<Case> readCase(const std::string& file);

/// All `*.test` files of a folder and the folders in it, by name.
Result<std::vector<Case>> readCases(const std::string& folder);

/// Runs the passes: the output and the remarks must be those expected, and a second run must change nothing.
CaseOutcome runCase(const Case& one, const Registry& registry, const ManagerOptions& options = {});

/// The file with the outcome as what is expected.
std::string rebased(const Case& one, const CaseOutcome& outcome);

}  // namespace tilesight::passes
