#include "findings/reports.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "findings/files.h"
#include "findings/github.h"
#include "findings/sarif.h"

namespace tilesight::findings {
namespace {

namespace fs = std::filesystem;

Status checkWritable(const std::string& option, const std::string& path) {
  std::error_code error;
  const fs::path place = fs::absolute(linkTarget(path), error);
  if (fs::is_directory(place, error)) return failure(fmt::format("{} {} is a folder", option, path));
  if (isDevice(path)) {
    if (access(path.c_str(), W_OK) == 0) return {};
    return failure(fmt::format("{} {} cannot be written: {}", option, path, std::strerror(errno)));
  }
  const fs::path folder = place.parent_path();
  if (!fs::is_directory(folder, error))
    return failure(fmt::format("{} {}: there is no folder {}", option, path, folder.generic_string()));
  if (access(folder.string().c_str(), W_OK) != 0)
    return failure(fmt::format("{} {} cannot be written: {}", option, path, std::strerror(errno)));
  return {};
}

/// Do two paths lead to one file, which may not be there yet? All may go to /dev/null.
bool sameFile(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  if (one == "-" || other == "-") return one == other;
  std::error_code error;
  const auto place = [&](const std::string& path) {
    const fs::path absolute = fs::absolute(linkTarget(path), error);
    const fs::path found = fs::weakly_canonical(absolute, error);
    return error ? absolute.lexically_normal() : found;
  };
  const fs::path first = place(one), second = place(other);
  if (first == "/dev/null") return false;
  return first == second || fs::equivalent(first, second, error);
}

void print(std::FILE* stream, const std::string& text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void write(Session& session, const std::string& path, const std::string& text) {
  if (path == "-") return print(stdout, text);
  if (Status status = writeFile(path, text); !status) session.addProblem(status.error());
}

void appendStepSummary(Session& session) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (!path || !*path) return;
  const std::string text = stepSummary(session);
  std::FILE* file = std::fopen(path, "ab");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  if (!good) session.addNote(fmt::format("GITHUB_STEP_SUMMARY={} cannot be written", path));
}

void noteGone(Session& session) {
  std::string list;
  uint32_t count = 0, named = 0;
  for (const Baseline::Known& known : session.goneFromBaseline()) {
    count += known.count;
    if (++named <= 3) list += fmt::format("{}{} in {}", list.empty() ? "" : ", ", known.kind, known.kernel);
  }
  if (!count) return;
  session.addNote(fmt::format("{} of the baseline {} no longer: {}{}; {}write-baseline writes it anew",
                              count == 1 ? "1 finding" : fmt::format("{} findings", count),
                              count == 1 ? "occurs" : "occur", list, named > 3 ? ", ..." : "",
                              session.options().optionPrefix));
}

}  // namespace

std::optional<ReportFormat> parseReportFormat(std::string_view name) {
  if (name == "text") return ReportFormat::Text;
  if (name == "github") return ReportFormat::Github;
  return std::nullopt;
}

Status checkReports(const ReportOptions& options) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--json", &options.json}, {"--sarif", &options.sarif}, {"-o", &options.output},
      {"--write-baseline", &options.writeBaseline}};
  for (const auto& [option, path] : files) {
    if (path->empty()) continue;
    const bool standardOutput = *path == "-" && path != &options.writeBaseline;
    if (!standardOutput) TS_CHECK(checkWritable(option, *path));
    for (const auto& [other, otherPath] : files) {
      if (otherPath == path || !sameFile(*otherPath, *path)) continue;
      if (standardOutput)
        return failure(fmt::format("{} - and {} - cannot both have standard output: give one of them a file", option,
                                   other));
      return failure(fmt::format("{} and {} name the same file {}", option, other, *path));
    }
    if (standardOutput) continue;
    for (const auto& [other, otherPath] : options.others) {
      const bool renewed = path == &options.writeBaseline && other == "--baseline";
      if (!renewed && sameFile(otherPath, *path))
        return failure(fmt::format("{} and {} name the same file {}", option, other, *path));
    }
  }
  return {};
}

void writeFiles(Session& session, const ReportOptions& options, std::optional<int> programExit) {
  const bool incomplete = options.partial || programExit.value_or(0) != 0;
  if (!options.writeBaseline.empty()) {
    if (Status status = session.writeBaseline(options.writeBaseline, incomplete); !status) session.addProblem(status.error());
  } else if (!options.partial) {
    noteGone(session);
  }
  if (options.format == ReportFormat::Github) appendStepSummary(session);
  if (!options.json.empty()) write(session, options.json, session.json(programExit));
  if (!options.sarif.empty()) write(session, options.sarif, sessionSarif(session, programExit));
}

int writeReports(Session& session, const ReportOptions& options, std::optional<int> programExit) {
  writeFiles(session, options, programExit);
  const auto report = [&](bool colour) {
    return options.format == ReportFormat::Github ? sessionGithub(session) : session.text(colour);
  };
  if (options.output == "-") {
    print(stdout, report(false));
  } else if (!options.output.empty()) {
    if (Status status = writeFile(options.output, report(false)); !status) {
      session.addProblem(status.error());
      print(stderr, report(coloursWanted()));
    }
  } else {
    print(stderr, report(coloursWanted()));
  }
  return session.exitStatus(programExit.value_or(0));
}

bool coloursWanted() {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (off && *off) return false;
  if (terminal && std::strcmp(terminal, "dumb") == 0) return false;
  return isatty(STDERR_FILENO) != 0;
}

}  // namespace tilesight::findings
