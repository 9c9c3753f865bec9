#include "server/loaded.h"

#include <cctype>
#include <unordered_map>

#include <fmt/format.h>

#include "clients/registry.h"
#include "exec/kernel.h"
#include "findings/ignore_comments.h"
#include "launch/bundle.h"
#include "server/inputs.h"
#include "text/text.h"
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
    if (op.results.size() == 1 && isIdentifier(op.location.name())) op.results[0]->name = op.location.name();
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

}  // namespace

Loaded::~Loaded() {
  if (tracer_) clients::tracer().destroy(tracer_);
}

Result<std::shared_ptr<const Loaded>> Loaded::load(const std::string& bundle, size_t index) {
  auto reader = launch::BundleReader::open(bundle);
  if (!reader) return failure(reader.error());
  auto launch = reader->launch(index);
  if (!launch) return failure(launch.error());
  std::shared_ptr<Loaded> loaded(new Loaded);
  loaded->bundle = bundle;
  loaded->index = index;
  loaded->launch = std::move(*launch);
  loaded->reader_ = std::make_unique<launch::BundleReader>(std::move(*reader));
  auto kernel = exec::compile(loaded->launch.irText, loaded->launch.irName);
  if (!kernel) return failure(placed(kernel.error(), bundle, loaded->launch));
  loaded->kernel = std::move(*kernel);
  if (auto shown = shownText(loaded->launch)) loaded->shown = std::move(*shown);
  else loaded->shown.text = loaded->launch.irText;

  loaded->survey = std::make_unique<Survey>(exec::host(), "");
  loaded->tracer_ = clients::tracer().create(&exec::host(), "");
  exec::RunOptions options;
  options.threads = 1;  // the survey adds up in place
  options.clients = {{clients::find("sanitizer"), "", nullptr},
                     {&clients::tracer(), "", loaded->tracer_},
                     {&client_table<Survey>(), "", loaded->survey.get()}};
  auto report = exec::run(*loaded->kernel, loaded->launch, options);
  if (!report) return failure(placed(report.error(), bundle, loaded->launch));
  loaded->survey->finish();
  findings::findIgnoreComments(*report, loaded->launch.sources);
  report->launch = loaded->launch.index;
  report->clients = {"sanitizer", "tracer"};
  for (findings::Finding& finding : report->findings) {
    finding.launch = loaded->launch.index;
    finding.bundle = bundle;
  }
  loaded->report = *report;
  loaded->session.add(std::move(*report));
  return std::shared_ptr<const Loaded>(std::move(loaded));
}

Result<std::shared_ptr<const launch::Launch>> Loaded::before() const {
  const std::lock_guard lock(mutex_);
  if (!before_) {
    auto launch = reader_->launch(index);
    if (!launch) return failure(launch.error());
    before_ = std::make_shared<const launch::Launch>(std::move(*launch));
  }
  return before_;
}

Result<std::shared_ptr<trace::Values>> Loaded::values() const {
  auto launch = before();
  if (!launch) return failure(launch.error());
  const std::lock_guard lock(valuesMutex_);
  if (values_) return values_;
  auto values = trace::Values::of(kernel, *launch);
  if (!values) return failure(values.error());
  auto reads = std::make_shared<exec::ReadsOfPrograms>();
  if ((*values)->needsReads()) {
    const std::shared_ptr<launch::Launch> copy = trace::copyForRun(*kernel, **launch);
    exec::RunOptions options;
    options.keepReads = reads.get();
    options.keepAllReads = options.silent = true;
    auto report = exec::run(*kernel, *copy, options);
    if (!report) return failure(report.error());
    values = trace::Values::of(kernel, *launch, reads);
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
