#include "findings/session.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "findings/files.h"
#include "findings/format.h"
#include "findings/ignore_comments.h"
#include "findings/json.h"
#include "findings/kinds.h"
#include "findings/places.h"
#include "findings/sentence.h"
#include "findings/text.h"
#include "support/path.h"
#include "support/wildcard.h"

namespace tilesight::findings {
namespace {

/// Separates the fields of a key: no name or path has it.
constexpr char unit = '\x1f';

void appendFrame(std::string& key, const Frame& frame) {
  key += fmt::format("{}{}{}:{}", unit, frame.file, frame.line, frame.column);
}

std::string withoutNumbers(const std::string& text) {
  std::string result;
  for (char c : text)
    if (c < '0' || c > '9') result += c;
    else if (result.empty() || result.back() != '0') result += '0';
  return result;
}

/// What makes two findings equal: kind, kernel, call chain, operation, argument.
std::string keyOf(const Finding& finding) {
  std::string key = finding.kind;
  key += unit + finding.kernel + unit + finding.kernelFile + unit + finding.operation + unit;
  if (finding.operand) key += finding.operand->argument;
  // One place can go wrong in two ways that a kind's own words tell apart; their numbers are each launch's.
  if (!standardSentence(finding)) key += unit + withoutNumbers(finding.message);
  appendFrame(key, finding.location);
  for (const Frame& frame : finding.stack) appendFrame(key, frame);
  return key;
}

std::string keyOf(const Unknown& unknown) {
  std::string key = unknown.kernel + unit + unknown.kernelFile + unit + unknown.reason;
  appendFrame(key, unknown.location);
  return key;
}

std::string kernelKey(const std::string& kernel, const std::string& file) { return kernel + unit + file; }

bool fileMatches(const IgnoreRule& rule, const std::string& file) {
  if (file.empty()) return false;
  std::filesystem::path path = support::pathOf(relativePath(file, rule.directory));
  if (rule.pattern.find('/') == rule.pattern.npos && matchesWildcard(rule.pattern, support::textOf(path.filename()))) return true;
  std::string pattern = rule.pattern;
  while (pattern.size() > 1 && pattern.ends_with('/')) pattern.pop_back();
  for (; !path.empty(); path = path.parent_path()) {  // the file, or a folder it lies in
    if (matchesWildcard(pattern, support::textOf(path))) return true;
    if (path == path.parent_path()) break;
  }
  return false;
}

bool applies(const IgnoreRule& rule, const Finding& finding) {
  if (std::find(rule.kinds.begin(), rule.kinds.end(), finding.kind) == rule.kinds.end()) return false;
  if (rule.of == IgnoreRule::Of::Kernel) return matchesWildcard(rule.pattern, finding.kernel);
  return fileMatches(rule, finding.location.file) ||
         std::any_of(finding.stack.begin(), finding.stack.end(),
                     [&](const Frame& frame) { return fileMatches(rule, frame.file); });
}

}  // namespace

/// Positions by key. `lastLaunch` keeps a launch that meets a finding twice from counting twice.
struct Session::Index {
  struct Entry {
    size_t position = 0;
    uint32_t lastLaunch = 0;
    bool accepted = false;  // the position is one of accepted_
    int64_t programs = 0;   // of the last launch that met it
  };
  std::unordered_map<std::string, Entry> findings, unknowns;
  std::unordered_set<std::string> suppressed;
  std::unordered_map<std::string, size_t> kernels;
};

/// What is left of the baseline, for a session and its siblings.
struct Session::Acceptance {
  using Counts = std::array<uint32_t, 3>;           // by severity
  std::unordered_map<std::string, Counts> left;     // fingerprint -> how many
  std::unordered_map<std::string, std::optional<Severity>> decided;  // key of a finding -> the worst that is accepted
  std::unordered_set<std::string> unknowns, metUnknowns;

