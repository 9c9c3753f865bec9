// tilesight opt: passes on IR text.
#include <fmt/format.h>

#include "findings/format.h"
#include "passes/options.h"
#include "tools/isolated.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/text_files.h"

namespace tilesight::tools {
namespace {

int list(const OptOptions& options) {
  const auto text = options.isolate ? listOfPassesApart(options.plugins, options.timeout) : listOfPasses(options.plugins, [](const std::string&) {});
  if (!text) {
    printError(text.error());
    return 2;
  }
  printOut(*text);
  return 0;
}

}  // namespace

Result<std::string> listOfPasses(const std::vector<std::string>& plugins, const support::Begins& begins) {
  const plugins::Catalog catalog = plugins::Catalog::load(plugins, [&](const std::string& path) { begins(loading(path)); });
  TS_CHECK(accepted(catalog));
  passes::Registry registry;
  catalog.addTo(registry);
  std::string out;
  for (const passes::Pass& pass : registry.all()) {
    out += fmt::format("{:<28}{}{}\n", pass.name, pass.summary, pass.origin.empty() ? "" : " (" + pass.origin + ")");
    for (const passes::OptionInfo& option : pass.options)
      out += fmt::format("    {}: {}; {}\n", option.name, option.help, passes::describe(option));
  }
  return out;
}

int opt(const OptOptions& options) {
  if (options.list) return list(options);
  if (options.file.empty()) return usageError("FILE is required", "opt");
  if (!options.passes.empty() && !options.pipeline.empty()) return usageError("--pass and --pass-pipeline exclude each other", "opt");
  auto text = readText(options.file);
  if (!text) {
    printError(text.error());
    return 2;
  }
  Transform how;
  how.pipelines = options.passes;
  if (!options.pipeline.empty()) how.pipelines.push_back(options.pipeline);
  how.plugins = options.plugins;
  how.verifyEach = !options.noVerifyEach;
  how.printBefore = options.printBefore;
  how.printAfter = options.printAfter;
  how.isolate = options.isolate;
  how.seconds = options.timeout;
  const auto outcome = transform(std::move(*text), options.file == "-" ? "<stdin>" : options.file, how);
  if (!outcome) {
    if (outcome.error().file.empty()) return usageError(outcome.error().message, "opt");
    printError(outcome.error());
    return 2;
  }
  if (options.remarks)
    for (const passes::Remark& remark : outcome->remarks) printErr(findings::printable(remark.str()) + "\n");
  if (!options.remarksJson.empty()) {
    const std::string json = passes::remarksAsJson(outcome->remarks);
    if (options.remarksJson == "-") {
      printOut(json);
    } else if (const Status written = writeWhole(options.remarksJson, json); !written) {
      printError(written.error());
      return 2;
    }
  }
  if (options.time) {
    double all = 0;
    for (const passes::PassReport& report : outcome->reports) {
      all += report.seconds;
      printErr(fmt::format("{:>9.3f} ms  {}{}\n", report.seconds * 1e3, report.name,
                           !report.status ? " (failed)" : report.changed ? "" : " (changed nothing)"));
    }
    printErr(fmt::format("{:>9.3f} ms  all\n", all * 1e3));
  }
  if (!outcome->status) {
    printError(outcome->status.error());
    return 2;
  }
  if (options.output == "-" || options.output.empty()) {
    printOut(outcome->text);
    return 0;
  }
  if (const Status written = writeWhole(options.output, outcome->text); !written) {
    printError(written.error());
    return 2;
  }
  return 0;
}

}  // namespace tilesight::tools
