#include "server/api.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "server/assets.h"
#include "server/comparison.h"
#include "server/footprint.h"
#include "server/inputs.h"
#include "server/launch_json.h"
#include "server/npy.h"
#include "server/packed.h"
#include "server/records.h"
#include "server/replay.h"
#include "server/slice.h"

namespace tilesight::server {
namespace {

constexpr const char* kJson = "application/json";
constexpr int64_t kMaxSteps = 65536, kMaxWatched = 20000, kMaxHeld = 4000;

std::vector<std::string> parts(const std::string& path) {
  std::vector<std::string> result;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    result.push_back(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return result;
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int64_t parameter(const Request& request, const char* name, int64_t otherwise) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? otherwise : number(found->second).value_or(otherwise);
}

Answer missing() { return {404, kJson, errorJson("there is nothing at this address")}; }
Answer wrong(const std::string& why) { return {400, kJson, errorJson(why)}; }

Answer pageOf(const std::string& path) {
  const Page* built = page();
  if (!built)
    return path == "/" ? Answer{200, "text/plain; charset=utf-8",
                                "This build of Tilesight has no page for the visualizer: it was made without Node.\n"
                                "scripts/setup and scripts/build make one; the data is served under /api.\n"}
                       : missing();
  if (path == "/") return {200, "text/html; charset=utf-8", std::string(built->html)};
  if (path == "/app.js") return {200, "text/javascript; charset=utf-8", std::string(built->script)};
  if (path == "/app.css") return {200, "text/css; charset=utf-8", std::string(built->style)};
  return missing();
}

Answer grid(const Loaded& loaded) {
  const ProgramTotals& programs = loaded.surveyed()->survey->programs();
  const int64_t n = static_cast<int64_t>(programs.accesses.size());
  Packed packed;
  packed.add("accesses", {n}, programs.accesses);
  packed.add("faults", {n}, programs.faults);
  packed.add("read", {n}, programs.read);
  packed.add("written", {n}, programs.written);
  packed.add("masked", {n}, programs.masked);
  return {200, kPackedType, packed.bytes("{}")};
}

std::string text(const Request& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> result;
  for (size_t from = 0; from < list.size() && result.size() < 64;) {
    const size_t end = std::min(list.find(',', from), list.size());
    if (end > from) result.push_back(list.substr(from, end - from));
    from = end + 1;
  }
  return result;
}

/// "3,14": an index; what is no number is -1, which no tensor has.
std::vector<int64_t> elementIndex(const Request& request, const char* name) {
  std::vector<int64_t> index;
  for (const std::string& part : listed(text(request, name))) index.push_back(number(part).value_or(-1));
  return index;
}

Answer tensor(const Loaded& loaded, int64_t argument, const Request& request, std::shared_ptr<const Expectation> expected) {
  SliceRequest slice;
  slice.expected = std::move(expected);
  slice.argument = static_cast<size_t>(argument);
  const auto layer = request.query.find("layer");
  slice.layer = layer == request.query.end() ? "accesses" : layer->second;
  slice.rows = static_cast<int>(std::clamp<int64_t>(parameter(request, "rows", -1), -2, 1 << 10));
  slice.columns = static_cast<int>(std::clamp<int64_t>(parameter(request, "columns", -1), -2, 1 << 10));
  slice.fold = parameter(request, "fold", 0);
  if (slice.fold < 0 || slice.fold > (1 << 20)) return wrong("fold is out of range");
  slice.row0 = parameter(request, "row0", 0), slice.row1 = parameter(request, "row1", 0);
  slice.column0 = parameter(request, "column0", 0), slice.column1 = parameter(request, "column1", 0);
  slice.height = parameter(request, "height", 256), slice.width = parameter(request, "width", 256);
  slice.program = parameter(request, "program", 0), slice.op = parameter(request, "op", -1);
  slice.brush = text(request, "brush");
  for (const std::string& index : listed(text(request, "at"))) slice.at.push_back(number(index).value_or(0));
  slice.of = parameter(request, "of", -1);
  slice.element = elementIndex(request, "element");
  auto bytes = server::slice(loaded, slice);
  if (!bytes) return wrong(bytes.error().message);
  return {200, kPackedType, std::move(*bytes)};
}

Answer packedOr(Result<std::string> bytes) {
  if (!bytes) return wrong(bytes.error().remedy.empty() ? bytes.error().message : bytes.error().message + "; " + bytes.error().remedy);
  return {200, kPackedType, std::move(*bytes)};
}

Answer download(Result<std::string> bytes, const std::string& name) {
  if (!bytes) return wrong(bytes.error().message);
  std::string safe;  // names come from files
  for (unsigned char c : name) safe += std::isalnum(c) || c == '-' || c == '.' ? static_cast<char>(c) : '_';
  return {200, "application/octet-stream", std::move(*bytes), {{"Content-Disposition", "attachment; filename=\"" + safe + "\""}}};
}

/// /program/P/..., from `path[5]` on.
Answer program(const Loaded& loaded, int64_t program, const std::vector<std::string>& path, const Request& request) {
  const std::string& what = path[5];
  if (what == "records" && path.size() == 6) return packedOr(records(loaded, program));
  if (what == "steps" && path.size() == 6)
    return packedOr(steps(loaded, program, std::max<int64_t>(0, parameter(request, "first", 0)),
                          std::clamp<int64_t>(parameter(request, "limit", kMaxSteps), 0, kMaxSteps)));
  if (what == "everything" && path.size() == 6) return packedOr(everything(loaded, program, kMaxHeld));
  if (what == "watch" && path.size() == 6) return packedOr(watch(loaded, program, listed(text(request, "names")), kMaxWatched));
  if (what == "find" && path.size() == 6) {
    Answer found = packedOr(find(loaded, program, parameter(request, "from", 0), text(request, "condition"), parameter(request, "everywhere", 0) != 0));
    if (found.status == 200) found.type = kJson;
    return found;
  }
  if (what == "step" && path.size() >= 7) {
    const auto number = server::number(path[6]);
    if (!number || *number < 0) return missing();
    if (path.size() == 7) return packedOr(step(loaded, program, *number));
    const ValuePlace place{program, *number, parameter(request, "operand", 0) != 0, static_cast<uint32_t>(std::clamp<int64_t>(parameter(request, "number", 0), 0, 1 << 20))};
    if (path.size() == 8 && path[7] == "value") return packedOr(value(loaded, place));
    if (path.size() == 8 && path[7] == "value.npy") {
      auto found = valueAt(loaded, place);
      if (!found) return wrong(found.error().message);
      if (found->numel() == 0) return wrong("this value has no elements");
      return download(npy(found->element, found->shape, found->bytes), loaded.launch().kernel + "-step" + path[6] + ".npy");
    }
  }
  return missing();
}

Answer tensorNpy(const Loaded& loaded, int64_t number, const Request& request) {
  if (static_cast<size_t>(number) >= loaded.launch().arguments.size()) return missing();
  const launch::Argument& argument = loaded.launch().arguments[static_cast<size_t>(number)];
  if (argument.kind != launch::Argument::Kind::Tensor) return wrong("this argument is no tensor");
  const launch::Storage& storage = (text(request, "when") == "before" ? loaded.launch() : *loaded.surveyed()->after).storages[argument.view.storage];
  if (storage.withheld) return wrong("the data of this tensor was not saved with the bundle");
  return download(npy(argument.view, storage), loaded.launch().kernel + "-" + argument.name + ".npy");
}

/// What is answered only when the launch has run: not its source, its programs' steps and values, and its inputs.
bool needsSurvey(const std::vector<std::string>& path, const Request& request) {
  if (path.size() == 3 || path[3] == "program" || path[3] == "sites") return false;
  if (path[3] != "tensor") return true;
  if (path.size() == 5) return text(request, "layer") != "before";
  return path[5] != "data.npy" || text(request, "when") != "before";
}

/// GET: how the tensor compares; PUT: with what it is compared from now on.
Answer expected(Workspace& workspace, size_t launch, const Loaded& loaded, size_t argument, const Request& request) {
  if (request.method == "PUT") {
    if (!request.body) return wrong("there is no file");
    auto bytes = request.body();
    if (!bytes) return wrong(bytes.error().message);
    auto expectation = expectationOf(loaded, argument, *bytes, text(request, "file"));
    if (!expectation) return packedOr(failure(expectation.error()));
    workspace.expect(std::move(*expectation), launch);
  }
  Answer compared = packedOr(comparisonJson(loaded, argument, workspace.expected(launch, loaded.launch().arguments[argument]).get()));
  if (compared.status == 200) compared.type = kJson;
  return compared;
}

}  // namespace

Answer answer(Workspace& workspace, const Request& request) {
  if (!request.path.starts_with("/api/")) return pageOf(request.path);
  const std::vector<std::string> path = parts(request.path);
  if (path.size() == 2) workspace.refresh();
  const auto [entries, version] = workspace.listing();
  if (request.method == "PUT" && (path.size() != 6 || path[5] != "expected")) return missing();
  if (path.size() == 2 && path[1] == "launches") return {200, kJson, launchesJson(entries, version)};
  if (path.size() < 3 || path[1] != "launch") return missing();
  if (const auto asked = request.headers.find("x-tilesight-version"); asked != request.headers.end() && number(asked->second) != static_cast<int64_t>(version))
    return {202, kJson, changedJson()};
  const auto index = number(path[2]);
  if (!index || *index < 0 || static_cast<size_t>(*index) >= entries.size()) return missing();
  const Entry& entry = entries[static_cast<size_t>(*index)];
  if (entry.state == Entry::State::Failed) return {422, kJson, errorJson(entry.error)};
  const auto loaded = workspace.get(static_cast<size_t>(*index), version);
  if (!loaded) return {202, kJson, pendingJson(nullptr)};
  if (!loaded->surveyed() && needsSurvey(path, request)) return {202, kJson, pendingJson(loaded.get())};
  if (path.size() == 3) return {200, kJson, launchJson(*loaded)};
  if (path.size() == 4 && path[3] == "survey") {
    const std::string brush = text(request, "brush");
    if (brush.empty()) return {200, kJson, surveyJson(*loaded->surveyed())};
    auto part = loaded->part(brush);
    return part ? Answer{200, kJson, surveyJson(**part)} : wrong(part.error().message);
  }
  if (path.size() == 4 && path[3] == "grid") return grid(*loaded);
  if (path.size() == 4 && path[3] == "sites") {
    auto values = loaded->values();
    if (!values) return wrong(values.error().message);
    return {200, kJson, sitesJson(**values)};
  }
  if (path.size() == 4 && (path[3] == "element" || path[3] == "inputs")) {
    const std::vector<int64_t> index = elementIndex(request, "index");
    const int64_t argument = parameter(request, "argument", -1);
    const auto json = path[3] == "element" ? elementJson : inputsJson;
    Answer story = packedOr(argument < 0 ? Result<std::string>(failure("which tensor?")) : json(*loaded, static_cast<size_t>(argument), index));
    if (story.status == 200) story.type = kJson;
    return story;
  }
  const auto second = path.size() > 4 ? number(path[4]) : std::nullopt;
  if (!second || *second < 0) return missing();
  if (path.size() >= 6 && path[3] == "program") return *second < loaded->programs() ? program(*loaded, *second, path, request) : missing();
  if (path.size() == 6 && path[3] == "tensor" && path[5] == "data.npy") return tensorNpy(*loaded, *second, request);
  if (path[3] != "tensor") return missing();
  const auto argument = static_cast<size_t>(*second);
  if (argument >= loaded->launch().arguments.size()) return path.size() == 5 ? wrong("there is no such argument") : missing();
  if (path.size() == 6 && path[5] == "expected") return expected(workspace, static_cast<size_t>(*index), *loaded, argument, request);
  if (path.size() == 5) return tensor(*loaded, *second, request, workspace.expected(static_cast<size_t>(*index), loaded->launch().arguments[argument]));
  return missing();
}

}  // namespace tilesight::server
