// tilesight check: runs clients on bundles.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "clients/tracer/tracer.h"
#include "exec/run.h"
#include "findings/ignore_comments.h"
#include "findings/remarks.h"
#include "findings/reports.h"
#include "findings/session.h"
#include "launch/bundle.h"
#include "settings/settings.h"
#include "tools/client_names.h"
#include "tools/inputs.h"
#include "tools/launch_filter.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/transform.h"

namespace tilesight::tools {
namespace {

/// Kernels by their text: launches of a bundle share them. Passes run on each first.
class Kernels {
 public:
  explicit Kernels(Transform passes) : passes_(std::move(passes)) {}
  Result<std::shared_ptr<const exec::Kernel>> of(const launch::Launch& launch) {
    const auto found = kernels_.find(launch.irText);
    if (found != kernels_.end()) return found->second;
    return kernels_.emplace(launch.irText, compiled(launch)).first->second;
  }

 private:
  Result<std::shared_ptr<const exec::Kernel>> compiled(const launch::Launch& launch) const {
    if (passes_.pipelines.empty()) return exec::compile(launch.irText, launch.irName);
    const auto outcome = transform(launch.irText, launch.irName, passes_);
    if (!outcome) return failure(outcome.error());
    TS_CHECK(outcome->status);
    return exec::compile(outcome->text, launch.irName);
  }

  Transform passes_;
  std::unordered_map<std::string, Result<std::shared_ptr<const exec::Kernel>>> kernels_;
};

/// The same error with the bundle and the launch in front, so that one line says it all.
Diagnostic placed(Diagnostic error, const std::string& bundle, const launch::Launch& launch) {
  if (error.file.empty()) {
    error.file = bundle;
    error.message = fmt::format("launch {} ({}): {}", launch.index, launch.kernel, error.message);
  } else {
    error.message += fmt::format(" [in {}]", bundle);
  }
  return error;
}

/// The options of one run, with a tracer of its own, if one is asked for, that can be looked at afterwards.
class TracedRun {
 public:
  explicit TracedRun(exec::RunOptions options) : options_(std::move(options)) {
    for (exec::ClientInstance& client : options_.clients)
      if (client.table == &clients::tracer()) client.self = self_ = client.table->create(&exec::host(), "");
  }
  ~TracedRun() {
    if (self_) clients::tracer().destroy(self_);
  }
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

  const exec::RunOptions& options() const { return options_; }
  uint64_t records() const { return self_ ? clients::traceRecords(self_) : 0; }

 private:
  exec::RunOptions options_;
  void* self_ = nullptr;
};

struct Check {
  const CheckOptions& options;
  exec::RunOptions run;
  LaunchFilter filter;
  findings::Session session;
  Kernels kernels;
  int64_t withheld = 0;  // launches whose data was not saved
  std::vector<std::string> left = {};  // kernels of launches that the filter left out

  Status checkLaunch(const std::string& path, const launch::Launch& launch) {
    const auto kernel = kernels.of(launch);
    if (!kernel) return failure(placed(kernel.error(), path, launch));
    const TracedRun traced(run);
    Result<findings::LaunchReport> report = exec::run(**kernel, launch, traced.options());
    if (!report) return failure(placed(report.error(), path, launch));
    findings::findIgnoreComments(*report, launch.sources);
    report->launch = launch.index;
    for (const exec::ClientInstance& client : run.clients) report->clients.emplace_back(client.table->name);
    for (findings::Finding& finding : report->findings) {
      finding.launch = launch.index;
      finding.bundle = path;
    }
    report->traceRecords = traced.records();
    session.add(std::move(*report));
    return {};
  }

  bool stop() const {
    return options.failFast && session.verdict() == findings::Verdict::Finding;
  }

