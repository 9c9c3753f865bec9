#include "findings/github.h"

#include <fmt/format.h>

#include "findings/format.h"
#include "findings/places.h"
#include "findings/text.h"

namespace tilesight::findings {
namespace {

/// The runner reads a command from one line: what would end it, or a property, is escaped.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') out += "%25";
    else if (c == '\r') out += "%0D";
    else if (c == '\n') out += "%0A";
    else if (property && c == ':') out += "%3A";
    else if (property && c == ',') out += "%2C";
    else out += c;
  }
  return out;
}

const char* commandOf(Severity severity) {
  switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "notice";
  }
  return "notice";
}

std::string relativeTo(const SessionOptions& options, const std::string& file) {
  return relativePath(absolutePath(file, options.workingDirectory), options.repositoryRoot);
}

std::string command(const char* name, const SessionOptions& options, const Frame& place,
                    const std::string& sourceLine, const std::string& title, const std::string& text) {
  std::string properties;
  const auto add = [&](const char* key, const std::string& value) {
    properties += fmt::format("{}{}={}", properties.empty() ? " " : ",", key, escaped(value, true));
  };
  if (!place.file.empty()) {
    add("file", relativeTo(options, place.file));
    if (place.line) add("line", std::to_string(place.line));
    if (place.line && place.column) add("col", std::to_string(characterColumn(sourceLine, place.column)));
  }
  if (!title.empty()) add("title", title);
  return fmt::format("::{}{}::{}\n", name, properties, escaped(text, false));
}

/// Text in a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') out += ' ';
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else {
      if (std::string_view("|\\`*_[]~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string placeCell(const SessionOptions& options, const Frame& place) {
  if (place.file.empty()) return "";
  std::string text = relativeTo(options, place.file);
  if (place.line) text += fmt::format(":{}", place.line);
  return cell(text);
}

std::string row(const char* severity, std::string_view kind, std::string_view kernel, const std::string& place,
                std::string_view text) {
  return fmt::format("| {} | {} | {} | {} | {} |\n", severity, cell(kind), cell(kernel), place, cell(text));
}

}  // namespace

std::string sessionGithub(const Session& session) {
  const SessionOptions& options = session.options();
  std::string out;
  for (const std::string& error : session.internalErrors())
    out += command("error", options, {}, "", "internal error of Tilesight", error);
  for (const Diagnostic& problem : session.problems())
    out += command("error", options, {problem.file, problem.line, problem.column, ""}, "", "tilesight",
                   problem.remedy.empty() ? problem.message : problem.message + " (" + problem.remedy + ")");
  size_t shown = 0;
  for (const Finding& finding : session.findings()) {
    if (options.printLimit && shown == options.printLimit) break;
    out += command(commandOf(finding.severity), options, finding.location, finding.sourceLine,
                   fmt::format("{} in {}", finding.kind, finding.kernel),
                   finding.message + "\n" + evidenceText(finding, options.repositoryRoot));
    ++shown;
  }
  if (const size_t hidden = session.findings().size() - shown)
    out += fmt::format("{} not shown (--print-limit 0 shows all)\n",
                       counted(static_cast<int64_t>(hidden), "more finding"));
  for (const UnknownSummary& summary : session.unknowns())
    out += command("warning", options, summary.unknown.location, summary.unknown.sourceLine,
                   "not checked: " + summary.unknown.kernel, summary.unknown.reason);
  if (options.quiet) return out;
  for (const std::string& note : session.notes()) out += command("notice", options, {}, "", "tilesight", note);
  if (session.launches()) out += summaryLine(session);
  else if (session.problems().empty() && session.internalErrors().empty())
    out += command("warning", options, {}, "", "tilesight", nothingChecked(session));
  return out;
}

std::string stepSummary(const Session& session) {
  const SessionOptions& options = session.options();
  std::string out = "### Tilesight\n\n";
  const bool rows = !session.findings().empty() || !session.unknowns().empty() || !session.problems().empty();
  if (rows) out += "| | kind | kernel | place | |\n|---|---|---|---|---|\n";
  for (const Diagnostic& problem : session.problems())
    out += row("error", "input", "", placeCell(options, {problem.file, problem.line, problem.column, ""}),
               problem.message);
  size_t shown = 0;
  for (const Finding& finding : session.findings()) {
    if (options.printLimit && shown++ == options.printLimit) break;
    out += row(severityName(finding.severity), finding.kind, finding.kernel, placeCell(options, finding.location),
               finding.message);
  }
  for (const UnknownSummary& summary : session.unknowns())
    out += row("unknown", "", summary.unknown.kernel, placeCell(options, summary.unknown.location),
               summary.unknown.reason);
  if (rows) out += "\n";
  if (options.printLimit && session.findings().size() > options.printLimit)
    out += fmt::format("{} of them shown.\n\n", counted(options.printLimit, "finding"));
  out += session.launches() ? cell(summaryLine(session)) : "No kernel was launched: nothing was checked.";
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n\n";
}

}  // namespace tilesight::findings
