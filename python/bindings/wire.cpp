// Launch reports as JSON, from the processes of a `tilesight run` to the `run` itself. Fields have
// the names of the structures; this is no public format.
#include <nlohmann/json.hpp>

#include "binding.h"

namespace tilesight::findings {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Frame, file, line, column, function)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Iteration, name, value, trip)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Because, name, expression, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Operand, argument, index, byteOffset, bytesPast, shape, strides, dtype,
                                   viewBytes, allocationBytes, allocationKnown)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IgnoreComment, file, line, kinds, misspelt)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Unknown, kernel, reason, location, sourceLine)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, kind, severity, message, fingerprint, client, kernel, launch,
                                   grid, config, test, location, stack, sourceLine, ignores, accessKind,
                                   accessBytes, operation, program, element, iterations, because,
                                   notes, consequences, remedy, maxBytesPast, otherSideBytes, countElements,
                                   countPrograms, countLaunches, bundle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LaunchReport, launch, kernel, file, grid, unknowns, seconds, checked,
                                                notChecked, traceRecords, clients)

}  // namespace tilesight::findings

namespace tilesight::binding {

using nlohmann::json;

std::string toWire(const findings::LaunchReport& report) {
  json result = report;
  json& list = result["findings"] = json::array();
  for (const findings::Finding& finding : report.findings) {
    json entry = finding;
    if (finding.operand) entry["operand"] = *finding.operand;
    list.push_back(std::move(entry));
  }
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

findings::LaunchReport fromWire(const std::string& text) {
  try {
    const json source = json::parse(text);
    findings::LaunchReport report = source.get<findings::LaunchReport>();
    for (const json& entry : source.at("findings")) {
      findings::Finding finding = entry.get<findings::Finding>();
      if (entry.contains("operand")) finding.operand = entry["operand"].get<findings::Operand>();
      report.findings.push_back(std::move(finding));
    }
    return report;
  } catch (const json::exception& error) {
    throw Error(std::string("a launch report that cannot be read: ") + error.what());
  }
}

}  // namespace tilesight::binding