  bool accepts(const std::string& key, const std::string& fingerprint, Severity severity) {
    const auto [known, isNew] = decided.try_emplace(key);
    if (!isNew) return known->second && severity <= *known->second;
    const auto found = left.find(fingerprint);
    if (found == left.end()) return false;
    for (size_t worst = static_cast<size_t>(severity); worst < found->second.size(); ++worst) {
      if (!found->second[worst]) continue;
      --found->second[worst];
      known->second = static_cast<Severity>(worst);
      return true;
    }
    return false;
  }
};

std::optional<FailRule> parseFailOn(std::string_view text) {
  FailRule rule;
  bool levelGiven = false;
  const std::vector<std::string> words = commaSeparated(text);
  for (const std::string& word : words) {
    if (word == "unknown") {
      rule.unknown = true;
      continue;
    }
    if (levelGiven) return std::nullopt;
    levelGiven = true;
    if (word == "warning") rule.level = FailOn::Warning;
    else if (word == "never") rule.level = FailOn::Never;
    else if (word != "error") return std::nullopt;
  }
  if (words.empty()) return std::nullopt;
  return rule;
}

Verdict KernelSummary::verdict() const {
  if (errors) return Verdict::Finding;
  return unknowns ? Verdict::Unknown : Verdict::Ok;
}

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      index_(std::make_unique<Index>()),
      acceptance_(std::make_shared<Acceptance>()) {
  if (options_.workingDirectory.empty()) {
    std::error_code error;
    options_.workingDirectory = support::textOf(std::filesystem::current_path(error));
  }
  if (options_.repositoryRoot.empty()) options_.repositoryRoot = repositoryRoot(options_.workingDirectory);
  if (!options_.baseline) return;
  for (const Baseline::Known& known : options_.baseline->findings)
    acceptance_->left[known.fingerprint][static_cast<size_t>(known.severity)] += known.count;
  for (const Baseline::KnownUnknown& known : options_.baseline->unknowns)
    acceptance_->unknowns.insert(unknownKey(known.kernel, known.reason, known.line));
}

Session Session::sibling() const {
  Session other(options_);
  other.acceptance_ = acceptance_;
  return other;
}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

KernelSummary& Session::kernelOf(const std::string& kernel, const std::string& file) {
  const auto [place, isNew] = index_->kernels.try_emplace(kernelKey(kernel, file), kernels_.size());
  if (isNew) {
    kernels_.emplace_back();
    kernels_.back().kernel = kernel;
    kernels_.back().file = file;
  }
  return kernels_[place->second];
}

void Session::addRefusal(Refusal refusal) {
  ++kernelOf(refusal.kernel, refusal.kernelFile).refused;
  for (Refusal& known : refusals_)
    if (known.kernel == refusal.kernel && known.kernelFile == refusal.kernelFile && known.reason == refusal.reason &&
        known.location.file == refusal.location.file && known.location.line == refusal.location.line) {
      ++known.launches;
      return;
    }
  refusal.launches = 1;
  refusals_.push_back(std::move(refusal));
}

void Session::add(LaunchReport report) {
  ++launches_;
  seconds_ += report.seconds;
  KernelSummary& kernel = kernelOf(report.kernel, report.file);
  ++kernel.launches;
  kernel.seconds += report.seconds;
  kernel.traceRecords += report.traceRecords;
  addMissing(kernel.checked, report.checked);
  addMissing(kernel.looked, report.checked);
  addMissing(kernel.notChecked, report.notChecked);
  kernel.judged += !report.checked.empty() || !report.notChecked.empty();
  for (const std::string& item : report.notChecked) {
    ++kernel.unchecked[item];
    if (item != "bounds") continue;
    const std::string clients = joined(report.clients, ", ");
    addMissing(kernel.without, {"client " + (clients.empty() ? "off" : clients)});
  }

  for (Finding& finding : report.findings) {
    if (finding.kernel.empty()) finding.kernel = report.kernel;
    finding.kernelFile = report.file;
    add(std::move(finding));
  }
  for (Unknown& unknown : report.unknowns) {
    if (unknown.kernel.empty()) unknown.kernel = report.kernel;
    unknown.kernelFile = report.file;
    add(std::move(unknown));
  }
}

void Session::add(Finding finding) {
  std::string key = keyOf(finding);
  if (isSuppressed(finding)) {
    suppressed_ += index_->suppressed.insert(std::move(key)).second;
    return;
  }
  if (const auto found = index_->findings.find(key); found != index_->findings.end()) {
    Index::Entry& entry = found->second;
    Finding& known = (entry.accepted ? accepted_.findings : findings_)[entry.position];
    // An operation that the compiler unrolled is several at one place, met by the same programs of a launch.
    if (entry.lastLaunch == launches_) {
      known.countPrograms += std::max<int64_t>(0, finding.countPrograms - entry.programs);
      entry.programs = std::max(entry.programs, finding.countPrograms);
    } else {
      ++known.countLaunches;
      known.countPrograms += finding.countPrograms;
      entry.programs = finding.countPrograms;
    }
    entry.lastLaunch = launches_;
    merge(known, finding);
    if (entry.accepted && !acceptance_->accepts(key, known.fingerprint, known.severity)) noLongerAccepted(key);
    return;
  }
  finding.countLaunches = 1;
  if (finding.fingerprint.empty()) finding.fingerprint = fingerprint(finding);
  const bool accept = acceptance_->accepts(key, finding.fingerprint, finding.severity);
  std::vector<Finding>& list = accept ? accepted_.findings : findings_;
  index_->findings.emplace(std::move(key), Index::Entry{list.size(), launches_, accept, finding.countPrograms});
  list.push_back(std::move(finding));
}

/// A finding that has become worse than what the baseline has.
void Session::noLongerAccepted(const std::string& key) {
  Index::Entry& entry = index_->findings.at(key);
  const size_t place = entry.position;
  for (auto& [other, at] : index_->findings)
    if (at.accepted && at.position > place) --at.position;
  entry.accepted = false;
  entry.position = findings_.size();
  findings_.push_back(std::move(accepted_.findings[place]));
  accepted_.findings.erase(accepted_.findings.begin() + static_cast<std::ptrdiff_t>(place));
}

void Session::add(Unknown unknown) {
  std::string key = keyOf(unknown);
  if (const auto found = index_->unknowns.find(key); found != index_->unknowns.end()) {
    Index::Entry& entry = found->second;
    if (entry.lastLaunch != launches_)
      ++(entry.accepted ? accepted_.unknowns : unknowns_)[entry.position].launches;
    entry.lastLaunch = launches_;
    return;
  }
  std::string fingerprint = unknownKey(unknown.kernel, unknown.reason, unknown.sourceLine);
  const bool accept = acceptance_->unknowns.count(fingerprint) > 0;
  if (accept) acceptance_->metUnknowns.insert(std::move(fingerprint));
  std::vector<UnknownSummary>& list = accept ? accepted_.unknowns : unknowns_;
  index_->unknowns.emplace(std::move(key), Index::Entry{list.size(), launches_, accept});
  list.push_back({std::move(unknown), 1});
}

bool Session::isSuppressed(const Finding& finding) {
  const bool commented = isIgnoredByComment(finding);  // asked first: wrong comments are told in any case
  if (std::find(options_.ignore.begin(), options_.ignore.end(), finding.kind) != options_.ignore.end())
    return true;
  return commented || std::any_of(options_.ignoreRules.begin(), options_.ignoreRules.end(),
                                  [&](const IgnoreRule& rule) { return applies(rule, finding); });
}

bool Session::isIgnoredByComment(const Finding& finding) {
  bool suppressed = false;
  for (const IgnoreComment& comment : finding.ignores) {
    const std::string place =
        fmt::format("{}:{}", relativePath(comment.file, options_.workingDirectory), comment.line);
    if (!comment.misspelt.empty()) {
      const std::string_view kind = comment.kinds.empty() ? std::string_view() : nearestKind(comment.kinds[0]);
      addNote(fmt::format("{}: `{}` does nothing: write # tilesight: ignore[{}] and why", place, comment.misspelt,
                          kind.empty() ? finding.kind : kind));
      continue;
    }
    if (comment.kinds.empty())
      addNote(fmt::format("{}: `ignore` does nothing without a kind: write # tilesight: ignore[{}] and why", place,
                          finding.kind));
    for (const std::string& kind : comment.kinds) {
      suppressed |= kind == finding.kind;
      if (findKind(kind) || kind == finding.kind) continue;  // a client may have kinds of its own
      addNote(fmt::format("{}: `ignore[{}]` names no kind of finding{}", place, kind, didYouMeanKind(kind)));
    }
  }
  return suppressed;
}

Status Session::writeBaseline(const std::string& path, bool incomplete) {
  incomplete |= launches_ == 0 || !problems_.empty() || !internalErrors_.empty();
  const std::string name = relativePath(path, options_.workingDirectory);
  if (!options_.baseline && (launches_ == 0 || !internalErrors_.empty())) {
    addNote(fmt::format("{} was not written: {}", name,
                        launches_ ? "Tilesight itself had errors" : "nothing was checked"));
    return {};
  }
  Baseline kept;
  if (incomplete && options_.baseline) {
    kept.findings = goneFromBaseline();
    for (const Baseline::KnownUnknown& known : options_.baseline->unknowns)
      if (!acceptance_->metUnknowns.contains(unknownKey(known.kernel, known.reason, known.line)))
        kept.unknowns.push_back(known);
  }
  std::vector<const Finding*> findings;
  std::vector<const Unknown*> unknowns;
  for (const auto* list : {&accepted_.findings, &findings_})
    for (const Finding& finding : *list) findings.push_back(&finding);
  for (const auto* list : {&accepted_.unknowns, &unknowns_})
    for (const UnknownSummary& summary : *list) unknowns.push_back(&summary.unknown);
  TS_CHECK(writeFile(path, baselineText(findings, unknowns, options_.repositoryRoot, kept)));
  baselineWritten_ = true;
  addNote(fmt::format("{} and {} were written to {}: {}baseline {} accepts them",
                      counted(static_cast<int64_t>(findings.size()), "finding"),
                      counted(static_cast<int64_t>(unknowns.size()), "unknown"), name, options_.optionPrefix, name));
  if (const size_t count = kept.findings.size() + kept.unknowns.size())
    addNote(fmt::format("{} of the baseline that did not occur {} kept: not everything was checked",
                        count == 1 ? "1 entry" : fmt::format("{} entries", count), count == 1 ? "was" : "were"));
  return {};
}

std::vector<Baseline::Known> Session::goneFromBaseline() const {
  std::vector<Baseline::Known> gone;
  if (!options_.baseline) return gone;
  std::unordered_map<std::string, Acceptance::Counts> left = acceptance_->left;
  for (const Baseline::Known& known : options_.baseline->findings) {
    uint32_t& missing = left[known.fingerprint][static_cast<size_t>(known.severity)];
    if (!missing) continue;
    gone.push_back(known);
    gone.back().count = std::min(missing, known.count);
    missing -= gone.back().count;
  }
  return gone;
}

void Session::addNote(std::string text) { addMissing(notes_, {std::move(text)}); }

void Session::addProblem(Diagnostic problem) { problems_.push_back(std::move(problem)); }

void Session::addInternalError(std::string message) {
  internalErrors_.push_back(std::move(message));
}

std::vector<KernelSummary> Session::kernels() const {
  std::vector<KernelSummary> result = kernels_;
  const auto of = [&](const auto& item) -> KernelSummary* {
    const auto found = index_->kernels.find(kernelKey(item.kernel, item.kernelFile));
    return found == index_->kernels.end() ? nullptr : &result[found->second];
  };
  for (const Finding& finding : findings_)
    if (KernelSummary* kernel = of(finding)) {
      kernel->errors += finding.severity == Severity::Error;
      kernel->warnings += finding.severity == Severity::Warning;
      kernel->notes += finding.severity == Severity::Note;
    }
  for (const UnknownSummary& summary : unknowns_)
    if (KernelSummary* kernel = of(summary.unknown)) ++kernel->unknowns;
  for (const Finding& finding : accepted_.findings)
    if (KernelSummary* kernel = of(finding)) ++kernel->accepted;
  for (const UnknownSummary& summary : accepted_.unknowns)
    if (KernelSummary* kernel = of(summary.unknown)) ++kernel->accepted;
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
  const FailRule& rule = options_.failOn;
  if (rule.unknown && !unknowns_.empty() && !baselineWritten_) return options_.errorExitCode;
  if (rule.level != FailOn::Never && !baselineWritten_) {
    const Severity threshold = rule.level == FailOn::Warning ? Severity::Warning : Severity::Error;
    for (const Finding& finding : findings_)
      if (finding.severity >= threshold) return options_.errorExitCode;
  }
  if (programExit) return programExit;
  return launches_ == 0 || (!unknowns_.empty() && !baselineWritten_) ? 3 : 0;
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

}  // namespace tilesight::findings
