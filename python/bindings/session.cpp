// Sessions: the merged findings of many launches, and the exit status.
#include <algorithm>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "report.h"
#include "findings/github.h"
#include "findings/kinds.h"
#include "findings/remarks.h"
#include "findings/reports.h"
#include "findings/session.h"
#include "settings/settings.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using findings::Session;

/// (is it a kernel's, pattern, kinds, the folder that files are relative to)
findings::IgnoreRule ruleOf(const nb::tuple& row) {
  using Of = findings::IgnoreRule::Of;
  return {nb::cast<bool>(row[0]) ? Of::Kernel : Of::File, nb::cast<std::string>(row[1]),
          nb::cast<std::vector<std::string>>(row[2]), nb::cast<std::string>(row[3])};
}

/// "" for a value of --fail-on, else what it can be.
std::string failOnProblem(const std::string& text) {
  if (findings::parseFailOn(text)) return {};
  return "'" + text + "'; it can be " + findings::failOnChoices;
}

void addRefusal(Session& session, const std::string& kernel, const std::string& kernelFile, const std::string& file,
                uint32_t line, uint32_t column, const std::string& reason) {
  session.addRefusal({kernel, reason, {file, line, column, kernel}, kernelFile, 1});
}

void construct(Session* place, std::vector<std::string> ignore, const nb::list& ignoreRules, uint32_t printLimit,
               const std::string& failOn, int errorExitCode, bool quiet, const std::string& baseline,
               const std::string& writeBaseline, const std::string& optionPrefix) {
  findings::SessionOptions options;
  options.optionPrefix = optionPrefix;
  options.ignore = std::move(ignore);
  for (nb::handle rule : ignoreRules) options.ignoreRules.push_back(ruleOf(nb::tuple(rule)));
  options.printLimit = printLimit;
  const auto parsed = findings::parseFailOn(failOn);
  if (!parsed) throw Error("fail_on is " + failOnProblem(failOn));
  options.failOn = *parsed;
  options.errorExitCode = errorExitCode;
  options.quiet = quiet;
  options.baseline = valueOf(findings::baselineOf(baseline, writeBaseline));
  new (place) Session(std::move(options));
}

findings::ReportOptions reportOptions(const std::string& format, const std::string& json, const std::string& sarif,
                                      const std::string& output, const std::string& writeBaseline) {
  const auto parsed = findings::parseReportFormat(format);
  if (!parsed) throw Error("the format is \"" + format + "\"; it can be text or github");
  return {.format = *parsed, .json = json, .sarif = sarif, .output = output, .writeBaseline = writeBaseline};
}

void writeFiles(Session& session, const std::string& format, const std::string& json, const std::string& sarif,
                const std::string& writeBaseline, bool partial, std::optional<int> programExit) {
  findings::ReportOptions options = reportOptions(format, json, sarif, "", writeBaseline);
  options.partial = partial;
  findings::writeFiles(session, options, programExit);
}

int writeReports(Session& session, const std::string& format, const std::string& json, const std::string& sarif,
                 const std::string& output, const std::string& writeBaseline, bool partial,
                 std::optional<int> programExit) {
  findings::ReportOptions options = reportOptions(format, json, sarif, output, writeBaseline);
  options.partial = partial;
  return findings::writeReports(session, options, programExit);
}

void checkReports(const std::string& format, const std::string& json, const std::string& sarif,
                  const std::string& output, const std::string& writeBaseline,
                  std::vector<std::pair<std::string, std::string>> others) {
  findings::ReportOptions options = reportOptions(format, json, sarif, output, writeBaseline);
  options.others = std::move(others);
  check(findings::checkReports(options));
}

void addProblem(Session& session, const std::string& file, uint32_t line, uint32_t column,
                const std::string& message, const std::string& remedy) {
  session.addProblem(Diagnostic{file, line, column, message, remedy});
}

/// What is set, by the names of `tilesight run`'s options; `file` and `places` (line, column of a value) say
/// where.
nb::dict projectSettings(const std::string& directory, bool withinRepository) {
  const settings::Settings settings = valueOf(settings::read(directory, withinRepository));
  nb::dict result;
  const auto set = [&](const char* name, const auto& value) {
    if (value) result[name] = nb::cast(*value);
  };
  result["file"] = settings.file;
  set("client", settings.client);
  set("fail_on", settings.failOn);
  set("like", settings.like);
  set("baseline", settings.baseline);
  set("print_limit", settings.printLimit);
  set("num_sms", settings.numSms);
  set("threads", settings.threads);
  set("timeout", settings.timeout);
  set("all_configs", settings.allConfigs);
  if (!settings.ignore.empty()) result["ignore"] = nb::cast(settings.ignore);
  nb::list rules;
  for (const findings::IgnoreRule& rule : settings.ignoreRules)
    rules.append(nb::make_tuple(rule.of == findings::IgnoreRule::Of::Kernel, rule.pattern, rule.kinds, rule.directory));
  if (!settings.ignoreRules.empty()) result["ignore_rules"] = rules;
  nb::dict places;
  for (const auto& [key, place] : settings.places) places[key.c_str()] = nb::make_tuple(place.first, place.second);
  result["places"] = places;
  return result;
}

