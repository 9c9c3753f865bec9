#include "passes/wire.h"

#include <nlohmann/json.hpp>

// CBOR: its strings may hold any bytes, as texts that are read do.
namespace tilesight {

using Json = nlohmann::json;

namespace {

Json of(const Diagnostic& d) { return {d.file, d.line, d.column, d.message, d.remedy}; }

Diagnostic diagnosticFrom(const Json& j) {
  return {j.at(0).get<std::string>(), j.at(1).get<uint32_t>(), j.at(2).get<uint32_t>(), j.at(3).get<std::string>(), j.at(4).get<std::string>()};
}

Json of(const Status& status) { return status ? Json() : of(status.error()); }

Status statusFrom(const Json& j) { return j.is_null() ? Status() : failure(diagnosticFrom(j)); }

std::string bytesOf(const Json& j) {
  const std::vector<uint8_t> bytes = Json::to_cbor(j);
  return {bytes.begin(), bytes.end()};
}

/// What `read` makes of the bytes; an error if they are not what was written.
template <typename T, typename Read>
Result<T> readFrom(const std::string& bytes, Read&& read) {
  try {
    return read(Json::from_cbor(bytes));
  } catch (const std::exception&) {
    return failure("the process with the passes sent what is no answer");
  }
}

}  // namespace

namespace passes {

std::string toWire(const Result<Outcome>& outcome) {
  if (!outcome) return bytesOf({{"error", of(outcome.error())}});
  Json remarks = Json::array(), reports = Json::array();
  for (const Remark& r : outcome->remarks)
    remarks.push_back({static_cast<int>(r.kind), r.pass, r.rule, r.message, r.operation, r.file, r.line, r.column, r.irLine});
  for (const PassReport& r : outcome->reports) reports.push_back({r.name, r.seconds, r.changed, of(r.status)});
  return bytesOf({{"text", outcome->text}, {"remarks", remarks}, {"reports", reports}, {"status", of(outcome->status)}});
}

Result<Outcome> outcomeFromWire(const std::string& bytes) {
  return readFrom<Outcome>(bytes, [](const Json& j) -> Result<Outcome> {
    if (j.contains("error")) return failure(diagnosticFrom(j.at("error")));
    Outcome outcome;
    outcome.text = j.at("text").get<std::string>();
    for (const Json& r : j.at("remarks"))
      outcome.remarks.push_back({static_cast<Remark::Kind>(r.at(0).get<int>()), r.at(1), r.at(2), r.at(3), r.at(4), r.at(5), r.at(6), r.at(7), r.at(8)});
    for (const Json& r : j.at("reports")) outcome.reports.push_back({r.at(0), r.at(1), r.at(2), statusFrom(r.at(3))});
    outcome.status = statusFrom(j.at("status"));
    return outcome;
  });
}

std::string toWire(const Result<std::string>& bytes) { return bytes ? bytesOf({*bytes}) : bytesOf({nullptr, of(bytes.error())}); }

Result<std::string> bytesFromWire(const std::string& wire) {
  return readFrom<std::string>(wire, [](const Json& j) -> Result<std::string> {
    if (j.at(0).is_null()) return failure(diagnosticFrom(j.at(1)));
    return j.at(0).get<std::string>();
  });
}

std::string toWire(const Result<CaseOutcome>& outcome) {
  if (!outcome) return bytesOf(Json::array({of(outcome.error())}));
  return bytesOf({outcome->failures, outcome->output, outcome->remarks, outcome->assumed});
}

Result<CaseOutcome> caseFromWire(const std::string& bytes) {
  return readFrom<CaseOutcome>(bytes, [](const Json& j) -> Result<CaseOutcome> {
    if (j.size() == 1) return failure(diagnosticFrom(j.at(0)));
    CaseOutcome outcome;
    j.at(0).get_to(outcome.failures);
    j.at(1).get_to(outcome.output);
    j.at(2).get_to(outcome.remarks);
    j.at(3).get_to(outcome.assumed);
    return outcome;
  });
}

}  // namespace passes
}  // namespace tilesight
