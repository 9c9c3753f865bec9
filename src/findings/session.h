// A session: everything that one `tilesight` invocation (or one Python process) has found. It takes
// the report of each launch in order, merges equal findings across launches, applies suppressions,
// and says the verdict and the exit status.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/baseline.h"
#include "findings/finding.h"
#include "support/result.h"

namespace tilesight::findings {

/// Which findings make the exit status non-zero.
enum class FailOn : uint8_t { Error, Warning, Never };

/// What --fail-on and fail-on say.
struct FailRule {
  FailOn level = FailOn::Error;
  bool unknown = false;  // what could not be checked fails, too
};

/// One of "error", "warning", "never", or "unknown" beside one of them ("warning,unknown") or alone, which means
/// "error,unknown"; nullopt for anything else.
std::optional<FailRule> parseFailOn(std::string_view text);
/// What it can be, in words, for messages.
inline constexpr const char* failOnChoices = "error, warning or never, and unknown beside them (error,unknown)";

/// Kinds that are not reported in some files or kernels.
struct IgnoreRule {
  enum class Of : uint8_t { File, Kernel };
  Of of = Of::File;
  /// With `*`, `?` and `[...]`. A file is matched by its path below `directory`, by its name where the
  /// pattern has no "/", and by a folder it lies in.
  std::string pattern;
  std::vector<std::string> kinds;
  std::string directory;
};

struct SessionOptions {
  std::vector<std::string> ignore;  // kinds that are not reported
  std::vector<IgnoreRule> ignoreRules;
  std::optional<Baseline> baseline;  // what it has is accepted
  uint32_t printLimit = 50;         // findings in the text report; 0: all
  FailRule failOn;
  int errorExitCode = 1;            // exit status when there is what `failOn` says
  bool quiet = false;               // text: findings and unknowns only, nothing at all when there are none
  std::string workingDirectory;     // paths below it are shown relative to it; "": the process's
  std::string optionPrefix = "--";  // of the options that notes name
  std::string repositoryRoot;       // SARIF and GitHub name files relative to it; "": the nearest .git
};

/// What all launches of one kernel amounted to, in order of its first launch.
struct KernelSummary {
  std::string kernel;
  std::string file;  // where it is defined, or ""
  uint32_t launches = 0;
  double seconds = 0;
  uint32_t errors = 0, warnings = 0, notes = 0;  // merged findings, after suppressions
  uint32_t unknowns = 0;
  uint32_t accepted = 0;  // findings and unknowns that the baseline has
  uint32_t refused = 0;   // launches that Triton did not accept, which are not among `launches`
  uint64_t traceRecords = 0;  // of the tracer
  std::vector<std::string> checked, notChecked;  // what every launch checked; what any did not
  std::map<std::string, uint32_t> unchecked;  // item of `notChecked` -> launches that did not check it
  std::vector<std::string> looked;            // what any launch checked
  uint32_t judged = 0;                        // launches that say what they checked
  std::vector<std::string> without;           // why bounds were not checked: "client off", "client null"
  Verdict verdict() const;
};

/// An Unknown with the number of launches that met it.
struct UnknownSummary {
  Unknown unknown;
  uint32_t launches = 0;
};

/// A launch that Triton did not accept, and whose exception the program got and went on after.
struct Refusal {
  std::string kernel, reason;
  Frame location;  // in the kernel, or of it
  std::string kernelFile;
  uint32_t launches = 0;
};

/// What the baseline accepts: counts for nothing.
struct Accepted {
  std::vector<Finding> findings;
  std::vector<UnknownSummary> unknowns;
  size_t size() const { return findings.size() + unknowns.size(); }
};

/// Not thread-safe: callers that report from several threads hold their own lock.
class Session {
 public:
  explicit Session(SessionOptions options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// An empty session with the same options, that has what this one has left of the baseline: what either
  /// accepts, the other accepts too, and counts are spent together.
  Session sibling() const;

  /// Takes the report of one launch. Equal findings (kind, kernel, call chain, operation, argument)
  /// are merged: the first witness stays, counts add up. Fills `fingerprint` where it is empty.
  void add(LaunchReport report);
  /// Something to say once that is no finding ("cuda became cpu"). Repeated texts are dropped.
  void addNote(std::string text);
  /// A launch that Triton refused and the program went on after: told, and counted nowhere else.
  void addRefusal(Refusal refusal);
  /// Unusable input: exit status 2.
  void addProblem(Diagnostic problem);
  /// A fault of Tilesight itself: exit status 4.
  void addInternalError(std::string message);
  /// Why no launch was checked, for the report of a session without one.
  void setNoLaunchReason(std::string reason) { noLaunchReason_ = std::move(reason); }
  const std::string& noLaunchReason() const { return noLaunchReason_; }
  /// Writes what is known, what the baseline accepts included, as a baseline. From then on it does not
  /// count for the exit status. `incomplete`: something that the baseline has may not have had its chance to
  /// occur, and is kept. Writes nothing but a note where nothing was checked and there is no baseline to keep.
  /// Errors: the file cannot be written.
  Status writeBaseline(const std::string& path, bool incomplete = false);

  const SessionOptions& options() const { return options_; }
  const std::vector<Finding>& findings() const { return findings_; }
  const std::vector<UnknownSummary>& unknowns() const { return unknowns_; }
  const Accepted& accepted() const { return accepted_; }
  const std::vector<Refusal>& refusals() const { return refusals_; }
  /// Findings of the baseline that did not occur: kind, kernel, file, and how many are missing.
  std::vector<Baseline::Known> goneFromBaseline() const;
  /// Kernels in order of their first launch, with their counts. Those of one name in two files are two.
  std::vector<KernelSummary> kernels() const;
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<Diagnostic>& problems() const { return problems_; }
  const std::vector<std::string>& internalErrors() const { return internalErrors_; }
  uint32_t launches() const { return launches_; }
  /// Findings that `ignore` or a comment on the source line took out, merged like the others.
  uint32_t suppressed() const { return suppressed_; }
  double seconds() const { return seconds_; }

  /// Error findings beat unknowns beat ok. A session without a launch is `Unknown`.
  Verdict verdict() const;
  /// The exit status of the contract: 4 internal error > 2 bad input > findings (errorExitCode) >
  /// the program's own status > 3 incomplete > 0.
  int exitStatus(int programExit = 0) const;

  /// The report for people; ends with a newline unless empty.
  std::string text(bool colour) const;
  /// The report for programs: one JSON object (docs/findings.md), indented, with a final newline.
  /// `programExit` is the checked program's own status; absent (null) where there is no program.
  std::string json(std::optional<int> programExit = std::nullopt) const;

 private:
  struct Index;
  struct Acceptance;
  bool isSuppressed(const Finding& finding);
  bool isIgnoredByComment(const Finding& finding);
  KernelSummary& kernelOf(const std::string& kernel, const std::string& file);
  void add(Finding finding);
  void add(Unknown unknown);
  void noLongerAccepted(const std::string& key);

  SessionOptions options_;
  std::unique_ptr<Index> index_;
  std::shared_ptr<Acceptance> acceptance_;
  std::vector<Finding> findings_;
  std::vector<UnknownSummary> unknowns_;
  std::vector<Refusal> refusals_;
  Accepted accepted_;
  bool baselineWritten_ = false;
  std::string noLaunchReason_;
  std::vector<KernelSummary> kernels_;
  std::vector<std::string> notes_;
  std::vector<Diagnostic> problems_;
  std::vector<std::string> internalErrors_;
  uint32_t launches_ = 0;
  uint32_t suppressed_ = 0;
  double seconds_ = 0;
};

/// Stable identity of a finding: 16 hexadecimal digits of a hash of kind, kernel, text of the source
/// line (without its indentation) and argument. It stays when lines move.
std::string fingerprint(const Finding& finding);

}  // namespace tilesight::findings
