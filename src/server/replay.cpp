#include "server/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "exec/kernel.h"
#include "findings/json_values.h"
#include "findings/nearest.h"
#include "ir/float_format.h"
#include "server/condition.h"
#include "server/elements.h"
#include "server/packed.h"
#include "trace/names.h"
#include "trace/withheld.h"

namespace tilesight::server {
namespace {

using findings::Json;
using trace::Site;
using trace::Value;

constexpr int64_t kThumbnail = 24;
constexpr double kFindSeconds = 1.0;

const trace::Named& namedOf(const trace::Values& values, const Value& value) {
  const Site& site = values.sites()[value.site];
  return (value.operand ? site.operands : site.values)[value.number];
}

/// Values (site, number) that are their variable after their line.
std::set<std::pair<uint32_t, uint32_t>> lastOfLines(const trace::Values& values) {
  std::map<std::tuple<std::vector<uint32_t>, std::string, uint32_t, std::string, Site::What>, std::pair<uint32_t, uint32_t>> last;
  for (uint32_t s = 0; s < values.sites().size(); ++s) {
    const Site& site = values.sites()[s];
    for (uint32_t i = 0; i < site.values.size(); ++i) {
      const trace::Named& named = site.values[i];
      if (!named.name.empty()) last[{site.calls, named.file, named.line, named.name, site.what}] = {s, i};
    }
  }
  std::set<std::pair<uint32_t, uint32_t>> result;
  for (const auto& [key, place] : last) result.insert(place);
  return result;
}

std::vector<double> numbers(const Value& value) {
  std::vector<double> out(static_cast<size_t>(value.numel()));
  numbersOf(value.element, value.bytes.data(), value.numel(), ir::elementBytes(value.element), out.data());
  return out;
}

std::string pointerText(const Loaded& loaded, const Value& value, size_t i) {
  const int32_t argument = value.arguments[i];
  if (argument < 0) return fmt::format("{:#x}", static_cast<uint64_t>(value.offsets[i]));
  return fmt::format("{}{:+}", loaded.launch().arguments[static_cast<size_t>(argument)].name, value.offsets[i]);
}

/// Without its elements; those of pointers are offsets.
Json describe(const Loaded& loaded, const trace::Values& values, const Value& value, const std::vector<double>& data) {
  const trace::Named& named = namedOf(values, value);
  Json json{{"step", value.step}, {"site", value.site}, {"operand", value.operand}, {"number", value.number}, {"name", named.name},
            {"part", named.isPart}, {"ssa", named.ssa}, {"type", named.type}, {"line", named.line}, {"file", named.file}, {"dtype", ir::elementName(value.element)},
            {"family", familyOf(value.element)}, {"shape", value.shape}, {"numel", value.numel()}};
  if (!value.text.empty() || value.numel() == 0) {
    json["text"] = value.text;
    return json;
  }
  const Statistics s = statisticsOf(data.data(), static_cast<int64_t>(data.size()));
  json["min"] = s.min, json["max"] = s.max, json["mean"] = s.mean;
  json["nan"] = s.nan, json["inf"] = s.inf, json["zero"] = s.zero;
  if (value.element == ir::ElementKind::Pointer) {
    const int32_t argument = value.arguments[0];
    if (argument >= 0 && std::all_of(value.arguments.begin(), value.arguments.end(), [&](int32_t a) { return a == argument; }))
      json["argument"] = argument;
    json["text"] = pointerText(loaded, value, 0);
  } else if (value.numel() == 1) {
    json["text"] = elementText(value.element, value.bytes.data());
  }
  return json;
}

std::vector<double> shownNumbers(const Value& value) {
  if (value.element != ir::ElementKind::Pointer) return numbers(value);
  return {value.offsets.begin(), value.offsets.end()};
}

void addThumbnail(Packed& packed, const std::string& name, const Value& value, const std::vector<double>& data) {
  const int64_t rank = static_cast<int64_t>(value.shape.size());
  const int64_t columns = rank ? value.shape.back() : 1, rows = columns ? value.numel() / columns : 0;
  if (value.numel() < 2 || !rows) return;
  const int64_t h = std::min(rows, kThumbnail), w = std::min(columns, rows == 1 ? 4 * kThumbnail : kThumbnail);
  std::vector<float> picture(static_cast<size_t>(h * w));
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) {
      // The mean of the cell; NaN and infinities win.
      double sum = 0;
      int64_t n = 0;
      for (int64_t r = y * rows / h; r < std::max((y + 1) * rows / h, y * rows / h + 1); ++r)
        for (int64_t c = x * columns / w; c < std::max((x + 1) * columns / w, x * columns / w + 1); ++c)
          sum += data[static_cast<size_t>(r * columns + c)], ++n;
      picture[static_cast<size_t>(y * w + x)] = static_cast<float>(sum / static_cast<double>(n));
    }
  packed.add(name.c_str(), {h, w}, picture);
}

Json iterationsJson(const std::vector<trace::Iteration>& iterations) {
  Json list = Json::array();
  for (const trace::Iteration& i : iterations) list.push_back({{"name", i.name}, {"value", i.value}, {"trip", i.trip}});
  return list;
}

Json namedJson(const std::vector<trace::Named>& all, const std::set<std::pair<uint32_t, uint32_t>>& last, uint32_t site, bool operands) {
  Json list = Json::array();
  for (uint32_t i = 0; i < all.size(); ++i)
    list.push_back({{"name", all[i].name}, {"ssa", all[i].ssa}, {"type", all[i].type}, {"file", all[i].file}, {"line", all[i].line},
                    {"last", !operands && last.contains({site, i})}});
  return list;
}

Status checkNames(const trace::Values& values, const std::set<std::string>& names) {
  std::set<std::string> known;
  for (const Site& site : values.sites())
    for (const trace::Named& named : site.values)
      if (!named.name.empty()) known.insert(named.name);
  for (const std::string& name : names)
    if (!known.contains(name)) {
      const std::vector<std::string_view> candidates(known.begin(), known.end());
      return failure(fmt::format("there is no variable \"{}\" in this kernel{}", name, findings::didYouMean(name, candidates)));
    }
  return {};
}

// Where the user sees a step: in a source that was saved, at the innermost call that leads to it from there.
Json userPlaceJson(const trace::Values& values, const Site& site) {
  const launch::Launch& launch = values.launch();
  Json place{{"op", site.op}, {"file", site.file}, {"line", site.line}};
  if (launch.sources.contains(site.file)) return place;
  for (const uint32_t call : site.calls) {
    const ir::Operation* op = values.kernel().operation(call);
    if (!op) continue;
    const trace::SourceLine at = trace::placeOf(*op, launch.irName);
    if (launch.sources.contains(at.file)) return {{"op", call}, {"file", at.file}, {"line", at.line}};
  }
  return place;
}

}  // namespace

