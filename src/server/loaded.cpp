#include "server/loaded.h"

#include <cctype>
#include <thread>

#include <fmt/format.h>

#include "clients/registry.h"
#include "exec/kernel.h"
#include "findings/ignore_comments.h"
#include "launch/bundle.h"
#include "server/footprint.h"
#include "server/inputs.h"
#include "text/text.h"
#include "trace/copies.h"
#include "tilesight/client.hpp"

namespace tilesight::server {
namespace {

bool isIdentifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (unsigned char c : name)
    if (!std::isalnum(c) && c != '_') return false;
  return true;
}

Result<ShownText> shownText(const launch::Launch& launch) {
  ir::Context context;
  auto module = text::parse(launch.irText, launch.irName, context);
  if (!module) return failure(module.error());
  ShownText shown;
  ir::walk(*module->top, [&](ir::Operation& op) {
    ShownOp entry{static_cast<uint32_t>(shown.ops.size()), 0, op.name, op.location.name(), {}, 0, 0};
    if (const ir::LocationStorage* place = op.location.file())
      entry.file = place->text, entry.fileLine = place->line, entry.column = place->column;
    shown.ops.push_back(std::move(entry));
    if (op.results.size() == 1 && op.results[0]->name.empty() && isIdentifier(op.location.name())) op.results[0]->name = op.location.name();
    return true;
  });
  shown.text = text::print(*module, {.locations = false});
  // Where each operation stands in that text: parsed again, the operations have the same order.
  ir::Context again;
  auto printed = text::parse(shown.text, "shown", again);
  if (!printed) return failure(printed.error());
  size_t at = 0;
  ir::walk(*printed->top, [&](ir::Operation& op) {
    if (at < shown.ops.size()) shown.ops[at++].line = op.sourceLine;
    return true;
  });
  return shown;
}

Diagnostic placed(Diagnostic error, const std::string& bundle, const launch::Launch& launch) {
  if (error.file.empty()) {
    error.file = bundle;
    error.message = fmt::format("launch {} ({}): {}", launch.index, launch.kernel, error.message);
  }
  return error;
}

/// Each range of programs has counts of its own, at most of all elements: so many threads that they fit.
unsigned threadsFor(const launch::Launch& launch) {
  constexpr int64_t kBytes = int64_t{4} << 30, kBytesOfElement = 8, kRangesPerThread = 4;
  int64_t elements = 1;
  for (const launch::Argument& argument : launch.arguments) {
    if (argument.kind != launch::Argument::Kind::Tensor) continue;
    int64_t of = 1;
    for (int64_t extent : argument.view.shape) of = extent > 0 && of < kMaxCounted / extent ? of * extent : kMaxCounted;
    elements += of;
  }
  return static_cast<unsigned>(std::clamp<int64_t>(kBytes / (kBytesOfElement * kRangesPerThread * elements), 1, std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace

Result<std::shared_ptr<Loaded>> Loaded::open(const std::string& bundle, size_t index) {
  auto reader = launch::BundleReader::open(bundle);
  if (!reader) return failure(reader.error());
  auto launch = reader->launch(index);
  if (!launch) return failure(launch.error());
  std::shared_ptr<Loaded> loaded(new Loaded);
  loaded->bundle = bundle;
  loaded->index = index;
  loaded->before = std::make_shared<const launch::Launch>(std::move(*launch));
  auto kernel = exec::compile(loaded->before->irText, loaded->before->irName);
  if (!kernel) return failure(placed(kernel.error(), bundle, loaded->launch()));
  loaded->kernel = std::move(*kernel);
  if (auto shown = shownText(loaded->launch())) loaded->shown = std::move(*shown);
  else loaded->shown.text = loaded->launch().irText;
  return loaded;
}

Result<bool> Loaded::survey(const std::function<bool()>& cancelled) {
  const std::shared_ptr<launch::Launch> after = trace::copyForRun(*kernel, launch());
  auto survey = std::make_unique<Survey>(exec::host(), &done_);
  exec::RunOptions options;
  options.threads = threadsFor(launch());
  options.interrupted = cancelled;
  options.clients = {{clients::find("sanitizer"), "", nullptr}, {&client_table<Survey>(), "", survey.get()}};
  auto report = exec::run(*kernel, *after, options);
  if (cancelled && cancelled()) return false;
  if (!report) return failure(placed(report.error(), bundle, launch()));
  surveyed_.after = after;
  finish(surveyed_, std::move(survey), std::move(*report));
  hasRun_.store(true, std::memory_order_release);
  return true;
}

void Loaded::finish(Surveyed& surveyed, std::unique_ptr<Survey> survey, findings::LaunchReport report) const {
  survey->finish();
  surveyed.survey = std::move(survey);
  findings::findIgnoreComments(report, launch().sources);
  report.launch = launch().index;
  report.clients = {"sanitizer"};
  for (findings::Finding& finding : report.findings) {
    finding.launch = launch().index;
    finding.bundle = bundle;
  }
  surveyed.report = report;
  surveyed.session.add(std::move(report));
}

Result<std::shared_ptr<trace::Values>> Loaded::values() const {
  const std::lock_guard lock(valuesMutex_);
  if (values_) return values_;
  auto values = trace::Values::of(kernel, before);
  if (!values) return failure(values.error());
  auto reads = std::make_shared<exec::ReadsOfPrograms>();
  if ((*values)->needsReads()) {
    const std::shared_ptr<launch::Launch> copy = trace::copyForRun(*kernel, launch());
    exec::RunOptions options;
    options.keepReads = reads.get();
    options.keepAllReads = options.silent = true;
    auto report = exec::run(*kernel, *copy, options);
    if (!report) return failure(report.error());
    values = trace::Values::of(kernel, before, reads);
    if (!values) return failure(values.error());
  }
  reads_ = reads;
  values_ = *values;
  return values_;
}

Result<std::shared_ptr<const exec::ReadsOfPrograms>> Loaded::reads() const {
  if (auto made = values(); !made) return failure(made.error());
  const std::lock_guard lock(valuesMutex_);
  return reads_;
}

Result<findings::LaunchReport> Loaded::replay(const std::vector<int64_t>& programs, std::vector<exec::ClientInstance> clients) const {
  auto reads = this->reads();
  if (!reads) return failure(reads.error());
  exec::ReadsOfPrograms only;
  for (int64_t program : programs) {
    const auto found = (*reads)->find(program);
    only[program] = found == (*reads)->end() ? exec::Reads{} : found->second;
  }
  exec::RunOptions options;
  options.threads = 1;
  options.silent = true;
  options.replay = &only;
  options.clients = std::move(clients);
  return exec::run(*kernel, launch(), options);
}

Result<std::shared_ptr<const Surveyed>> Loaded::part(const std::string& brush) const {
  constexpr size_t kParts = 4;
  auto programs = brushed(*this, brush);
  if (!programs) return failure(programs.error());
  const std::lock_guard lock(partsMutex_);  // pictures and findings ask at once
  for (const auto& [text, part] : parts_)
    if (text == brush) return part;
  auto survey = std::make_unique<Survey>(exec::host(), "");
  // One after another: none needs counts of its own.
  static const ts_client table = [] {
    ts_client together = client_table<Survey>();
    together.fork = nullptr, together.merge = nullptr, together.discard = nullptr;
    return together;
  }();
  auto report = replay(*programs, {{clients::find("sanitizer"), "", nullptr}, {&table, "", survey.get()}});
  if (!report) return failure(report.error());
  auto part = std::make_shared<Surveyed>();
  part->after = surveyed_.after;
  finish(*part, std::move(survey), std::move(*report));
  parts_.emplace_back(brush, part);
  if (parts_.size() > kParts) parts_.pop_front();
  return part;
}

Result<std::shared_ptr<const trace::Written>> Loaded::written(size_t argument, const std::vector<int64_t>& index) const {
  constexpr size_t kFollowed = 8;
  const std::lock_guard lock(followedMutex_);  // pictures of all inputs ask at once
  for (const Followed& followed : followed_)
    if (followed.argument == argument && followed.index == index) return followed.written;
  auto found = follow(*this, argument, index);
  if (!found) return failure(found.error());
  auto written = std::make_shared<const trace::Written>(std::move(*found));
  followed_.push_back({argument, index, written});
  if (followed_.size() > kFollowed) followed_.pop_front();
  return written;
}

}  // namespace tilesight::server
