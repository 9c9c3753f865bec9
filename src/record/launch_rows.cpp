#include "record/launch_rows.h"

#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "findings/session.h"
#include "ir/type.h"

namespace tilesight::record {

namespace {

using Json = nlohmann::ordered_json;

Json scalar(const launch::Argument& argument) {
  switch (argument.element) {
    case ir::ElementKind::F32: return std::bit_cast<float>(static_cast<uint32_t>(argument.bits));
    case ir::ElementKind::F64: return std::bit_cast<double>(argument.bits);
    case ir::ElementKind::I1: return argument.bits != 0;
    default: break;
  }
  if (ir::isIntegerKind(argument.element)) return static_cast<int64_t>(argument.bits);
  return fmt::format("{:#x}", argument.bits);
}

std::string argumentsOf(const launch::Launch& launch) {
  Json json = Json::object();
  for (const launch::Argument& argument : launch.arguments) {
    if (argument.kind == launch::Argument::Kind::Scalar) json[argument.name] = scalar(argument);
    if (argument.kind == launch::Argument::Kind::Specialized) {
      Json value = Json::parse(argument.text, nullptr, false);  // numbers and the like; else it stays text
      json[argument.name] = value.is_discarded() ? Json(argument.text) : value;
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void addLaunch(arrow::Rows& rows, uint32_t number, const launch::Launch& launch, const findings::LaunchReport& report,
               const std::string& bundle, int64_t programs, int64_t accesses) {
  std::vector<std::string> unknowns;
  for (const findings::Unknown& unknown : report.unknowns) {
    const findings::Frame& place = unknown.location;
    unknowns.push_back(place.file.empty() ? unknown.reason : fmt::format("{}:{}: {}", place.file, place.line, unknown.reason));
  }
  rows.add(int64_t{number}).add(launch.kernel).add(report.file).add(bundle).add(int64_t{launch.index});
  rows.add(launch.grid[0]).add(launch.grid[1]).add(launch.grid[2]).add(programs).add(accesses);
  rows.add(std::string(findings::verdictName(report.verdict()))).add(unknowns).add(argumentsOf(launch)).add(launch.config);
  rows.add(launch.tritonVersion).add(launch.target).add(launch.test);
}

void addTensor(arrow::Rows& rows, uint32_t number, const launch::Launch& launch, const ts_argument& argument) {
  const launch::View& view = launch.arguments[argument.index].view;
  rows.add(int64_t{number}).add(std::string(argument.name)).add(int64_t{argument.index}).add(view.dtype);
  rows.add(static_cast<int64_t>(ir::elementBytes(view.element)));
  rows.add(std::vector<int64_t>(argument.shape, argument.shape + argument.rank));
  rows.add(std::vector<int64_t>(argument.strides, argument.strides + argument.rank));
  rows.add(static_cast<int64_t>(argument.address)).add(int64_t{view.storage});
  rows.add(static_cast<int64_t>(argument.allocation)).add(static_cast<int64_t>(argument.allocation_bytes));
}

void addFindings(arrow::Rows& rows, uint32_t number, const findings::LaunchReport& report) {
  for (const findings::Finding& f : report.findings) {
    rows.add(int64_t{number}).add(f.kind).add(std::string(findings::severityName(f.severity))).add(f.message);
    rows.add(f.client).add(f.kernel).add(f.location.file).add(int64_t{f.location.line}).add(int64_t{f.location.column});
    rows.add(f.location.function).add(f.sourceLine).add(f.operation);
    rows.add(f.operand ? f.operand->argument : std::string());
    rows.add(f.operand ? f.operand->index : std::vector<int64_t>());
    rows.add(f.operand ? f.operand->byteOffset : int64_t{0}).add(f.operand ? f.operand->bytesPast : int64_t{0});
    for (int64_t id : f.program) rows.add(id);
    rows.add(f.element);
    std::vector<int64_t> trips;
    for (const findings::Iteration& iteration : f.iterations) trips.push_back(iteration.trip);
    rows.add(trips);
    std::vector<std::string> because;
    for (const findings::Because& b : f.because) {
      std::string text = b.name;
      for (const std::string* part : {&b.expression, &b.value})
        if (!part->empty()) text += (text.empty() ? "" : " = ") + *part;
      because.push_back(std::move(text));
    }
    rows.add(because).add(f.notes).add(f.consequences).add(f.remedy).add(f.countElements).add(f.countPrograms);
    rows.add(f.fingerprint.empty() ? findings::fingerprint(f) : f.fingerprint);
  }
}

}  // namespace tilesight::record