std::string sitesJson(const trace::Values& values) {
  static constexpr const char* kWhat[] = {"operation", "arguments", "results"};
  const auto last = lastOfLines(values);
  Json sites = Json::array();
  for (uint32_t s = 0; s < values.sites().size(); ++s) {
    const Site& site = values.sites()[s];
    sites.push_back({{"what", kWhat[static_cast<size_t>(site.what)]}, {"op", site.op}, {"operation", site.operation}, {"function", site.function},
                     {"depth", site.calls.size()}, {"file", site.file}, {"line", site.line}, {"user", userPlaceJson(values, site)},
                     {"values", namedJson(site.values, last, s, false)}, {"operands", namedJson(site.operands, last, s, true)}});
  }
  return findings::dumped({{"sites", sites}, {"needsReads", values.needsReads()}}, -1);
}

Result<std::string> steps(const Loaded& loaded, int64_t program, int64_t first, int64_t limit) {
  auto values = loaded.values();
  if (!values) return failure(values.error());
  auto steps = (*values)->steps(loaded.programId(program), first, limit);
  if (!steps) return failure(steps.error());
  const size_t n = steps->steps.size();
  size_t depth = 0;
  for (const trace::Step& step : steps->steps) depth = std::max(depth, step.trips.size());
  std::vector<uint32_t> site(n);
  std::vector<int32_t> trips(n * depth, -1);
  for (size_t i = 0; i < n; ++i) {
    site[i] = steps->steps[i].site;
    for (size_t d = 0; d < steps->steps[i].trips.size(); ++d)
      trips[i * depth + d] = static_cast<int32_t>(std::min<int64_t>(steps->steps[i].trips[d], INT32_MAX));
  }
  Packed packed;
  packed.add("site", {static_cast<int64_t>(n)}, site);
  packed.add("trips", {static_cast<int64_t>(n), static_cast<int64_t>(depth)}, trips);
  return packed.bytes(findings::dumped({{"total", steps->total}, {"first", first}, {"complete", steps->complete}, {"stopped", steps->stopped}}, -1));
}

