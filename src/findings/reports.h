// Where a session's reports go: text, GitHub's commands, JSON, SARIF, a baseline. The native command and
// `tilesight run` both end here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/session.h"
#include "support/result.h"

namespace tilesight::findings {

enum class ReportFormat { Text, Github };

struct ReportOptions {
  ReportFormat format = ReportFormat::Text;
  std::string json, sarif;    // files; "-": standard output; "": none
  std::string output;         // file of the report for people, likewise; "": standard error
  std::string writeBaseline;  // file, or ""
  std::vector<std::pair<std::string, std::string>> others;  // (what, file) that the run reads or writes beside them
  bool partial = false;       // not all was looked at: what the baseline has beyond it may still occur
};

/// "text", "github"; nullopt for anything else.
std::optional<ReportFormat> parseReportFormat(std::string_view name);

/// Refuses what cannot work before anything has run: two reports for standard output, one file for two
/// reports or for one and another file of the run, by whatever names, a file that cannot be written. The error is for a line after "tilesight: error: ".
Status checkReports(const ReportOptions& options);

/// Writes the files for programs: baseline, JSON, SARIF, the step summary with ReportFormat::Github.
void writeFiles(Session& session, const ReportOptions& options, std::optional<int> programExit);

/// Writes all reports, the one for people too; files that cannot be written become problems of the session. Returns the exit
/// status. `programExit` as in Session::json.
int writeReports(Session& session, const ReportOptions& options, std::optional<int> programExit);

/// Whether standard error is a terminal that wants colours (NO_COLOR and TERM=dumb are heeded).
bool coloursWanted();

}  // namespace tilesight::findings
