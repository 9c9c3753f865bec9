#include "findings/json.h"

#include "findings/json_values.h"

namespace tilesight::findings {
namespace {

Json frameJson(const Frame& frame) {
  return {{"file", frame.file}, {"line", frame.line}, {"column", frame.column},
          {"function", frame.function}};
}

Json locationJson(const Frame& location, const std::vector<Frame>& stack) {
  Json json = frameJson(location);
  json["stack"] = Json::array();
  for (const Frame& frame : stack) json["stack"].push_back(frameJson(frame));
  return json;
}

/// `config` is JSON text; anything else is kept as a string rather than lost.
Json configJson(const std::string& config) {
  if (config.empty()) return Json::object();
  Json json = Json::parse(config, nullptr, false);
  return json.is_discarded() ? Json(config) : json;
}

Json operandJson(const Operand& operand) {
  return {{"argument", operand.argument},
          {"index", operand.index},
          {"byte_offset", operand.byteOffset},
          {"bytes_past", operand.bytesPast},
          {"dtype", operand.dtype},
          {"shape", operand.shape},
          {"strides", operand.strides},
          {"view_bytes", operand.viewBytes},
          {"allocation_bytes", operand.allocationBytes},
          {"allocation_known", operand.allocationKnown}};
}

}  // namespace

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json toJson(const Finding& finding) {
  Json json;
  json["kind"] = finding.kind;
  json["severity"] = severityName(finding.severity);
  json["message"] = finding.message;
  json["fingerprint"] = finding.fingerprint;
  json["client"] = finding.client;
  json["kernel"] = finding.kernel;
  json["kernel_file"] = finding.kernelFile;
  json["launch"] = finding.launch;
  json["grid"] = finding.grid;
  json["config"] = configJson(finding.config);
  json["test"] = finding.test;
  json["location"] = locationJson(finding.location, finding.stack);
  json["source"] = finding.sourceLine;
  json["operation"] = finding.operation;
  json["access"] = finding.accessKind.empty()
                       ? Json(nullptr)
                       : Json({{"kind", finding.accessKind}, {"bytes", finding.accessBytes}});
  json["program"] = finding.program;
  json["element"] = finding.element;
  json["iterations"] = Json::array();
  for (const Iteration& iteration : finding.iterations)
    json["iterations"].push_back(
        {{"name", iteration.name}, {"value", iteration.value}, {"trip", iteration.trip}});
  json["max_bytes_past"] = finding.maxBytesPast;
  json["operand"] = finding.operand ? operandJson(*finding.operand) : Json(nullptr);
  json["because"] = Json::array();
  for (const Because& because : finding.because)
    json["because"].push_back({{"name", because.name},
                               {"expression", because.expression},
                               {"value", because.value}});
  json["notes"] = finding.notes;
  json["consequences"] = finding.consequences;
  json["remedy"] = finding.remedy;
  json["counts"] = {{"elements", finding.countElements},
                    {"programs", finding.countPrograms},
                    {"launches", finding.countLaunches}};
  json["bundle"] = finding.bundle;
  return json;
}

namespace {

Json toJson(const UnknownSummary& summary) {
  return {{"kernel", summary.unknown.kernel},
          {"kernel_file", summary.unknown.kernelFile},
          {"reason", summary.unknown.reason},
          {"location", locationJson(summary.unknown.location, {})},
          {"source", summary.unknown.sourceLine},
          {"launches", summary.launches}};
}

Json toJson(const KernelSummary& kernel) {
  return {{"kernel", kernel.kernel},
          {"file", kernel.file},
          {"launches", kernel.launches},
          {"verdict", verdictName(kernel.verdict())},
          {"errors", kernel.errors},
          {"warnings", kernel.warnings},
          {"notes", kernel.notes},
          {"unknowns", kernel.unknowns},
          {"accepted", kernel.accepted},
          {"refused", kernel.refused},
          {"seconds", kernel.seconds},
          {"trace_records", kernel.traceRecords},
          {"checked", kernel.checked},
          {"not_checked", kernel.notChecked},
          {"launches_not_checked", kernel.unchecked}};
}

Json toJson(const Refusal& refusal) {
  return {{"kernel", refusal.kernel},
          {"kernel_file", refusal.kernelFile},
          {"reason", refusal.reason},
          {"location", locationJson(refusal.location, {})},
          {"launches", refusal.launches}};
}

Json toJson(const Diagnostic& problem) {
  return {{"file", problem.file},
          {"line", problem.line},
          {"column", problem.column},
          {"message", problem.message},
          {"remedy", problem.remedy}};
}

template <typename Items>
Json listOf(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(toJson(item));
  return list;
}

}  // namespace

std::string findingJson(const Finding& finding) { return dumped(toJson(finding), -1); }

std::string sessionJson(const Session& session, std::optional<int> programExit) {
  const std::vector<KernelSummary> kernels = session.kernels();
  uint32_t errors = 0, warnings = 0, notes = 0, refused = 0;
  for (const KernelSummary& kernel : kernels) {
    refused += kernel.refused;
    errors += kernel.errors;
    warnings += kernel.warnings;
    notes += kernel.notes;
  }
  Json json;
  json["format"] = "tilesight-report";
  json["version"] = 1;
  json["tilesight"] = TILESIGHT_VERSION;
  json["verdict"] = verdictName(session.verdict());
  json["exit_status"] = session.exitStatus(programExit.value_or(0));
  json["program_exit"] = programExit ? Json(*programExit) : Json(nullptr);
  json["summary"] = {{"kernels", kernels.size()},
                     {"launches", session.launches()},
                     {"errors", errors},
                     {"warnings", warnings},
                     {"notes", notes},
                     {"unknowns", session.unknowns().size()},
                     {"suppressed", session.suppressed()},
                     {"accepted", session.accepted().size()},
                     {"refused", refused},
                     {"seconds", session.seconds()}};
  json["kernels"] = listOf(kernels);
  json["findings"] = listOf(session.findings());
  json["unknowns"] = listOf(session.unknowns());
  json["accepted"] = {{"findings", listOf(session.accepted().findings)},
                      {"unknowns", listOf(session.accepted().unknowns)}};
  json["refused"] = listOf(session.refusals());
  json["notes"] = session.notes();
  json["problems"] = listOf(session.problems());
  json["internal_errors"] = session.internalErrors();
  return dumped(json, 2) + "\n";
}

}  // namespace tilesight::findings
