// The report for people.
#pragma once

#include <string>

#include "findings/finding.h"
#include "findings/session.h"

namespace tilesight::findings {

/// One finding: place and message, source line with caret and witness, the chain behind the address,
/// notes, consequences, counts. Paths below `directory` are shown relative to it.
std::string findingText(const Finding& finding, bool colour, const std::string& directory);

/// What stands below its first line, without a newline at the end.
std::string evidenceText(const Finding& finding, const std::string& directory);

/// "no kernel was launched: nothing was checked", or why no launch was checked.
std::string nothingChecked(const Session& session);

/// One thing that was not checked, in the same form.
std::string unknownText(const UnknownSummary& unknown, bool colour, const std::string& directory);

/// "2 kernels, 3 launches, 1.2 s: 1 error.  Checked: ..." with a newline.
std::string summaryLine(const Session& session);

/// The whole report: findings, unknowns, one closing line a kernel, a summary line.
std::string sessionText(const Session& session, bool colour);

}  // namespace tilesight::findings