/// "" for a kind of finding, else what is wrong with the name.
std::string kindProblem(const std::string& name) {
  if (findings::findKind(name)) return {};
  return "\"" + name + "\" is no kind of finding" + findings::didYouMeanKind(name);
}

}  // namespace

void defineSession(nb::module_& module) {
  nb::class_<Session>(module, "Session", "Everything that one run has found.")
      .def("__init__", &construct, nb::arg("ignore") = std::vector<std::string>{},
           nb::arg("ignore_rules") = nb::list(), nb::arg("print_limit") = 50, nb::arg("fail_on") = "error",
           nb::arg("error_exitcode") = 1, nb::arg("quiet") = false, nb::arg("baseline") = "",
           nb::arg("write_baseline") = "", nb::arg("option_prefix") = "--")
      .def("sibling", &Session::sibling, "An empty session that shares what is left of the baseline.")
      .def("add_refusal", &addRefusal, nb::arg("kernel"), nb::arg("kernel_file"), nb::arg("file"), nb::arg("line"),
           nb::arg("column"), nb::arg("reason"))
      .def("add", [](Session& session, const Report& report) { session.add(report.launch); })
      .def("add_note", &Session::addNote)
      .def("add_problem", &addProblem, nb::arg("file"), nb::arg("line"), nb::arg("column"),
           nb::arg("message"), nb::arg("remedy") = "")
      .def("add_internal_error", &Session::addInternalError)
      .def_prop_ro("launches", &Session::launches)
      .def_prop_ro("verdict", [](const Session& s) { return findings::verdictName(s.verdict()); })
      .def("exit_status", &Session::exitStatus, nb::arg("program_exit") = 0)
      .def("set_no_launch_reason", &Session::setNoLaunchReason)
      .def_prop_ro("errors", [](const Session& s) {
        return std::count_if(s.findings().begin(), s.findings().end(),
                             [](const auto& f) { return f.severity == findings::Severity::Error; });
      })
      .def_prop_ro("clean", [](const Session& s) { return s.findings().empty() && s.unknowns().empty(); })
      .def_prop_ro("fingerprints", [](const Session& s) {
        std::vector<std::string> result;
        for (const findings::Finding& finding : s.findings()) result.push_back(finding.fingerprint);
        for (const findings::UnknownSummary& summary : s.unknowns())
          result.push_back(summary.unknown.kernel + ": " + summary.unknown.reason);
        return result;
      })
      .def("write_reports", &writeReports, nb::arg("format") = "text", nb::arg("json") = "", nb::arg("sarif") = "",
           nb::arg("output") = "", nb::arg("write_baseline") = "", nb::arg("partial") = false,
           nb::arg("program_exit").none() = nb::none(), "Writes all reports; returns the exit status.")
      .def("write_files", &writeFiles, nb::arg("format") = "text", nb::arg("json") = "", nb::arg("sarif") = "",
           nb::arg("write_baseline") = "", nb::arg("partial") = false, nb::arg("program_exit").none() = nb::none(),
           "Writes the reports for programs only.")
      .def("text", &Session::text, nb::arg("colour"))
      .def("github", [](const Session& session) { return findings::sessionGithub(session); })
      .def("json", &Session::json, nb::arg("program_exit").none());
  module.def("project_settings", &projectSettings, nb::arg("directory"),
             nb::arg("within_repository") = false,
             "[tool.tilesight] of the nearest pyproject.toml: a dict with what is set. Raises Error.");
  module.def("check_reports", &checkReports, nb::arg("format") = "text", nb::arg("json") = "",
             nb::arg("sarif") = "", nb::arg("output") = "", nb::arg("write_baseline") = "",
             nb::arg("others") = std::vector<std::pair<std::string, std::string>>{},
             "Raises Error for reports that cannot be written, before anything has run.");
  module.def("no_launch_left", &findings::noLaunchLeft, nb::arg("prefix"), nb::arg("name"), nb::arg("kernels"));
  module.def("address_only_remark", &findings::addressOnlyRemark, nb::arg("prefix"));
  module.def("tracer_remark", &findings::tracerRemark, nb::arg("bundle"));
  module.def("fail_on_problem", &failOnProblem, nb::arg("text"));
  module.def("kind_problem", &kindProblem, nb::arg("name"));
}

}  // namespace tilesight::binding
