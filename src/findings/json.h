// The report for programs: docs/findings.md describes the fields.
#pragma once

#include <optional>
#include <string>

#include "findings/finding.h"
#include "findings/session.h"

namespace tilesight::findings {

/// One finding as a JSON object on one line.
std::string findingJson(const Finding& finding);

/// The whole report as one indented JSON object with a final newline.
std::string sessionJson(const Session& session, std::optional<int> programExit);

}  // namespace tilesight::findings
