#include "server/page_file.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/json_values.h"
#include "server/api.h"
#include "server/assets.h"
#include "server/replay.h"

namespace tilesight::server {
namespace {

constexpr size_t kPrograms = 6;       // of a launch
constexpr const char* kLayers[] = {"accesses", "reads", "writes", "untouched", "rewritten", "writer", "first", "before", "after"};

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= bytes.size() - i ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
  out.resize(size);
  return out;
}

/// As text inside of a script element: nothing in it ends the element.
std::string harmless(std::string text, const char* instead) {
  for (size_t at = 0; (at = text.find('<', at)) != text.npos; ++at)
    if (text.compare(at, 8, "</script") == 0 || text.compare(at, 4, "<!--") == 0 || text.compare(at, 7, "<script") == 0) text.replace(at, 1, instead);
  return text;
}

class Filler {
 public:
  Filler(Workspace& workspace, uint64_t limit) : workspace_(workspace), limit_(limit) {}

  /// Puts the answer at `path?query` in, as the page asks for it. False: it would be too much.
  bool put(const std::string& path, const std::vector<std::pair<std::string, std::string>>& query = {}) {
    Request request{"GET", path, {}, {}};
    std::string key = path;
    for (const auto& [name, value] : query) {
      key += (request.query.empty() ? "?" : "&") + name + "=" + value;
      request.query[name] = value;
    }
    if (answers_.contains(key)) return true;
    const Answer answer = server::answer(workspace_, request);
    if (answer.status != 200) return true;
    std::string text = base64(deflated(answer.body));
    if (bytes_ + text.size() + key.size() > limit_) return false;
    bytes_ += text.size() + key.size();
    answers_[key] = std::move(text);
    return true;
  }
  std::string json(const std::string& note) const { return findings::dumped({{"note", note}, {"answers", answers_}}, -1); }

 private:
  Workspace& workspace_;
  uint64_t limit_, bytes_ = 0;
  std::map<std::string, std::string> answers_;
};

/// What the page asks of a tensor before anybody changes its axes.
std::vector<std::pair<std::string, std::string>> usualPicture(const launch::View& view) {
  const size_t rank = view.shape.size();
  int64_t fold = 0;
  if (rank == 1 && view.shape[0] > 128)
    fold = std::min<int64_t>(1024, static_cast<int64_t>(std::exp2(std::ceil(std::log2(std::sqrt(static_cast<double>(view.shape[0])))))));
  return {{"rows", rank > 1 ? std::to_string(rank - 2) : "-1"}, {"columns", std::to_string(static_cast<int64_t>(rank) - 1)},
          {"fold", std::to_string(fold)}, {"at", fmt::format("{}", fmt::join(std::vector<int>(rank, 0), ","))}, {"height", "512"}, {"width", "512"}};
}

std::vector<int64_t> programsOf(const Loaded& loaded) {
  std::vector<int64_t> programs;
  const auto add = [&](int64_t p) {
    if (p >= 0 && p < loaded.programs() && programs.size() < kPrograms && std::find(programs.begin(), programs.end(), p) == programs.end()) programs.push_back(p);
  };
  add(0);
  const auto& grid = loaded.launch().grid;
  for (const findings::Finding& f : loaded.surveyed()->session.findings()) add(f.program[0] + grid[0] * (f.program[1] + grid[1] * f.program[2]));
  add(loaded.programs() - 1);
  return programs;
}

/// The variables that can be watched, as the page lists them.
std::string watchable(const trace::Values& values) {
  const auto sites = findings::Json::parse(sitesJson(values));
  std::vector<std::string> names;
  for (const auto& site : sites["sites"])
    for (const auto& value : site["values"])
      if (value["last"] && std::find(names.begin(), names.end(), value["name"].get<std::string>()) == names.end() && names.size() < 64) names.push_back(value["name"]);
  return fmt::format("{}", fmt::join(names, ","));
}

bool putProgram(Filler& filler, const Loaded& loaded, size_t launch, int64_t program) {
  const std::string path = fmt::format("/api/launch/{}/program/{}", launch, program);
  auto values = loaded.values();
  if (!values) return true;
  auto steps = (*values)->steps(loaded.programId(program), 0, 0);
  if (!steps) return true;
  if (!filler.put(path + "/records") || !filler.put(path + "/steps", {{"first", "0"}, {"limit", "65536"}}) ||
      !filler.put(path + "/watch", {{"names", watchable(**values)}}))
    return false;
  for (size_t a = 0; a < loaded.launch().arguments.size(); ++a) {
    const launch::Argument& argument = loaded.launch().arguments[a];
    if (argument.kind != launch::Argument::Kind::Tensor) continue;
    std::vector<std::pair<std::string, std::string>> query{{"layer", "program"}, {"program", std::to_string(program)}};
    for (const auto& part : usualPicture(argument.view)) query.push_back(part);
    if (!filler.put(fmt::format("/api/launch/{}/tensor/{}", launch, a), query)) return false;
  }
  return filler.put(path + "/everything");
}

}  // namespace

