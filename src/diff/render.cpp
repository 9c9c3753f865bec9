#include "diff/render.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "findings/format.h"

namespace tilesight::diff {

namespace {

using findings::counted;
using findings::grouped;
using findings::indexText;
using findings::printable;
using Json = nlohmann::ordered_json;

constexpr const char* kSide[] = {"A", "B"};

std::string place(const std::optional<Touch>& touch) {
  if (!touch) return "nobody";
  std::string out = fmt::format("program ({},{},{})", touch->program[0], touch->program[1], touch->program[2]);
  for (const auto& [name, trip] : touch->trips) out += fmt::format(", {}iteration {}", name.empty() ? "" : printable(name) + " ", trip);
  if (!touch->file.empty()) out += fmt::format(" at {}:{}", printable(touch->file.substr(touch->file.rfind('/') + 1)), touch->line);
  return out;
}

std::string setsText(const char* verb, const Sets& sets) {
  if (!sets.both && sets.same()) return {};
  if (sets.same()) return fmt::format("    {}: the same {}\n", verb, counted(sets.both, "element"));
  std::string out = fmt::format("    {}: {} in both\n", verb, counted(sets.both, "element"));
  for (size_t s = 0; s < 2; ++s) {
    const Only& only = sets.only[s];
    if (only.count)
      out += fmt::format("      only in {}: {}, first {} by {}\n", kSide[s], counted(only.count, "element"), indexText(only.first), place(only.touch));
  }
  return out;
}

std::string tensorText(const TensorResult& t) {
  const bool renamed = !t.name[0].empty() && !t.name[1].empty() && t.name[0] != t.name[1];
  std::string out = "  " + printable(renamed ? t.name[0] + " / " + t.name[1] : t.name[0].empty() ? t.name[1] : t.name[0]);
  if (!t.mismatch.empty()) return out + ": " + t.mismatch + "\n";
  out += "\n" + setsText("read", t.read) + setsText("written", t.written);
  if (!t.read.both && t.read.same() && !t.written.both && t.written.same()) out += "    not accessed\n";
  if (t.inputs)
    out += fmt::format("    note: {} that both read differed before the launch, first {}\n", counted(t.inputs, "element"), indexText(t.firstInput));
  if (!t.notCompared.empty()) return out + fmt::format("    values: not compared ({})\n", t.notCompared);
  if (!t.values) return out;
  if (!t.different) return out + "    values: bit for bit the same\n";
  out += fmt::format("    values: {} of {} differ", grouped(t.different), grouped(t.values));
  if (t.maxAbsolute > 0) out += fmt::format("; by at most {:.6g} at {}", t.maxAbsolute, indexText(t.maxAt));
  if (t.maxUlp >= 0) out += fmt::format(", {} ulp", grouped(t.maxUlp));
  out += "\n";
  for (size_t s = 0; s < 2; ++s)
    out += fmt::format("      first {}: {} in {}, written by {}\n", indexText(t.first->index), t.first->value[s], kSide[s], place(t.first->writer[s]));
  return out;
}

Json touchJson(const std::optional<Touch>& touch) {
  if (!touch) return nullptr;
  Json trips = Json::array();
  for (const auto& [name, trip] : touch->trips) trips.push_back({{"name", name}, {"trip", trip}});
  return {{"program", touch->program}, {"file", touch->file}, {"line", touch->line}, {"trips", trips}};
}

Json setsJson(const Sets& sets) {
  Json json{{"both", sets.both}};
  for (size_t s = 0; s < 2; ++s)
    json[s ? "only_b" : "only_a"] = {{"count", sets.only[s].count},
                                     {"first", sets.only[s].count ? Json(sets.only[s].first) : Json(nullptr)},
                                     {"by", touchJson(sets.only[s].touch)}};
  return json;
}

Json tensorJson(const TensorResult& t) {
  Json json{{"a", t.name[0]}, {"b", t.name[1]}, {"same", t.same()}, {"mismatch", t.mismatch}, {"read", setsJson(t.read)},
            {"written", setsJson(t.written)}, {"inputs_different", t.inputs}, {"not_compared", t.notCompared}};
  json["values"] = {{"compared", t.values}, {"different", t.different}, {"max_absolute", t.maxAbsolute}, {"max_at", t.maxAt},
                    {"max_ulp", t.maxUlp < 0 ? Json(nullptr) : Json(t.maxUlp)}};
  json["first"] = nullptr;
  if (t.first)
    json["first"] = {{"index", t.first->index}, {"a", t.first->value[0]}, {"b", t.first->value[1]},
                     {"writer_a", touchJson(t.first->writer[0])}, {"writer_b", touchJson(t.first->writer[1])}};
  return json;
}

constexpr const char* kVerdict[] = {"same", "differ", "unknown"};

}  // namespace

Verdict verdictOf(const Comparison& comparison) {
  bool unknown = comparison.launches.empty();
  for (const auto& side : comparison.unpaired)
    if (!side.empty()) return Verdict::Differ;
  for (const LaunchResult& launch : comparison.launches) {
    // What a launch that ended early did not do says nothing.
    if (launch.unknowns.empty() && !launch.same()) return Verdict::Differ;
    unknown = unknown || launch.unknown();
  }
  return unknown ? Verdict::Unknown : Verdict::Same;
}

std::string text(const Comparison& comparison) {
  std::string out = fmt::format("A: {}\nB: {}\n", printable(comparison.files[0]), printable(comparison.files[1]));
  for (const LaunchResult& launch : comparison.launches) {
    const bool renamed = launch.kernel[0] != launch.kernel[1];
    out += fmt::format("{}, launch {} and {}\n", printable(renamed ? launch.kernel[0] + " / " + launch.kernel[1] : launch.kernel[0]),
                       launch.launch[0], launch.launch[1]);
    for (const TensorResult& tensor : launch.tensors) out += tensorText(tensor);
    for (size_t s = 0; s < 2; ++s)
      if (launch.elsewhere[s]) out += fmt::format("  {} in {} outside every tensor: not compared\n", counted(launch.elsewhere[s], "byte"), kSide[s]);
    for (const std::string& unknown : launch.unknowns) out += fmt::format("  unknown: {}\n", printable(unknown));
  }
  for (size_t s = 0; s < 2; ++s)
    for (const std::string& kernel : comparison.unpaired[s]) out += fmt::format("only in {}: a launch of {}\n", kSide[s], printable(kernel));
  return out + kVerdict[static_cast<size_t>(verdictOf(comparison))] + "\n";
}

std::string json(const Comparison& comparison) {
  Json json{{"tool", "tilesight-diff"}, {"a", comparison.files[0]}, {"b", comparison.files[1]},
            {"verdict", kVerdict[static_cast<size_t>(verdictOf(comparison))]}, {"launches", Json::array()}};
  for (const LaunchResult& launch : comparison.launches) {
    Json tensors = Json::array();
    for (const TensorResult& tensor : launch.tensors) tensors.push_back(tensorJson(tensor));
    json["launches"].push_back({{"kernel_a", launch.kernel[0]}, {"kernel_b", launch.kernel[1]}, {"launch_a", launch.launch[0]},
                                {"launch_b", launch.launch[1]}, {"same", launch.same()}, {"tensors", tensors},
                                {"bytes_elsewhere", launch.elsewhere}, {"unknowns", launch.unknowns}});
  }
  json["only_a"] = comparison.unpaired[0];
  json["only_b"] = comparison.unpaired[1];
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilesight::diff
