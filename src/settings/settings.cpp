#include "settings/settings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "findings/files.h"
#include "findings/format.h"
#include "findings/kinds.h"
#include "findings/nearest.h"

namespace tilesight::settings {
namespace {

namespace fs = std::filesystem;

constexpr size_t maxBytes = 16 << 20;

class Reader {
 public:
  Reader(std::string file, std::string directory) : file_(std::move(file)), directory_(std::move(directory)) {}

  Result<Settings> read(const toml::table& table) {
    settings_.file = file_;
    for (auto&& [key, value] : table) {
      const std::string name(key.str());
      const toml::source_position place = value.source().begin;
      settings_.places[name] = {place.line, place.column};
      TS_CHECK(set(name, key, value));
    }
    return std::move(settings_);
  }

 private:
  using Setter = Status (Reader::*)(const std::string& name, const toml::node& value);

  static const std::map<std::string_view, Setter>& setters() {
    static const std::map<std::string_view, Setter> all = {
        {"client", &Reader::client},
        {"ignore", &Reader::ignore},
        {"ignore-in", &Reader::ignoreRules},
        {"ignore-kernel", &Reader::ignoreRules},
        {"fail-on", &Reader::failOn},
        {"print-limit", &Reader::printLimit},
        {"num-sms", &Reader::numSms},
        {"threads", &Reader::threads},
        {"timeout", &Reader::timeout},
        {"like", &Reader::like},
        {"all-configs", &Reader::allConfigs},
        {"baseline", &Reader::baseline},
    };
    return all;
  }

  Status set(const std::string& name, const toml::key& key, const toml::node& value) {
    const auto found = setters().find(name);
    if (found != setters().end()) return (this->*found->second)(name, value);
    std::vector<std::string_view> names;
    for (const auto& [known, setter] : setters()) names.push_back(known);
    std::string text = fmt::format("[tool.tilesight] has no setting \"{}\"{}", findings::printable(name),
                                   findings::didYouMean(name, names));
    if (findings::nearest(name, names).empty()) text += fmt::format("; it has {}", fmt::join(names, ", "));
    return at(key.source(), std::move(text));
  }

  tl::unexpected<Diagnostic> at(const toml::source_region& place, std::string text) const {
    return failure(Diagnostic{file_, place.begin.line, place.begin.column, std::move(text), {}});
  }

  tl::unexpected<Diagnostic> mustBe(const std::string& name, const toml::node& value, const char* what) const {
    return at(value.source(), fmt::format("{} must be {}", name, what));
  }

  Status text(const std::string& name, const toml::node& value, std::optional<std::string>& into) const {
    const auto* string = value.as_string();
    if (!string || string->get().empty()) return mustBe(name, value, "a text");
    into = string->get();
    return {};
  }

  Status number(const std::string& name, const toml::node& value, uint32_t least,
                std::optional<uint32_t>& into) const {
    const auto* integer = value.as_integer();
    if (!integer || integer->get() < least || integer->get() > INT32_MAX)
      return mustBe(name, value, fmt::format("a whole number from {}", least).c_str());
    into = static_cast<uint32_t>(integer->get());
    return {};
  }

  /// One text, or a list of them.
  Status texts(const std::string& name, const toml::node& value, std::vector<std::string>& into,
               Status (Reader::*checked)(const toml::node&, const std::string&) const) const {
    const auto take = [&](const toml::node& item) -> Status {
      const auto* string = item.as_string();
      if (!string) return mustBe(name, item, "a text, or a list of texts");
      if (checked) TS_CHECK((this->*checked)(item, string->get()));
      into.push_back(string->get());
      return {};
    };
    const toml::array* list = value.as_array();
    if (!list) return take(value);
    for (const toml::node& item : *list) TS_CHECK(take(item));
    return {};
  }

  Status isKind(const toml::node& place, const std::string& name) const {
    if (findings::findKind(name)) return {};
    const std::string hint = findings::didYouMeanKind(name);
    return at(place.source(), fmt::format("\"{}\" is no kind of finding{}", findings::printable(name),
                                          hint.empty() ? "; tilesight explain lists them" : hint));
  }

  Status client(const std::string& name, const toml::node& value) {
    std::vector<std::string> given;
    TS_CHECK(texts(name, value, given, nullptr));
    settings_.client.emplace();
    for (const std::string& list : given)  // "a,b" is allowed as on the command line
      for (std::string& item : findings::commaSeparated(list))
        if (item != "off") settings_.client->push_back(std::move(item));
    return {};
  }

  Status ignore(const std::string& name, const toml::node& value) {
    return texts(name, value, settings_.ignore, &Reader::isKind);
  }

