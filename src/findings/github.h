// The report as GitHub's workflow commands (`--format github`) and as the summary of a step.
#pragma once

#include <string>

#include "findings/session.h"

namespace tilesight::findings {

/// `::error file=...,line=...,col=...,title=...::message` lines, one a finding, unknown, problem and
/// note, and the summary line. Files below the repository's root are relative to it.
std::string sessionGithub(const Session& session);

/// A table of the findings in Markdown, for $GITHUB_STEP_SUMMARY.
std::string stepSummary(const Session& session);

}  // namespace tilesight::findings
