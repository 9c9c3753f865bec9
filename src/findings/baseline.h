// Baselines: the findings and unknowns of an earlier run that are accepted, as a file that is kept with
// the code. docs/findings.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "support/result.h"

namespace tilesight::findings {

struct Baseline {
  /// One fingerprint. The rest but `count` and `severity` is for people, and for the note on what no longer occurs.
  struct Known {
    std::string fingerprint, kind, kernel, file, line, argument;
    uint32_t count = 1;  // how many places have it
    Severity severity = Severity::Error;  // worse ones are new
  };
  struct KnownUnknown {
    std::string kernel, reason, file, line;
  };
  std::string path;  // where it was read from
  std::vector<Known> findings;
  std::vector<KnownUnknown> unknowns;
};

/// Reads a baseline. Errors: a file that cannot be read, or is none; with its path and, where the text
/// is not JSON, line and column.
Result<Baseline> readBaseline(const std::string& path);

/// The same for the baseline of a run, which may name none (""), and one that the run is to write for the
/// first time: both are no baseline.
Result<std::optional<Baseline>> baselineOf(const std::string& path, const std::string& written);

/// The same text for the same findings, in whatever order they came, with what is `kept` of another baseline.
/// Files are relative to `directory` where they lie below it.
std::string baselineText(const std::vector<const Finding*>& findings,
                         const std::vector<const Unknown*>& unknowns, const std::string& directory,
                         const Baseline& kept = {});

/// What tells two unknowns apart, whatever line they are on.
std::string unknownKey(const std::string& kernel, const std::string& reason, const std::string& line);

}  // namespace tilesight::findings
