#include "server/inputs.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/json_values.h"
#include "trace/expect.h"

namespace tilesight::server {
namespace {

using findings::Json;

Json iterationsJson(const std::vector<trace::Iteration>& iterations) {
  Json list = Json::array();
  for (const trace::Iteration& i : iterations) list.push_back({{"name", i.name}, {"value", i.value}, {"trip", i.trip}});
  return list;
}

Json linkJson(const trace::Values& values, const trace::Link& link) {
  const auto& grid = values.launch().grid;
  return {{"program", link.program[0] + grid[0] * (link.program[1] + grid[1] * link.program[2])},
          {"name", link.name},
          {"elements", link.shape.empty() ? link.name : link.elements.text(link.name)},
          {"value", link.store ? fmt::format("stored by program ({})", fmt::join(link.program, ", "))
                    : link.values.count == 1 ? link.value : link.values.count ? link.values.text() : std::string()},
          {"file", link.file},
          {"line", link.line},
          {"op", values.sites()[link.site].op},
          {"times", link.times},
          {"iterations", iterationsJson(link.iterations)}};
}

/// The index of the first element that was read, as memory has them; none if all were outside.
std::vector<int64_t> firstOf(const launch::View& view, const trace::Source& source) {
  std::vector<int64_t> index;
  for (int64_t offset : source.offsets)
    if (trace::indexInView(view, offset, &index)) return index;
  return {};
}

}  // namespace

Result<trace::Written> follow(const Loaded& loaded, size_t argument, const std::vector<int64_t>& index) {
  if (argument >= loaded.launch().arguments.size() || loaded.launch().arguments[argument].kind != launch::Argument::Kind::Tensor)
    return failure("there is no such tensor");
  auto values = loaded.values();
  if (!values) return failure(values.error());
  const launch::Argument& a = loaded.launch().arguments[argument];
  const ElementMap& map = loaded.surveyed()->survey->maps()[argument];
  bool inside = index.size() == a.view.shape.size();
  for (size_t d = 0; inside && d < index.size(); ++d) inside = index[d] >= 0 && index[d] < a.view.shape[d];
  // Not counted: the launch runs again to find the writer. The same says what is wrong with an index.
  if (!inside || !map.counts() || map.cell() > 1) return trace::sliceOfElement(**values, static_cast<uint32_t>(argument), index);
  int64_t at = map.margin();
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * a.view.strides[d] - std::min<int64_t>(0, (a.view.shape[d] - 1) * a.view.strides[d]);
  const int64_t writer = map.writer(at);
  if (writer < 0) return failure(fmt::format("no program writes {}[{}]: it is what it was before the launch", a.name, fmt::join(index, ", ")));
  return trace::followStore(**values, loaded.programId(writer), static_cast<uint32_t>(argument), index);
}

Result<std::string> inputsJson(const Loaded& loaded, size_t argument, const std::vector<int64_t>& index) {
  auto found = loaded.written(argument, index);
  if (!found) return failure(found.error());
  auto values = loaded.values();
  if (!values) return failure(values.error());
  const trace::Written& written = **found;
  const trace::Site& site = (*values)->sites()[written.site];
  const auto& grid = loaded.launch().grid;
  const auto& id = written.slice.program;
  Json json{{"program", id[0] + grid[0] * (id[1] + grid[1] * id[2])},
            {"op", site.op},
            {"file", site.file},
            {"line", site.line},
            {"iterations", iterationsJson(written.iterations)},
            {"value", written.text},
            {"atomic", written.atomic},
            {"chain", Json::array()},
            {"sources", Json::array()},
            {"scalars", written.slice.scalars},
            {"unknown", written.slice.unknown}};
  for (const trace::Link& link : written.slice.chain)
    if (link.file.find("triton/language/") == link.file.npos) json["chain"].push_back(linkJson(**values, link));
  for (const trace::Source& source : written.slice.sources)
    json["sources"].push_back({{"argument", source.argument},
                               {"name", source.name},
                               {"text", source.region.text(source.name)},
                               {"count", source.region.count},
                               {"first", firstOf(loaded.launch().arguments[source.argument].view, source)},
                               {"outside", source.outside},
                               {"mayHaveChanged", source.mayHaveChanged}});
  return findings::dumped(json, -1);
}

}  // namespace tilesight::server