  Status ignoreRules(const std::string& name, const toml::node& value) {
    using Of = findings::IgnoreRule::Of;
    const toml::table* table = value.as_table();
    if (!table) return mustBe(name, value, "a table: \"PATTERN\" = [\"kind\"]");
    for (auto&& [pattern, kinds] : *table) {
      findings::IgnoreRule rule{name == "ignore-kernel" ? Of::Kernel : Of::File, std::string(pattern.str()), {},
                                directory_};
      TS_CHECK(texts(fmt::format("{}.\"{}\"", name, findings::printable(rule.pattern)), kinds, rule.kinds,
                     &Reader::isKind));
      settings_.ignoreRules.push_back(std::move(rule));
    }
    return {};
  }

  Status failOn(const std::string& name, const toml::node& value) {
    TS_CHECK(text(name, value, settings_.failOn));
    if (!findings::parseFailOn(*settings_.failOn)) return mustBe(name, value, findings::failOnChoices);
    return {};
  }

  Status printLimit(const std::string& name, const toml::node& value) {
    return number(name, value, 0, settings_.printLimit);
  }
  Status numSms(const std::string& name, const toml::node& value) { return number(name, value, 1, settings_.numSms); }
  Status threads(const std::string& name, const toml::node& value) {
    return number(name, value, 0, settings_.threads);
  }

  Status timeout(const std::string& name, const toml::node& value) {
    const std::optional<double> seconds = value.is_number() ? value.value<double>() : std::nullopt;
    if (!seconds || !std::isfinite(*seconds) || *seconds <= 0)
      return mustBe(name, value, "a number of seconds above 0");
    settings_.timeout = seconds;
    return {};
  }

  Status like(const std::string& name, const toml::node& value) {
    TS_CHECK(text(name, value, settings_.like));
    for (char& c : *settings_.like)
      if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    return {};
  }

  Status allConfigs(const std::string& name, const toml::node& value) {
    if (!value.is_boolean()) return mustBe(name, value, "true or false");
    settings_.allConfigs = value.as_boolean()->get();
    return {};
  }

  Status baseline(const std::string& name, const toml::node& value) {
    TS_CHECK(text(name, value, settings_.baseline));
    settings_.baseline = (fs::path(directory_) / *settings_.baseline).lexically_normal().generic_string();
    return {};
  }

  std::string file_, directory_;
  Settings settings_;
};

Result<std::optional<Settings>> readOne(const std::string& path, const std::string& shown,
                                        const std::string& directory) {
  const Result<std::string> text = findings::readFile(path, maxBytes);
  if (!text) {
    Diagnostic error = text.error();
    error.file = shown;
    return failure(error);
  }
  try {
    const toml::table table = toml::parse(std::string_view(*text), std::string_view(shown));
    const auto* tool = table["tool"].as_table();
    const toml::node* own = tool ? tool->get("tilesight") : nullptr;
    if (!own) return std::optional<Settings>();
    if (!own->is_table())
      return failure(Diagnostic{shown, own->source().begin.line, own->source().begin.column,
                                "tool.tilesight must be a table", {}});
    Result<Settings> settings = Reader(shown, directory).read(*own->as_table());
    if (!settings) return failure(settings.error());
    return std::optional<Settings>(std::move(*settings));
  } catch (const toml::parse_error& error) {
    const toml::source_position place = error.source().begin;
    return failure(Diagnostic{shown, place.line, place.column,
                              "is no TOML: " + findings::printable(error.description()), {}});
  }
}

}  // namespace

Diagnostic Settings::wrong(const std::string& key, std::string message) const {
  const auto place = places.find(key);
  const auto [line, column] = place == places.end() ? std::pair<uint32_t, uint32_t>() : place->second;
  return {file, line, column, std::move(message), {}};
}

Result<Settings> read(const std::string& directory, bool withinRepository) {
  std::error_code error;
  const fs::path start = fs::absolute(directory.empty() ? "." : directory, error).lexically_normal();
  for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
    const fs::path path = folder / "pyproject.toml";
    if (fs::is_regular_file(path, error)) {
      const std::string shown = findings::relativePath(path.generic_string(), start.generic_string());
      Result<std::optional<Settings>> settings = readOne(path.generic_string(), shown, folder.generic_string());
      if (!settings) return failure(settings.error());
      if (*settings) return std::move(**settings);
    }
    if (folder == folder.parent_path() || (withinRepository && fs::exists(folder / ".git", error))) break;
  }
  return Settings{};
}

}  // namespace tilesight::settings
