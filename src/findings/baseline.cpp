#include "findings/baseline.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "findings/files.h"
#include "findings/format.h"

namespace tilesight::findings {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "tilesight-baseline";
constexpr int version = 1;
constexpr size_t maxBytes = 64 << 20;

std::string oneLine(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// `"name": [` entries, one a line `]`.
template <typename Entries, typename ToJson>
std::string listText(const char* name, const Entries& entries, const ToJson& toJson) {
  std::string out = fmt::format("  \"{}\": [", name);
  const char* separator = "\n";
  for (const auto& entry : entries) {
    out += separator + std::string("    ") + oneLine(toJson(entry));
    separator = ",\n";
  }
  return out + (entries.empty() ? "]" : "\n  ]");
}

/// Where git has left a conflict, or npos.
size_t conflictMarker(std::string_view text) {
  for (size_t at = text.find("<<<<<<< "); at != text.npos; at = text.find("<<<<<<< ", at + 1))
    if (at == 0 || text[at - 1] == '\n') return at;
  return text.npos;
}

struct Reader {
  const std::string& path;

  tl::unexpected<Diagnostic> wrong(std::string what) const {
    return failure(Diagnostic{path, 0, 0, std::move(what), "write it anew with --write-baseline"});
  }

  tl::unexpected<Diagnostic> wrongAt(std::string_view text, size_t at, std::string what) const {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
    return failure(Diagnostic{path, line, static_cast<uint32_t>(before.size() - start + 1), std::move(what),
                              "write it anew with --write-baseline"});
  }

  Result<std::string> text(const Json& entry, const char* name, const std::string& where) const {
    const auto found = entry.find(name);
    if (found == entry.end()) return std::string();
    if (!found->is_string()) return wrong(fmt::format("is no baseline: {} of {} is no text", name, where));
    return found->get<std::string>();
  }

  /// Fills the texts of one entry.
  template <typename... Fields>
  Status texts(const Json& entry, const std::string& where, Fields... fields) const {
    if (!entry.is_object()) return wrong(fmt::format("is no baseline: {} is no object", where));
    Status status;
    const auto take = [&](std::pair<const char*, std::string*> field) {
      if (!status) return;
      Result<std::string> value = text(entry, field.first, where);
      if (!value) status = failure(value.error());
      else *field.second = std::move(*value);
    };
    (take(fields), ...);
    return status;
  }
};

std::pair<const char*, std::string*> field(const char* name, std::string& place) { return {name, &place}; }

}  // namespace

std::string unknownKey(const std::string& kernel, const std::string& reason, const std::string& line) {
  return kernel + '\x1f' + reason + '\x1f' + std::string(trimmed(line));
}

Result<Baseline> readBaseline(const std::string& path) {
  Result<std::string> text = readFile(path, maxBytes);
  if (!text) {
    Diagnostic error = text.error();
    error.remedy = "--write-baseline " + path + " makes it";
    return failure(error);
  }
  const Reader reader{path};
  if (const size_t conflict = conflictMarker(*text); conflict != text->npos)
    return reader.wrongAt(*text, conflict, "has a conflict of git's");
  Json json;
  try {
    json = Json::parse(*text);
  } catch (const Json::parse_error& error) {
    return reader.wrongAt(*text, error.byte ? error.byte - 1 : 0, "is no baseline: it is no JSON");
  }
  if (!json.is_object() || json.value("format", Json()) != format)
    return reader.wrong(fmt::format("is no baseline: it does not begin with \"format\": \"{}\"", format));
  if (json.value("version", Json()) != version)
    return reader.wrong(fmt::format("has a version that this Tilesight does not know ({} is known)", version));
  Baseline baseline;
  baseline.path = path;
  const Json findings = json.value("findings", Json::array()), unknowns = json.value("unknowns", Json::array());
  if (!findings.is_array() || !unknowns.is_array())
    return reader.wrong("is no baseline: findings and unknowns are lists");
  for (const Json& entry : findings) {
    const std::string where = fmt::format("finding {}", baseline.findings.size() + 1);
    Baseline::Known known;
    TS_CHECK(reader.texts(entry, where, field("fingerprint", known.fingerprint), field("kind", known.kind),
                          field("kernel", known.kernel), field("file", known.file),
                          field("line", known.line), field("argument", known.argument)));
    if (known.fingerprint.empty())
      return reader.wrong(fmt::format("is no baseline: {} has no fingerprint", where));
    if (const auto count = entry.find("count"); count != entry.end()) {
      if (!count->is_number_unsigned() || *count == 0 || *count > UINT32_MAX)
        return reader.wrong(fmt::format("is no baseline: count of {} is no number above 0", where));
      known.count = count->get<uint32_t>();
    }
    std::string severity;  // older files have none, and accept all
    TS_CHECK(reader.texts(entry, where, field("severity", severity)));
    if (severity == "note") known.severity = Severity::Note;
    else if (severity == "warning") known.severity = Severity::Warning;
    else if (!severity.empty() && severity != "error")
      return reader.wrong(fmt::format("is no baseline: severity of {} is no severity", where));
    baseline.findings.push_back(std::move(known));
  }
  for (const Json& entry : unknowns) {
    Baseline::KnownUnknown known;
    TS_CHECK(reader.texts(entry, fmt::format("unknown {}", baseline.unknowns.size() + 1),
                          field("kernel", known.kernel), field("reason", known.reason),
                          field("file", known.file), field("line", known.line)));
    baseline.unknowns.push_back(std::move(known));
  }
  return baseline;
}

Result<std::optional<Baseline>> baselineOf(const std::string& path, const std::string& written) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty()) return std::optional<Baseline>();
  const bool first = !written.empty() && !fs::exists(path, error) &&
                     fs::absolute(path, error).lexically_normal() == fs::absolute(written, error).lexically_normal();
  if (first) return std::optional<Baseline>();
  Result<Baseline> known = readBaseline(path);
  if (!known) return failure(known.error());
  return std::optional<Baseline>(std::move(*known));
}

