#include "findings/sarif.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "findings/format.h"
#include "findings/json_values.h"
#include "findings/kinds.h"
#include "findings/places.h"
#include "findings/text.h"

namespace tilesight::findings {
namespace {

constexpr const char* rootId = "SRCROOT";

const char* levelOf(Severity severity) { return severityName(severity); }  // SARIF has the same words

/// The default level of a kind: its severity in words may depend on the access, and the first one counts.
const char* defaultLevel(const KindInfo& kind) {
  const size_t error = kind.severity.find("error"), warning = kind.severity.find("warning");
  if (error != kind.severity.npos && error < warning) return "error";
  return warning != kind.severity.npos ? "warning" : "note";
}

Json message(const std::string& text) { return {{"text", text}}; }

/// "[" and "]" of plain text: SARIF takes `[text](1)` in messages for a link.
std::string escaped(std::string_view text, bool insideLink = false) {
  if (!insideLink && text.find("](") == text.npos) return std::string(text);
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class Writer {
 public:
  explicit Writer(const Session& session)
      : session_(session), options_(session.options()) {}

  Json log(std::optional<int> programExit) {
    Json run;
    Json results = Json::array();
    addRules();
    for (const Finding& finding : session_.findings()) results.push_back(result(finding));
    run["tool"]["driver"] = {{"name", "Tilesight"},
                             {"semanticVersion", TILESIGHT_VERSION},
                             {"version", TILESIGHT_VERSION},
                             {"rules", rules_}};
    run["invocations"] = Json::array({invocation(programExit)});
    run["originalUriBaseIds"][rootId] = {{"uri", folderUri(options_.repositoryRoot)}};
    run["columnKind"] = "unicodeCodePoints";
    run["results"] = std::move(results);
    run["properties"] = {{"launches", session_.launches()},
                         {"verdict", verdictName(session_.verdict())},
                         {"suppressed", session_.suppressed()},
                         {"acceptedByBaseline", session_.accepted().size()},
                         {"programExit", programExit ? Json(*programExit) : Json(nullptr)}};
    return {{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({run})}};
  }

 private:
  /// Of an absolute path. Windows' begin with a drive: file:///C:/...
  static std::string fileUri(std::string_view path) {
    const bool drive = path.size() > 2 && path[1] == ':' && path[2] == '/';
    return drive ? fmt::format("file:///{}{}", path.substr(0, 2), uriPath(path.substr(2))) : "file://" + uriPath(path);
  }

  static std::string folderUri(const std::string& path) {
    return fileUri(path) + (path.ends_with('/') ? "" : "/");
  }

  Json artifact(const std::string& file) const {
    const std::string path = absolutePath(file, options_.workingDirectory);
    const std::string relative = relativePath(path, options_.repositoryRoot);
    if (relative != path) return {{"uri", uriPath(relative)}, {"uriBaseId", rootId}};
    return {{"uri", fileUri(path)}};
  }

  Json physical(const Frame& frame, const std::string& sourceLine) const {
    Json place{{"artifactLocation", artifact(frame.file)}};
    if (!frame.line) return place;
    Json& region = place["region"];
    region["startLine"] = frame.line;
    if (frame.column) region["startColumn"] = characterColumn(sourceLine, frame.column);
    if (sourceLine.empty()) return place;
    // Without an end the region is the rest of the line.
    const size_t skipped = std::min<size_t>(frame.column ? frame.column - 1 : 0, sourceLine.size());
    region["snippet"] = message(sourceLine.substr(skipped));
    place["contextRegion"] = {{"startLine", frame.line}, {"snippet", message(sourceLine)}};
    return place;
  }

  Json location(const Frame& frame, const std::string& sourceLine, const std::string& kernel) const {
    Json place = Json::object();
    if (!frame.file.empty()) place["physicalLocation"] = physical(frame, sourceLine);
    Json names = Json::array();
    if (!frame.function.empty() && frame.function != kernel)
      names.push_back({{"name", frame.function}, {"kind", "function"}});
    if (!kernel.empty()) names.push_back({{"name", kernel}, {"kind", "function"}});
    if (!names.empty()) place["logicalLocations"] = names;
    return place;
  }

  void addRules() {
    rules_ = Json::array();
    for (const KindInfo& kind : kinds())
      if (kind.state == KindState::Works) {
        numbers_[std::string(kind.name)] = rules_.size();
        rules_.push_back(ruleOf(kind));
      }
  }

  static Json ruleOf(const KindInfo& kind) {
    std::string markdown = explainMarkdown(kind);
    const std::string plain = explainText(kind);
    return {{"id", kind.name},
            {"name", kind.name},
            {"shortDescription", message(std::string(kind.summary))},
            {"fullDescription", message(std::string(kind.explanation))},
            {"help", {{"text", plain}, {"markdown", std::move(markdown)}}},
            {"defaultConfiguration", {{"level", defaultLevel(kind)}}},
            {"properties", {{"client", kind.client}, {"tags", {"gpu", "kernel", kind.client}}}}};
  }

  /// Clients may have kinds of their own.
  size_t ruleNumber(const Finding& finding) {
    const auto [place, isNew] = numbers_.try_emplace(finding.kind, rules_.size());
    if (isNew)
      rules_.push_back({{"id", finding.kind},
                        {"shortDescription", message("reported by the client " + finding.client)},
                        {"properties", {{"client", finding.client}}}});
    return place->second;
  }

  Json result(const Finding& finding) {
    Json json;
    json["ruleId"] = finding.kind;
    json["ruleIndex"] = ruleNumber(finding);
    json["level"] = levelOf(finding.severity);
    std::string text = escaped(finding.message);
    if (!finding.stack.empty()) {
      for (size_t i = 0; i < finding.stack.size(); ++i) {
        const Frame& frame = finding.stack[i];
        text += fmt::format("\ncalled from [{}:{}]({})",
                            escaped(relativePath(frame.file, options_.repositoryRoot), true), frame.line, i + 1);
      }
    }
    // The evidence, as in the report for people.
    text += "\n\n" + escaped(evidenceText(finding, options_.repositoryRoot));
    while (text.ends_with('\n')) text.pop_back();
    json["message"] = message(text);
    if (!finding.location.file.empty() || !finding.kernel.empty())
      json["locations"] = Json::array({location(finding.location, finding.sourceLine, finding.kernel)});
    if (!finding.stack.empty()) {
      Json frames = Json::array({{{"location", location(finding.location, finding.sourceLine, "")}}});
      json["relatedLocations"] = Json::array();
      for (const Frame& frame : finding.stack) {
        Json place = location(frame, "", "");
        frames.push_back({{"location", place}});
        place["id"] = json["relatedLocations"].size() + 1;
        place["message"] = message("called from here");
        json["relatedLocations"].push_back(std::move(place));
      }
      json["stacks"] = Json::array({{{"message", message("the calls in kernel " + finding.kernel)},
                                     {"frames", std::move(frames)}}});
    }
    json["partialFingerprints"] = {{"tilesight/v1", finding.fingerprint}};
    Json properties = toJson(finding);
    for (const char* said : {"kind", "severity", "message", "fingerprint", "location", "source"}) properties.erase(said);
    json["properties"] = std::move(properties);
    return json;
  }

  Json notification(const char* level, const std::string& text) const {
    return {{"level", level}, {"message", message(text)}};
  }

  Json invocation(std::optional<int> programExit) const {
    Json notifications = Json::array();
    for (const UnknownSummary& summary : session_.unknowns()) {
      const Unknown& unknown = summary.unknown;
      Json json = notification("warning", fmt::format("unknown: {} (kernel {}, {})", escaped(unknown.reason),
                                                      unknown.kernel, counted(summary.launches, "launch")));
      json["descriptor"] = {{"id", "unknown"}};
      json["locations"] = Json::array({location(unknown.location, unknown.sourceLine, unknown.kernel)});
      notifications.push_back(std::move(json));
    }
    for (const Diagnostic& problem : session_.problems()) {
      Json json = notification("error", escaped(problem.message + (problem.remedy.empty() ? "" : " (" + problem.remedy + ")")));
      if (!problem.file.empty())
        json["locations"] = Json::array({location({problem.file, problem.line, problem.column, ""}, "", "")});
      notifications.push_back(std::move(json));
    }
    for (const std::string& error : session_.internalErrors())
      notifications.push_back(notification("error", "internal error: " + escaped(error)));
    for (const std::string& note : session_.notes()) notifications.push_back(notification("note", escaped(note)));
    if (!session_.launches())
      notifications.push_back(notification("warning", "no kernel was launched: nothing was checked"));
    return {{"executionSuccessful", session_.problems().empty() && session_.internalErrors().empty()},
            {"exitCode", session_.exitStatus(programExit.value_or(0))},
            {"workingDirectory", {{"uri", folderUri(options_.workingDirectory)}}},
            {"toolExecutionNotifications", std::move(notifications)}};
  }

  const Session& session_;
  const SessionOptions& options_;
  Json rules_;
  std::map<std::string, size_t> numbers_;  // kind -> position in rules_
};

}  // namespace

std::string sessionSarif(const Session& session, std::optional<int> programExit) {
  return dumped(Writer(session).log(programExit), 2) + "\n";
}

}  // namespace tilesight::findings
