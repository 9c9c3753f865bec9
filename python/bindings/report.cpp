// The report of one launch.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "findings/session.h"
#include "report.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using findings::Severity;

std::vector<std::string> fingerprints(const Report& report) {
  std::vector<std::string> result;
  for (const findings::Finding& finding : report.launch.findings)
    result.push_back(finding.fingerprint.empty() ? findings::fingerprint(finding) : finding.fingerprint);
  for (const findings::Unknown& unknown : report.launch.unknowns)
    result.push_back(unknown.kernel + ": " + unknown.reason);
  return result;
}

size_t errors(const Report& report) {
  size_t count = 0;
  for (const findings::Finding& finding : report.launch.findings)
    count += finding.severity == Severity::Error;
  return count;
}

std::vector<std::string> unknowns(const Report& report) {
  std::vector<std::string> result;
  for (const findings::Unknown& unknown : report.launch.unknowns) result.push_back(unknown.reason);
  return result;
}

}  // namespace

void defineReport(nb::module_& module) {
  nb::class_<Report>(module, "LaunchReport", "What one launch amounted to.")
      .def_prop_ro("kernel", [](const Report& r) { return r.launch.kernel; })
      .def_prop_ro("index", [](const Report& r) { return r.launch.launch; })
      .def_prop_ro("grid", [](const Report& r) {
        return nb::make_tuple(r.launch.grid[0], r.launch.grid[1], r.launch.grid[2]);
      })
      .def_prop_ro("seconds", [](const Report& r) { return r.launch.seconds; })
      .def_prop_ro("verdict", [](const Report& r) { return findings::verdictName(r.launch.verdict()); })
      .def_prop_ro("clean", [](const Report& r) {
        return r.launch.findings.empty() && r.launch.unknowns.empty();
      })
      .def_prop_ro("errors", &errors)
      .def_prop_ro("unknowns", &unknowns)
      .def_prop_ro("checked", [](const Report& r) { return r.launch.checked; })
      .def_prop_ro("not_checked", [](const Report& r) { return r.launch.notChecked; })
      .def_prop_ro("fingerprints", &fingerprints)
      .def_prop_ro("input_bytes", [](const Report& r) { return r.inputBytes; })
      .def_prop_ro("has_inputs", [](const Report& r) { return static_cast<bool>(r.inputs); })
      .def_prop_ro("trace", [](const Report& r) { return r.trace; })
      .def_prop_ro("arguments", [](const Report& r) { return r.arguments; })
      .def("drop_inputs", [](Report& r) {
        r.inputs.drop();
        r.values.reset();
        r.inputBytes = 0;
      })
      .def("set_bundle", [](Report& r, const std::string& path) {
        for (findings::Finding& finding : r.launch.findings) finding.bundle = path;
      })
      .def("to_json", [](const Report& r) { return toWire(r.launch); })
      .def_static("from_json", [](const std::string& text) { return Report{fromWire(text), {}, 0, {}, {}, {}, {}}; });
}

}  // namespace tilesight::binding
