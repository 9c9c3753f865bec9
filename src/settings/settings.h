// A project's settings: the table [tool.tilesight] of pyproject.toml.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "findings/session.h"
#include "support/result.h"

namespace tilesight::settings {

struct Settings {
  std::string file;  // the pyproject.toml that has them, as messages name it; "": there is none
  std::optional<std::vector<std::string>> client;  // names, without "off": empty where nothing is checked
  std::vector<std::string> ignore;                // kinds
  std::vector<findings::IgnoreRule> ignoreRules;  // ignore-in, ignore-kernel
  std::optional<std::string> failOn, like, baseline;  // like: in lower case; baseline: with the folder of `file`
  std::optional<uint32_t> printLimit, numSms, threads;
  std::optional<double> timeout;  // seconds
  std::optional<bool> allConfigs;

  /// An error at the value of `key`, for values that only the caller can judge.
  Diagnostic wrong(const std::string& key, std::string message) const;

  std::map<std::string, std::pair<uint32_t, uint32_t>> places;  // key -> line, column of its value
};

/// The settings of the nearest pyproject.toml, from `directory` upwards, that has [tool.tilesight]; empty
/// ones without such a file. Errors: a file on the way that is no TOML; a key that there is not (with the
/// nearest one), a value of the wrong type or out of range: with line and column.
/// `withinRepository`: looks no further up than the folder that holds `.git`.
Result<Settings> read(const std::string& directory, bool withinRepository = false);

}  // namespace tilesight::settings
