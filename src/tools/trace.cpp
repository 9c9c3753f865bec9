// tilesight trace: records launches of bundles as tables.
#include <csignal>
#include <unordered_map>

#include <fmt/format.h>

#include "exec/run.h"
#include "findings/format.h"
#include "findings/session.h"
#include "launch/bundle.h"
#include "record/perfetto.h"
#include "record/recorder.h"
#include "tools/client_names.h"
#include "tools/inputs.h"
#include "tools/launch_filter.h"
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {
namespace {

using findings::counted;
using findings::grouped;

launch::BundleWriter::Data dataNamed(const std::string& name) {
  using Data = launch::BundleWriter::Data;
  return name == "all" ? Data::All : name == "indices" ? Data::Indices : Data::None;
}

struct Tracing {
  const TraceOptions& options;
  LaunchFilter filter;
  record::Recorder& recorder;
  std::unordered_map<std::string, std::shared_ptr<const exec::Kernel>> kernels;
  uint32_t launches = 0;
  bool errors = false, unknown = false;

  Status launch(const std::string& path, const launch::Launch& launch) {
    auto& kernel = kernels[launch.irText];
    if (!kernel) {
      auto compiled = exec::compile(launch.irText, launch.irName);
      if (!compiled) return failure(compiled.error());
      kernel = *compiled;
    }
    auto clients = clientsNamed({"sanitizer"});
    if (!clients) return failure(clients.error());
    auto recording = recorder.begin(kernel, launch, launches);
    if (!recording) return failure(recording.error());
    clients->push_back(*recording);
    TS_CHECK(recorder.keep(launch, dataNamed(options.data)));
    exec::RunOptions run{.clients = *clients,
                         .threads = options.threads.value_or(0),
                         .addressOnly = options.addressOnly,
                         .timeLimit = options.timeout.value_or(0),
                         .interrupted = [this] { return recorder.failed(); }};
    const auto report = exec::run(*kernel, launch, run);
    TS_CHECK(recorder.end(report ? &*report : nullptr, path));
    if (!report) return failure(report.error());
    ++launches;
    errors = errors || report->verdict() == findings::Verdict::Finding;
    for (const findings::Unknown& reason : report->unknowns) {
      unknown = true;
      const findings::Frame& place = reason.location;
      printErr(fmt::format("{}: unknown: {}\n",
                           place.file.empty() ? launch.kernel : fmt::format("{}:{}:{}", place.file, place.line, place.column),
                           reason.reason));
    }
    return {};
  }

  Status file(const std::string& path) {
    const auto bundle = launch::BundleReader::open(path);
    if (!bundle) return failure(bundle.error());
    for (size_t i = 0; i < bundle->launches(); ++i) {
      const auto name = bundle->kernelName(i);
      if (!name) return failure(name.error());
      if (!filter.wants(*name)) continue;
      auto launch = bundle->launch(i);
      if (!launch) return failure(launch.error());
      if (options.numSms) launch->numSms = *options.numSms;
      if (options.seed) launch->seed = *options.seed;
      if (Status status = this->launch(path, *launch); !status) {
        Diagnostic error = status.error();
        if (error.file.empty()) {
          error.file = path;
          error.message = fmt::format("launch {} ({}): {}", launch->index, launch->kernel, error.message);
        }
        return failure(std::move(error));
      }
    }
    return {};
  }
};

int refused(const Diagnostic& error) {
  if (error.file.empty()) return usageError(error.remedy.empty() ? error.message : error.message + "; " + error.remedy, "trace");
  printError(error);
  return 2;
}

/// The file for the Perfetto UI, from a trace that is there. 0, or 2 with an error said.
int perfetto(const TraceOptions& options, const std::string& folder) {
  const auto trace = record::Trace::open(folder);
  if (!trace) return refused(trace.error());
  const auto totals = record::writePerfetto(*trace, options.perfetto, options.perfettoLimit);
  if (!totals) return refused(totals.error());
  if (totals->written < totals->all)
    printErr(fmt::format("{}: the first {} of {} accesses (--perfetto-limit)\n", options.perfetto, grouped(totals->written),
                         grouped(totals->all)));
  return 0;
}

}  // namespace

int trace(const TraceOptions& options) {
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error like a full disk
#endif
  if (options.files.size() == 1 && record::isTrace(options.files[0])) {
    if (options.perfetto.empty() || !options.output.empty())
      return refused(Diagnostic{options.files[0], 0, 0, "is a trace already", "with --perfetto OUT and without -o, it is converted"});
    return perfetto(options, options.files[0]);
  }
  if (options.output.empty()) return usageError("-o FOLDER is missing: where the trace is to be written", "trace");
  auto filter = LaunchFilter::create(options.kernelName, options.launchSkip, options.launchCount);
  if (!filter) return refused(filter.error());
  std::vector<std::string> bundles;
  for (const std::string& path : options.files) {
    const auto here = bundlesAt(path);
    if (!here) return refused(here.error());
    bundles.insert(bundles.end(), here->begin(), here->end());
  }
  auto recorder = record::Recorder::open(options.output, {.elements = options.elements});
  if (!recorder) return refused(recorder.error());
  Tracing tracing{options, std::move(*filter), **recorder, {}};
  for (const std::string& bundle : bundles)
    if (const Status status = tracing.file(bundle); !status) return refused(status.error());
  if (const Status status = (*recorder)->finish(); !status) return refused(status.error());
  if (!tracing.launches)
    return refused(Diagnostic{options.files[0], 0, 0, "no launch is left to trace", "see --kernel-name and --launch-skip"});
  const record::Recorder::Totals totals = (*recorder)->totals();
  if (!options.quiet)
    printErr(fmt::format("{}: {} of {} in {}, {}, {}\n", options.output, fmt::format("{} access{}", grouped(static_cast<int64_t>(totals.accesses)), totals.accesses == 1 ? "" : "es"),
                         counted(static_cast<int64_t>(totals.programs), "program"), counted(static_cast<int64_t>(totals.launches), "launch"),
                         counted(static_cast<int64_t>(totals.findings), "finding"), counted(static_cast<int64_t>(totals.bytes), "byte")));
  if (!options.perfetto.empty())
    if (const int status = perfetto(options, options.output)) return status;
  return tracing.errors ? 1 : tracing.unknown ? 3 : 0;
}

}  // namespace tilesight::tools