Result<std::string> step(const Loaded& loaded, int64_t program, int64_t number) {
  auto made = loaded.values();
  if (!made) return failure(made.error());
  const trace::Values& values = **made;
  TS_CHECK(trace::toldUntil(values, loaded.programId(program), number));
  auto own = values.valuesAt(loaded.programId(program), number);
  if (!own) return failure(own.error());
  // What every variable is by then: the last value of its name.
  const auto last = lastOfLines(values);
  std::map<std::string, std::pair<int64_t, Value>> variables;
  int64_t order = 0, at = 0;
  Status status = values.each(loaded.programId(program), false, [&](std::vector<Value>& step) {
    for (Value& value : step) {
      if (value.operand || !last.contains({value.site, value.number})) continue;
      const std::string& name = namedOf(values, value).name;
      variables.insert_or_assign(name, std::pair(order++, std::move(value)));
    }
    return ++at <= number;
  });
  if (!status) return failure(status.error());

  Packed packed;
  int64_t pictures = 0;
  const auto add = [&](const Value& value) {
    const std::vector<double> data = shownNumbers(value);
    Json json = describe(loaded, values, value, data);
    json["picture"] = fmt::format("p{}", pictures);
    addThumbnail(packed, fmt::format("p{}", pictures++), value, data);
    return json;
  };
  Json meta{{"step", number}, {"values", Json::array()}, {"variables", Json::array()}};
  for (const Value& value : *own) meta["values"].push_back(add(value));
  meta["iterations"] = own->empty() ? Json::array() : iterationsJson(own->front().iterations);
  std::vector<const std::pair<int64_t, Value>*> sorted;
  for (const auto& [name, entry] : variables) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
  for (const auto* entry : sorted) meta["variables"].push_back(add(entry->second));
  return packed.bytes(findings::dumped(meta, -1));
}

Result<std::string> everything(const Loaded& loaded, int64_t program, int64_t limit) {
  auto made = loaded.values();
  if (!made) return failure(made.error());
  const trace::Values& values = **made;
  TS_CHECK(trace::toldUntil(values, loaded.programId(program), INT64_MAX));
  const auto last = lastOfLines(values);
  Packed packed;
  Json list = Json::array();
  int64_t at = 0;
  Status status = values.each(loaded.programId(program), false, [&](std::vector<Value>& step) {
    for (const Value& value : step) {
      const std::vector<double> data = shownNumbers(value);
      Json json = describe(loaded, values, value, data);
      json["picture"] = fmt::format("p{}", list.size());
      json["last"] = last.contains({value.site, value.number});
      json["iterations"] = iterationsJson(value.iterations);
      addThumbnail(packed, json["picture"], value, data);
      list.push_back(std::move(json));
    }
    return ++at < limit;
  });
  if (!status) return failure(status.error());
  return packed.bytes(findings::dumped({{"values", list}}, -1));
}

Result<Value> valueAt(const Loaded& loaded, const ValuePlace& place) {
  auto values = loaded.values();
  if (!values) return failure(values.error());
  TS_CHECK(trace::toldUntil(**values, loaded.programId(place.program), place.step));
  auto all = (*values)->valuesAt(loaded.programId(place.program), place.step);
  if (!all) return failure(all.error());
  for (Value& value : *all)
    if (value.operand == place.operand && value.number == place.number) return std::move(value);
  return failure(fmt::format("step {} has no {} {}", place.step, place.operand ? "operand" : "value", place.number));
}

Result<std::string> value(const Loaded& loaded, const ValuePlace& place) {
  auto values = loaded.values();
  if (!values) return failure(values.error());
  auto found = valueAt(loaded, place);
  if (!found) return failure(found.error());
  const std::vector<double> data = shownNumbers(*found);
  Json meta = describe(loaded, **values, *found, data);
  meta["iterations"] = iterationsJson(found->iterations);
  meta["bits"] = ir::isFloatKind(found->element) ? ir::floatWidth(found->element) : 8 * ir::elementBytes(found->element);
  meta["bytes"] = ir::elementBytes(found->element);
  Packed packed;
  packed.add("number", {found->numel()}, data);
  packed.add("bits", {found->numel(), ir::elementBytes(found->element)}, found->bytes);
  if (!found->arguments.empty()) packed.add("argument", {found->numel()}, found->arguments);
  return packed.bytes(findings::dumped(meta, -1));
}

