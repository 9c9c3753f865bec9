#include "passes/manager.h"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "ir/verifier.h"
#include "passes/clone.h"
#include "text/splice.h"
#include "text/text.h"

namespace tilesight::passes {

namespace {

/// Text that is written must be text that can be read.
Status readable(const std::string& text, const std::string& fileName) {
  ir::Context context;
  const auto module = text::parse(text, fileName, context);
  if (!module) return failure(module.error());
  return ir::verify(*module);
}

tl::unexpected<Diagnostic> failed(const Pass& pass, Diagnostic why, std::string_view how, const std::string& fileName) {
  why.message = fmt::format("pass '{}' {}: {}", pass.name, how, why.message);
  if (why.file.empty()) why.file = fileName;
  if (!pass.origin.empty()) why.message += fmt::format(" (of {})", pass.origin);
  return failure(std::move(why));
}

}  // namespace

Result<Outcome> runPasses(std::string text, std::string fileName, const std::vector<Step>& steps, const ManagerOptions& options) {
  ir::Context context;
  auto parsed = text::parseToEdit(std::move(text), fileName, context);
  if (!parsed) return tl::unexpected<Diagnostic>(parsed.error());
  ir::Module module = std::move(parsed->first);
  const text::Original original = std::move(parsed->second);
  TS_CHECK(ir::verify(module));

  Outcome outcome;
  std::string current(original.text());
  for (const Step& step : steps) {
    if (options.before) options.before(*step.pass, current);
    ir::Module saved = clone(module);
    std::vector<Remark> remarks;
    PassReport report;
    report.name = step.pass->name;
    const auto start = std::chrono::steady_clock::now();
    {
      Rewriter rewriter(module);
      PassContext passContext(rewriter, step.options, remarks);
      report.status = step.pass->run(passContext);
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::string how = "failed and was undone";
    std::string next;
    if (report.status) {
      report.status = ir::verify(module);
      if (!report.status) how = "left IR that is not valid and was undone";
    }
    if (report.status) {
      next = original.splice(module);
      if (next != current && (options.verifyEach || &step == &steps.back())) {
        report.status = readable(next, {});
        if (!report.status) how = "left IR that cannot be written and was undone";
      }
    }
    if (!report.status) {
      outcome.status = failed(*step.pass, report.status.error(), how, fileName);
      module = std::move(saved);
      outcome.reports.push_back(std::move(report));
      break;
    }
    report.changed = next != current;
    current = std::move(next);
    for (Remark& remark : remarks) {
      remark.pass = step.pass->name;
      outcome.remarks.push_back(std::move(remark));
    }
    outcome.reports.push_back(std::move(report));
    if (options.after) options.after(*step.pass, current);
  }
  outcome.text = std::move(current);
  return outcome;
}

}  // namespace tilesight::passes
