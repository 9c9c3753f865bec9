#include "findings/session.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "findings/json.h"
#include "findings/kinds.h"
#include "findings/text.h"

namespace tilesight::findings {
namespace {

/// Separates the fields of a key: no name or path has it.
constexpr char unit = '\x1f';

void appendFrame(std::string& key, const Frame& frame) {
  key += fmt::format("{}{}{}:{}", unit, frame.file, frame.line, frame.column);
}

/// What makes two findings equal: kind, kernel, call chain, operation, argument.
std::string keyOf(const Finding& finding) {
  std::string key = finding.kind;
  key += unit + finding.kernel + unit + finding.operation + unit;
  if (finding.operand) key += finding.operand->argument;
  appendFrame(key, finding.location);
  for (const Frame& frame : finding.stack) appendFrame(key, frame);
  return key;
}

std::string keyOf(const Unknown& unknown) {
  std::string key = unknown.kernel + unit + unknown.reason;
  appendFrame(key, unknown.location);
  return key;
}

void addMissing(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& item : more)
    if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

/// Positions by key. `lastLaunch` keeps a launch that meets a finding twice from counting twice.
struct Session::Index {
  struct Entry {
    size_t position = 0;
    uint32_t lastLaunch = 0;
  };
  std::unordered_map<std::string, Entry> findings, unknowns;
  std::unordered_set<std::string> suppressed;
  std::unordered_map<std::string, size_t> kernels;
};

std::optional<FailOn> parseFailOn(std::string_view name) {
  if (name == "error") return FailOn::Error;
  if (name == "warning") return FailOn::Warning;
  if (name == "never") return FailOn::Never;
  return std::nullopt;
}

Verdict KernelSummary::verdict() const {
  if (errors) return Verdict::Finding;
  return unknowns ? Verdict::Unknown : Verdict::Ok;
}

Session::Session(SessionOptions options)
    : options_(std::move(options)), index_(std::make_unique<Index>()) {
  if (options_.workingDirectory.empty()) {
    std::error_code error;
    options_.workingDirectory = std::filesystem::current_path(error).string();
  }
}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

void Session::add(LaunchReport report) {
  ++launches_;
  seconds_ += report.seconds;
  const auto [place, isNew] = index_->kernels.try_emplace(report.kernel, kernels_.size());
  if (isNew) kernels_.push_back({.kernel = report.kernel});
  KernelSummary& kernel = kernels_[place->second];
  ++kernel.launches;
  kernel.seconds += report.seconds;
  addMissing(kernel.checked, report.checked);
  addMissing(kernel.notChecked, report.notChecked);

  for (Finding& finding : report.findings) {
    if (finding.kernel.empty()) finding.kernel = report.kernel;
    std::string key = keyOf(finding);
    if (isSuppressed(finding)) {
      suppressed_ += index_->suppressed.insert(std::move(key)).second;
      continue;
    }
    const auto [found, first] =
        index_->findings.try_emplace(std::move(key), Index::Entry{findings_.size(), launches_});
    if (first) {
      finding.countLaunches = 1;
      if (finding.fingerprint.empty()) finding.fingerprint = fingerprint(finding);
      findings_.push_back(std::move(finding));
      continue;
    }
    Finding& known = findings_[found->second.position];
    known.severity = std::max(known.severity, finding.severity);
    known.maxBytesPast = std::max(known.maxBytesPast, finding.maxBytesPast);
    known.countElements += finding.countElements;
    known.countPrograms += finding.countPrograms;
    if (found->second.lastLaunch != launches_) ++known.countLaunches;
    found->second.lastLaunch = launches_;
  }

  for (Unknown& unknown : report.unknowns) {
    if (unknown.kernel.empty()) unknown.kernel = report.kernel;
    const auto [found, first] =
        index_->unknowns.try_emplace(keyOf(unknown), Index::Entry{unknowns_.size(), launches_});
    if (first) {
      unknowns_.push_back({std::move(unknown), 1});
      continue;
    }
    if (found->second.lastLaunch != launches_) ++unknowns_[found->second.position].launches;
    found->second.lastLaunch = launches_;
  }
}

bool Session::isSuppressed(const Finding& finding) {
  if (std::find(options_.ignore.begin(), options_.ignore.end(), finding.kind) !=
      options_.ignore.end())
    return true;
  bool suppressed = false;
  for (const std::string& kind : suppressedKinds(finding.sourceLine)) {
    suppressed |= kind == finding.kind;
    if (findKind(kind)) continue;
    const std::string_view near = nearestKind(kind);
    addNote(fmt::format("{}:{}: `ignore[{}]` names no kind of finding{}", finding.location.file,
                        finding.location.line, kind,
                        near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  return suppressed;
}

void Session::addNote(std::string text) { addMissing(notes_, {std::move(text)}); }

void Session::addProblem(Diagnostic problem) { problems_.push_back(std::move(problem)); }

void Session::addInternalError(std::string message) {
  internalErrors_.push_back(std::move(message));
}

std::vector<KernelSummary> Session::kernels() const {
  std::vector<KernelSummary> result = kernels_;
  const auto of = [&](const std::string& name) -> KernelSummary* {
    const auto found = index_->kernels.find(name);
    return found == index_->kernels.end() ? nullptr : &result[found->second];
  };
  for (const Finding& finding : findings_)
    if (KernelSummary* kernel = of(finding.kernel)) {
      kernel->errors += finding.severity == Severity::Error;
      kernel->warnings += finding.severity == Severity::Warning;
      kernel->notes += finding.severity == Severity::Note;
    }
  for (const UnknownSummary& summary : unknowns_)
    if (KernelSummary* kernel = of(summary.unknown.kernel)) ++kernel->unknowns;
  for (KernelSummary& kernel : result)
    std::erase_if(kernel.checked, [&](const std::string& item) {
      return std::find(kernel.notChecked.begin(), kernel.notChecked.end(), item) !=
             kernel.notChecked.end();
    });
  return result;
}

Verdict Session::verdict() const {
  for (const Finding& finding : findings_)
    if (finding.severity == Severity::Error) return Verdict::Finding;
  return launches_ && unknowns_.empty() ? Verdict::Ok : Verdict::Unknown;
}

int Session::exitStatus(int programExit) const {
  if (!internalErrors_.empty()) return 4;
  if (!problems_.empty()) return 2;
  if (options_.failOn != FailOn::Never) {
    const Severity threshold =
        options_.failOn == FailOn::Warning ? Severity::Warning : Severity::Error;
    for (const Finding& finding : findings_)
      if (finding.severity >= threshold) return options_.errorExitCode;
  }
  if (programExit) return programExit;
  return launches_ == 0 || !unknowns_.empty() ? 3 : 0;
}

std::string Session::text(bool colour) const { return sessionText(*this, colour); }

std::string Session::json(std::optional<int> programExit) const {
  return sessionJson(*this, programExit);
}

std::string fingerprint(const Finding& finding) {
  // FNV-1a, 64 bits: stable across platforms and versions.
  uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&](std::string_view text) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash = (hash ^ static_cast<unsigned char>(unit)) * 0x100000001b3u;
  };
  mix(finding.kind);
  mix(finding.kernel);
  mix(trimmed(finding.sourceLine));
  mix(finding.operand ? finding.operand->argument : "");
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> suppressedKinds(std::string_view sourceLine) {
  std::vector<std::string> kinds;
  const size_t comment = sourceLine.find('#');
  if (comment == sourceLine.npos) return kinds;
  constexpr std::string_view marker = "tilesight:";
  size_t at = sourceLine.find(marker, comment);
  if (at == sourceLine.npos) return kinds;
  std::string_view rest = trimmed(sourceLine.substr(at + marker.size()));
  constexpr std::string_view open = "ignore[";
  if (!rest.starts_with(open)) return kinds;
  rest.remove_prefix(open.size());
  const size_t close = rest.find(']');
  if (close == rest.npos) return kinds;
  rest = rest.substr(0, close);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (const std::string_view kind = trimmed(rest.substr(0, comma)); !kind.empty())
      kinds.emplace_back(kind);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return kinds;
}

}  // namespace tilesight::findings