Result<std::string> watch(const Loaded& loaded, int64_t program, const std::vector<std::string>& names, int64_t limit) {
  auto made = loaded.values();
  if (!made) return failure(made.error());
  const trace::Values& values = **made;
  if (Status status = checkNames(values, {names.begin(), names.end()}); !status) return failure(status.error());
  TS_CHECK(trace::toldUntil(values, loaded.programId(program), INT64_MAX));
  const auto last = lastOfLines(values);
  std::vector<uint32_t> name, site, step, number, elements, nan, inf;
  std::vector<double> min, max, mean, first;
  std::vector<std::vector<int64_t>> trips;
  int64_t total = 0;
  Status status = values.each(loaded.programId(program), false, [&](std::vector<Value>& all) {
    for (const Value& value : all) {
      const auto found = std::find(names.begin(), names.end(), namedOf(values, value).name);
      if (value.operand || found == names.end() || !last.contains({value.site, value.number}) || ++total > limit) continue;
      const std::vector<double> data = shownNumbers(value);
      const Statistics s = statisticsOf(data.data(), static_cast<int64_t>(data.size()));
      name.push_back(static_cast<uint32_t>(found - names.begin()));
      site.push_back(value.site), step.push_back(static_cast<uint32_t>(value.step)), number.push_back(value.number);
      elements.push_back(static_cast<uint32_t>(data.size()));
      nan.push_back(static_cast<uint32_t>(s.nan)), inf.push_back(static_cast<uint32_t>(s.inf));
      min.push_back(s.min), max.push_back(s.max), mean.push_back(s.mean), first.push_back(data.empty() ? 0 : data[0]);
      trips.emplace_back();
      for (const trace::Iteration& i : value.iterations) trips.back().push_back(i.trip);
    }
    return true;
  });
  if (!status) return failure(status.error());
  size_t depth = 0;
  for (const auto& t : trips) depth = std::max(depth, t.size());
  std::vector<int32_t> flat(trips.size() * depth, -1);
  for (size_t i = 0; i < trips.size(); ++i)
    for (size_t d = 0; d < trips[i].size(); ++d) flat[i * depth + d] = static_cast<int32_t>(trips[i][d]);
  Packed packed;
  const int64_t n = static_cast<int64_t>(name.size());
  packed.add("name", {n}, name);
  packed.add("site", {n}, site);
  packed.add("step", {n}, step);
  packed.add("number", {n}, number);
  packed.add("elements", {n}, elements);
  packed.add("trips", {n, static_cast<int64_t>(depth)}, flat);
  packed.add("min", {n}, min);
  packed.add("max", {n}, max);
  packed.add("mean", {n}, mean);
  packed.add("first", {n}, first);
  packed.add("nan", {n}, nan);
  packed.add("inf", {n}, inf);
  return packed.bytes(findings::dumped({{"total", total}}, -1));
}

Result<std::string> find(const Loaded& loaded, int64_t program, int64_t from, const std::string& text, bool everywhere) {
  auto condition = Condition::parse(text);
  if (!condition) return failure(condition.error());
  auto made = loaded.values();
  if (!made) return failure(made.error());
  const trace::Values& values = **made;
  if (Status status = checkNames(values, condition->names()); !status) return failure(status.error());
  TS_CHECK(trace::toldAll(values));
  const auto last = lastOfLines(values);
  const auto start = std::chrono::steady_clock::now();
  for (; program < loaded.programs(); ++program, from = 0) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kFindSeconds)
      return findings::dumped({{"program", program}, {"done", false}}, -1);
    std::map<std::string, Numbers> known;
    std::optional<int64_t> hit;
    std::optional<Diagnostic> problem;
    Status status = values.each(loaded.programId(program), false, [&](std::vector<Value>& all) {
      bool changed = false;
      int64_t step = 0;
      for (const Value& value : all) {
        const std::string& name = namedOf(values, value).name;
        step = value.step;
        if (value.operand || !condition->names().contains(name) || !last.contains({value.site, value.number})) continue;
        known.insert_or_assign(name, Numbers{value.shape, numbers(value)});
        changed = true;
      }
      if (!changed || known.size() < condition->names().size() || step < from) return true;
      auto holds = condition->holds([&](const std::string& name) -> const Numbers& { return known.at(name); });
      if (!holds) problem = holds.error();
      else if (*holds) hit = step;
      return !problem && !hit;
    });
    if (!status) return failure(status.error());
    if (problem) return failure(*problem);
    if (hit) return findings::dumped({{"program", program}, {"step", *hit}, {"done", true}}, -1);
    if (!everywhere) break;
  }
  return findings::dumped({{"done", true}}, -1);
}

}  // namespace tilesight::server
