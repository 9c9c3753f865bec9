#include "server/launch_json.h"

#include "findings/json_values.h"
#include "ir/type.h"

namespace tilesight::server {
namespace {

using findings::Json;

const char* stateName(Entry::State state) {
  static constexpr const char* kNames[] = {"waiting", "running", "ready", "failed"};
  return kNames[static_cast<size_t>(state)];
}

Json argumentJson(const launch::Argument& argument, const launch::Launch& launch) {
  static constexpr const char* kKinds[] = {"tensor", "scalar", "descriptor", "specialized"};
  Json json{{"name", argument.name}, {"kind", kKinds[static_cast<size_t>(argument.kind)]}};
  const bool isView = argument.kind == launch::Argument::Kind::Tensor || argument.kind == launch::Argument::Kind::Descriptor;
  if (isView) {
    json["dtype"] = argument.view.dtype;
    json["shape"] = argument.view.shape;
    json["strides"] = argument.view.strides;
    json["withheld"] = launch.storages[argument.view.storage].withheld;
  } else if (argument.kind == launch::Argument::Kind::Scalar) {
    json["dtype"] = ir::elementName(argument.element);
    if (ir::isIntegerKind(argument.element)) json["value"] = std::to_string(static_cast<int64_t>(argument.bits));
    else if (argument.element == ir::ElementKind::F32) {
      float value = 0;
      const uint32_t bits = static_cast<uint32_t>(argument.bits);
      __builtin_memcpy(&value, &bits, sizeof value);
      json["value"] = std::to_string(value);
    }
  } else {
    json["value"] = argument.text;
  }
  return json;
}

}  // namespace

std::string launchesJson(const std::vector<Entry>& entries, uint64_t version) {
  Json list = Json::array();
  for (const Entry& entry : entries)
    list.push_back({{"bundle", entry.bundle}, {"kernel", entry.kernel}, {"number", entry.number}, {"state", stateName(entry.state)},
                    {"error", entry.error}, {"grid", entry.grid}, {"errors", entry.errors}, {"warnings", entry.warnings},
                    {"notes", entry.notes}, {"unknowns", entry.unknowns}, {"seconds", entry.seconds}});
  return findings::dumped({{"launches", list}, {"version", version}}, -1);
}

std::string launchJson(const Loaded& loaded) {
  const launch::Launch& launch = loaded.launch();
  Json json{{"state", "ready"}, {"kernel", launch.kernel}, {"bundle", loaded.bundle}, {"number", launch.index},
            {"grid", launch.grid}, {"triton", launch.tritonVersion}};
  json["arguments"] = Json::array();
  for (const launch::Argument& argument : launch.arguments) json["arguments"].push_back(argumentJson(argument, launch));
  json["sources"] = launch.sources;
  json["ir"] = loaded.shown.text;
  json["ops"] = Json::array();
  for (const ShownOp& op : loaded.shown.ops) {
    Json entry{{"op", op.number}, {"operation", op.operation}, {"variable", op.variable}, {"irLine", op.line},
               {"file", op.file}, {"line", op.fileLine}, {"column", op.column}};
    json["ops"].push_back(std::move(entry));
  }
  return findings::dumped(json, -1);
}

std::string surveyJson(const Surveyed& surveyed) {
  Json json{{"state", "ready"}, {"accesses", surveyed.survey->accesses()}};
  json["findings"] = Json::array();
  for (const findings::Finding& finding : surveyed.session.findings()) json["findings"].push_back(findings::toJson(finding));
  json["unknowns"] = Json::array();
  for (const findings::UnknownSummary& unknown : surveyed.session.unknowns())
    json["unknowns"].push_back({{"reason", unknown.unknown.reason}, {"file", unknown.unknown.location.file}, {"line", unknown.unknown.location.line}});
  json["checked"] = surveyed.report.checked;
  json["notChecked"] = surveyed.report.notChecked;
  json["totals"] = Json::object();
  for (const auto& [op, t] : surveyed.survey->ops())
    json["totals"][std::to_string(op)] = {{"accesses", t.accesses}, {"elements", t.elements}, {"active", t.active},
                                          {"read", t.read}, {"written", t.written}, {"faults", t.faults}};
  return findings::dumped(json, -1);
}

std::string errorJson(const std::string& error) { return findings::dumped({{"error", error}}, -1); }
std::string pendingJson(const Loaded* loaded) {
  if (!loaded) return R"({"state":"running"})";
  return findings::dumped({{"state", "running"}, {"done", loaded->programsDone()}, {"of", loaded->programs()}}, -1);
}
std::string changedJson() { return R"({"state":"changed"})"; }

}  // namespace tilesight::server
