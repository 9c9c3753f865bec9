// The report as SARIF 2.1.0, for code scanning services and editors: docs/findings.md.
#pragma once

#include <optional>
#include <string>

#include "findings/session.h"

namespace tilesight::findings {

/// One SARIF log with one run: findings are results, unknowns, problems and notes are notifications of
/// its invocation. Files below the repository's root are relative to it. `programExit` as in
/// Session::json.
std::string sessionSarif(const Session& session, std::optional<int> programExit = std::nullopt);

}  // namespace tilesight::findings
