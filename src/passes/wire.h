// Outcomes as bytes, for those that come from another process (support/child.h).
#pragma once

#include <string>

#include "passes/case_file.h"
#include "passes/manager.h"

namespace tilesight::passes {

std::string toWire(const Result<Outcome>& outcome);
Result<Outcome> outcomeFromWire(const std::string& bytes);

/// Any bytes, or the error instead.
std::string toWire(const Result<std::string>& bytes);
Result<std::string> bytesFromWire(const std::string& wire);

std::string toWire(const Result<CaseOutcome>& outcome);
Result<CaseOutcome> caseFromWire(const std::string& bytes);

}  // namespace tilesight::passes