  void checkFile(const std::string& path) {
    const Result<launch::BundleReader> bundle = launch::BundleReader::open(path);
    if (!bundle) return session.addProblem(bundle.error());
    for (size_t i = 0; i < bundle->launches() && !stop(); ++i) {
      const Result<std::string> name = bundle->kernelName(i);
      if (!name) return session.addProblem(name.error());
      if (!filter.wants(*name)) {
        if (std::find(left.begin(), left.end(), *name) == left.end()) left.push_back(*name);
        continue;
      }
      Result<launch::Launch> launch = bundle->launch(i);
      if (!launch) return session.addProblem(launch.error());
      if (options.numSms) launch->numSms = *options.numSms;
      if (options.seed) launch->seed = *options.seed;
      withheld += std::any_of(launch->storages.begin(), launch->storages.end(),
                              [](const launch::Storage& storage) { return storage.withheld; });
      if (Status status = checkLaunch(path, *launch); !status) session.addProblem(status.error());
    }
  }
};

Result<std::vector<exec::ClientInstance>> chosenClients(const CheckOptions& options,
                                                        const settings::Settings& project) {
  std::vector<std::string> names = options.clients;
  if (!options.tool.empty()) {
    const Result<std::vector<std::string>> group = clientsOfTool(options.tool);
    if (!group) return failure(group.error());
    names.insert(names.end(), group->begin(), group->end());
  }
  if (!names.empty()) return clientsNamed(names, options.plugins);
  if (!project.client) return clientsNamed({"sanitizer"}, options.plugins);
  if (project.client->empty()) return clientsNamed({"null"}, options.plugins);  // "off", as in `tilesight run`
  auto clients = clientsNamed(*project.client, options.plugins);
  if (!clients) return failure(project.wrong("client", clients.error().message));
  return clients;
}

/// The command line, then pyproject.toml, then what is usual.
Result<findings::SessionOptions> sessionOptions(const CheckOptions& options, const settings::Settings& project) {
  findings::SessionOptions session;
  auto baseline = findings::baselineOf(options.baseline.empty() ? project.baseline.value_or("") : options.baseline,
                                       options.writeBaseline);
  if (!baseline) return failure(baseline.error());
  session.baseline = std::move(*baseline);
  session.ignore = options.ignore;
  session.ignore.insert(session.ignore.end(), project.ignore.begin(), project.ignore.end());
  session.ignoreRules = project.ignoreRules;
  session.printLimit = options.printLimit.value_or(project.printLimit.value_or(session.printLimit));
  session.failOn = findings::parseFailOn(options.failOn.value_or(project.failOn.value_or("error")))
                       .value_or(findings::FailRule{});
  session.errorExitCode = options.errorExitCode;
  session.quiet = options.quiet;
  return session;
}

/// Errors with a place are said as such, others as wrong usage.
int refused(const Diagnostic& error) {
  if (!error.file.empty()) {
    printError(error);
    return 2;
  }
  return usageError(error.remedy.empty() ? error.message : fmt::format("{}; {}", error.message, error.remedy),
                    "check");
}

}  // namespace

int check(const CheckOptions& options) {
  const Result<settings::Settings> project = settings::read(".");
  if (!project) return refused(project.error());
  Result<std::vector<exec::ClientInstance>> clients = chosenClients(options, *project);
  if (!clients) return refused(clients.error());
  Result<LaunchFilter> filter =
      LaunchFilter::create(options.kernelName, options.launchSkip, options.launchCount);
  if (!filter) return refused(filter.error());
  findings::ReportOptions reports{.format = *findings::parseReportFormat(options.format),
                                  .json = options.json,
                                  .sarif = options.sarif,
                                  .output = options.output,
                                  .writeBaseline = options.writeBaseline};
  for (const std::string& file : options.files) reports.others.emplace_back("the bundle", file);
  if (Status status = findings::checkReports(reports); !status) return refused(status.error());
  Result<findings::SessionOptions> session = sessionOptions(options, *project);
  if (!session) return refused(session.error());
  const Transform passes{.pipelines = options.passes, .plugins = options.plugins};
  if (!passes.pipelines.empty())
    if (const Status known = checkPasses(passes); !known) return refused(known.error());

  Check check{options,
              {.clients = std::move(*clients),
               .threads = options.threads.value_or(project->threads.value_or(0)),
               .addressOnly = options.addressOnly,
               .timeLimit = options.timeout.value_or(project->timeout.value_or(0))},
              std::move(*filter),
              findings::Session(std::move(*session)),
              Kernels(passes),
              0};
  for (const std::string& path : options.files) {
    const Result<std::vector<std::string>> bundles = bundlesAt(path);
    if (!bundles) {
      check.session.addProblem(bundles.error());
      continue;
    }
    for (const std::string& bundle : *bundles)
      if (!check.stop()) check.checkFile(bundle);
  }

  if (!check.session.launches() && !check.left.empty())
    check.session.setNoLaunchReason(
        findings::noLaunchLeft("--", options.kernelName, check.left));
  for (const findings::KernelSummary& kernel : check.session.kernels())
    if (kernel.traceRecords) {
      check.session.addNote(findings::tracerRemark(options.files[0]));
      break;
    }
  if (check.withheld)
    check.session.addNote(fmt::format("{} saved without data (--data): zeros stand for it, so that what depends on "
                                      "values may be judged otherwise than in the run",
                                      check.withheld == 1 ? "1 launch was"
                                                          : fmt::format("{} launches were", check.withheld)));
  if (!options.passes.empty())
    check.session.addNote(fmt::format("kernels were checked as they are after the pass{} {}, not as they were recorded", options.passes.size() == 1 ? "" : "es", fmt::join(options.passes, ", ")));
  if (options.addressOnly)
    check.session.addNote(findings::addressOnlyRemark("--"));
  reports.partial = check.stop() || !options.kernelName.empty() || options.launchSkip ||
                    options.launchCount != UINT64_MAX;
  return findings::writeReports(check.session, reports, std::nullopt);
}

}  // namespace tilesight::tools