Result<PageFile> pageFile(Workspace& workspace, uint64_t limit) {
  const Page* built = page();
  if (!built) return failure("this build of Tilesight has no page for the visualizer: it was made without Node", "scripts/setup and scripts/build make one");
  Filler filler(workspace, limit);
  std::vector<std::shared_ptr<const Loaded>> launches;
  for (size_t i = 0; i < workspace.entries().size(); ++i) launches.push_back(workspace.wait(i));
  bool fits = filler.put("/api/launches");
  for (size_t i = 0; i < launches.size() && fits; ++i) {
    if (!launches[i]) continue;
    const std::string path = fmt::format("/api/launch/{}", i);
    fits = filler.put(path) && filler.put(path + "/survey") && filler.put(path + "/grid") && filler.put(path + "/sites");
    for (size_t a = 0; a < launches[i]->launch().arguments.size() && fits; ++a) {
      const launch::Argument& argument = launches[i]->launch().arguments[a];
      if (argument.kind != launch::Argument::Kind::Tensor) continue;
      for (const char* layer : kLayers) {
        std::vector<std::pair<std::string, std::string>> query{{"layer", layer}};
        for (const auto& part : usualPicture(argument.view)) query.push_back(part);
        fits = fits && filler.put(fmt::format("{}/tensor/{}", path, a), query);
      }
    }
  }
  if (!fits) return failure(fmt::format("the launches alone are more than {} MB", limit >> 20), "give a larger --html-limit, or fewer files");
  std::vector<std::string> held;
  for (size_t i = 0; i < launches.size() && fits; ++i) {
    if (!launches[i]) continue;
    std::vector<std::string> ids;
    for (int64_t program : programsOf(*launches[i])) {
      fits = fits && putProgram(filler, *launches[i], i, program);
      if (fits) ids.push_back(fmt::format("({})", fmt::join(launches[i]->programId(program), ", ")));
    }
    if (!ids.empty()) held.push_back(fmt::format("{} {}", launches[i]->launch().kernel, fmt::join(ids, " ")));
  }
  PageFile file;
  file.note = held.empty() ? "it holds the values of no program" : fmt::format("it holds the values of programs {}", fmt::join(held, "; "));
  if (!fits) file.note += fmt::format("; {} MB were full then", limit >> 20);
  file.html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Tilesight</title>\n<style>";
  file.html += built->style;
  file.html += "</style></head><body><div id=\"app\"></div>\n<script type=\"application/json\" id=\"held\">";
  file.html += harmless(filler.json(file.note), "\\u003c");
  file.html += "</script>\n<script type=\"module\">";
  file.html += harmless(std::string(built->script), "\\x3c");
  file.html += "</script></body></html>\n";
  return file;
}

}  // namespace tilesight::server
