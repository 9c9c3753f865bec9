// Sessions: the merged findings of many launches, and the exit status.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "findings/kinds.h"
#include "findings/session.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using findings::Session;

void construct(Session* place, std::vector<std::string> ignore, uint32_t printLimit,
               const std::string& failOn, int errorExitCode, bool quiet) {
  findings::SessionOptions options;
  options.ignore = std::move(ignore);
  options.printLimit = printLimit;
  const auto parsed = findings::parseFailOn(failOn);
  if (!parsed) throw Error("fail_on is \"" + failOn + "\"; it can be error, warning or never");
  options.failOn = *parsed;
  options.errorExitCode = errorExitCode;
  options.quiet = quiet;
  new (place) Session(std::move(options));
}

void addProblem(Session& session, const std::string& file, uint32_t line, uint32_t column,
                const std::string& message, const std::string& remedy) {
  session.addProblem(Diagnostic{file, line, column, message, remedy});
}

/// "" for a kind of finding, else what is wrong with the name.
std::string kindProblem(const std::string& name) {
  if (findings::findKind(name)) return {};
  const std::string near(findings::nearestKind(name));
  return "\"" + name + "\" is no kind of finding" + (near.empty() ? "" : "; did you mean " + near + "?");
}

}  // namespace

void defineSession(nb::module_& module) {
  nb::class_<Session>(module, "Session", "Everything that one run has found.")
      .def("__init__", &construct, nb::arg("ignore") = std::vector<std::string>{},
           nb::arg("print_limit") = 50, nb::arg("fail_on") = "error", nb::arg("error_exitcode") = 1,
           nb::arg("quiet") = false)
      .def("add", [](Session& session, const Report& report) { session.add(report.launch); })
      .def("add_note", &Session::addNote)
      .def("add_problem", &addProblem, nb::arg("file"), nb::arg("line"), nb::arg("column"),
           nb::arg("message"), nb::arg("remedy") = "")
      .def("add_internal_error", &Session::addInternalError)
      .def_prop_ro("launches", &Session::launches)
      .def_prop_ro("verdict", [](const Session& s) { return findings::verdictName(s.verdict()); })
      .def("exit_status", &Session::exitStatus, nb::arg("program_exit") = 0)
      .def("text", &Session::text, nb::arg("colour"))
      .def("json", &Session::json, nb::arg("program_exit").none());
  module.def("kind_problem", &kindProblem, nb::arg("name"));
}

}  // namespace tilesight::binding
