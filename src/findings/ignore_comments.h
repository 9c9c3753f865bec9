// `# tilesight: ignore[kind, kind] why`: comments that accept findings.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.h"

namespace tilesight::findings {

/// The comments in force at `line` (from 1) of a Python source: those on any line of the statement that
/// the line belongs to, and those in the lines directly above it that hold nothing but a comment. Their
/// `file` is left empty.
std::vector<IgnoreComment> ignoreComments(std::string_view source, uint32_t line);

/// Fills `ignores` of a launch's findings. `sources`: path in locations -> text. Of a file that is not
/// there, the finding's own source line is looked at.
void findIgnoreComments(LaunchReport& report, const std::map<std::string, std::string>& sources);

}  // namespace tilesight::findings