std::string baselineText(const std::vector<const Finding*>& findings,
                         const std::vector<const Unknown*>& unknowns, const std::string& directory,
                         const Baseline& kept) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, Severity>, Baseline::Known> known;
  for (const Finding* finding : findings) {
    const std::string file = relativePath(finding->location.file, directory);
    Baseline::Known& entry = known[{file, finding->kernel, finding->kind, finding->fingerprint, finding->severity}];
    if (!entry.fingerprint.empty()) {
      ++entry.count;
      continue;
    }
    entry = {finding->fingerprint, finding->kind, finding->kernel, file, std::string(trimmed(finding->sourceLine)),
             finding->operand ? finding->operand->argument : "", 1, finding->severity};
  }
  for (const Baseline::Known& old : kept.findings) {
    const auto [place, isNew] = known.try_emplace({old.file, old.kernel, old.kind, old.fingerprint, old.severity}, old);
    if (!isNew) place->second.count += old.count;
  }
  std::set<std::tuple<std::string, std::string, std::string, std::string>> reasons;
  for (const Baseline::KnownUnknown& old : kept.unknowns)
    reasons.insert({old.file, old.kernel, old.line, old.reason});
  for (const Unknown* unknown : unknowns)
    reasons.insert({relativePath(unknown->location.file, directory), unknown->kernel, std::string(trimmed(unknown->sourceLine)),
                    unknown->reason});

  std::string out = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n", format, version);
  out += listText("findings", known, [](const auto& item) {
    const Baseline::Known& entry = item.second;
    return Json{{"file", entry.file},   {"kernel", entry.kernel},
                {"kind", entry.kind},   {"severity", severityName(entry.severity)},
                {"argument", entry.argument},
                {"count", entry.count}, {"line", entry.line},
                {"fingerprint", entry.fingerprint}};
  });
  out += ",\n";
  out += listText("unknowns", reasons, [](const auto& item) {
    const auto& [file, kernel, line, reason] = item;
    return Json{{"file", file}, {"kernel", kernel}, {"reason", reason}, {"line", line}};
  });
  return out + "\n}\n";
}

}  // namespace tilesight::findings
