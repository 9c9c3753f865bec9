// The arguments: the one file that includes CLI11, because that takes seconds to compile.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include "findings/kinds.h"
#include "findings/nearest.h"
#include "findings/session.h"
#include "plugins/catalog.h"
#include "tools/isolated.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/tools.h"

namespace tilesight::tools {
namespace {

std::string validKind(std::string& name) {
  if (findings::findKind(name)) return {};
  return fmt::format("\"{}\" is no kind of finding{}", name, findings::didYouMeanKind(name));
}

std::string validFailOn(std::string& text) {
  if (findings::parseFailOn(text)) return {};
  return fmt::format("'{}' must be {}", text, findings::failOnChoices);
}

/// As `tilesight run` words it.
CLI::Validator wholeFrom(int64_t least, int64_t most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return {};
        return fmt::format("'{}' must be a whole number from {}", text, least);
      },
      "N");
}

CLI::Validator secondsAboveZero() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (!text.empty() && !*end && value > 0 && std::isfinite(value)) return {};
        return fmt::format("'{}' must be a number of seconds above 0", text);
      },
      "SECONDS");
}

void addCheck(CLI::App& app, CheckOptions& options) {
  CLI::App* check = app.add_subcommand("check", "Run clients on bundles");
  check->footer("Example:\n  tilesight check run.tsb --json report.json");
  check->add_option("FILE", options.files, "Bundles: .tsb files or folders")->required();
  check->add_option("--client", options.clients, "Clients, separated by commas (default: sanitizer); of a plugin: LIBRARY:NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  check->add_option("--plugin", options.plugins, "A library with clients, passes or dialects; repeat for several")->allow_extra_args(false);
  check->add_option("--tool", options.tool, "A group of clients: memcheck");
  check->add_option("--pass", options.passes, "Run this pass on each kernel first: 'name{option=value}'; repeat for several")->allow_extra_args(false);
  check->add_option("--kernel-name", options.kernelName,
                    "Only kernels of this name, or matching regex:EXPRESSION");
  check->add_option("--launch-skip", options.launchSkip, "Leave out the first N matching launches");
  check->add_option("--launch-count", options.launchCount, "Stop after N matching launches");
  check->add_option("--ignore", options.ignore, "Kinds not to report, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(validKind, "KIND"));
  check->add_option("--print-limit", options.printLimit, "Findings in the text report; 0: all (50)")
      ->check(wholeFrom(0, UINT32_MAX));
  check->add_option("--fail-on", options.failOn, "error (default), warning or never; also unknown: error,unknown")
      ->check(CLI::Validator(validFailOn, "LEVEL"));
  check->add_option("--error-exitcode", options.errorExitCode, "Exit status with findings (1)")
      ->check(CLI::Range(0, 255));
  check->add_flag("--fail-fast", options.failFast, "Stop after the first launch with an error");
  check->add_option("--threads", options.threads, "Threads (default: all cores)")
      ->check(wholeFrom(0, 1 << 16));
  check->add_option("--num-sms", options.numSms, "Programs that may be resident at once (default: as recorded)")
      ->check(wholeFrom(1, UINT32_MAX));
  check->add_option("--seed", options.seed, "Order in which programs that use atomics, or wait, take turns (default: as recorded)");
  check->add_option("--timeout", options.timeout, "Seconds after which a launch is stopped, as unknown")
      ->check(secondsAboveZero());
  check->add_flag("--address-only", options.addressOnly,
                  "Compute addresses and masks only: fast, outputs are not computed");
  check->add_flag("--quiet", options.quiet, "Print findings only");
  check->add_option("--json", options.json, "Also write the report as JSON to this file (-: stdout)");
  check->add_option("--sarif", options.sarif, "Also write it as SARIF 2.1.0, for code scanning (-: stdout)");
  check->add_option("--format", options.format, "text (default), or github: workflow commands and a step summary")
      ->check(CLI::IsMember({"text", "github"}));
  check->add_option("-o,--output", options.output, "Write the report to this file (-: stdout), not to standard error");
  check->add_option("--baseline", options.baseline, "Accept the findings and unknowns of this file");
  check->add_option("--write-baseline", options.writeBaseline,
                    "Write what is found to this file, for --baseline");
}

void addTrace(CLI::App& app, TraceOptions& options) {
  CLI::App* trace = app.add_subcommand("trace", "Record launches of bundles as Arrow tables");
  trace->footer("Example:\n  tilesight trace run.tsb -o run.trace");
  trace->add_option("FILE", options.files, "Bundles: .tsb files or folders; or a trace, for --perfetto")->required();
  trace->add_option("-o,--output", options.output, "The trace's folder: a new or an empty one");
  trace->add_option("--perfetto", options.perfetto, "Also write a file for ui.perfetto.dev: accesses in order, not time");
  trace->add_option("--perfetto-limit", options.perfettoLimit, "Accesses in that file, the first ones (500000)")
      ->check(wholeFrom(1, INT64_MAX));
  trace->add_option("--kernel-name", options.kernelName, "Only kernels of this name, or matching regex:EXPRESSION");
  trace->add_option("--launch-skip", options.launchSkip, "Leave out the first N matching launches");
  trace->add_option("--launch-count", options.launchCount, "Stop after N matching launches");
  trace->add_flag("--elements", options.elements,
                  "Also list the cells of accesses whose addresses or mask have no formula: exact, and larger");
  trace->add_option("--data", options.data,
                    "What the trace keeps of the launches' data, so that values can be asked for: none (default), indices (tensors of integers only) or all")
      ->check(CLI::IsMember({"none", "indices", "all"}));
  trace->add_option("--threads", options.threads, "Threads (default: all cores)")->check(wholeFrom(0, 1 << 16));
  trace->add_option("--num-sms", options.numSms, "Programs that may be resident at once (default: as recorded)")
      ->check(wholeFrom(1, UINT32_MAX));
  trace->add_option("--seed", options.seed, "Order in which programs that use atomics, or wait, take turns (default: as recorded)");
  trace->add_option("--timeout", options.timeout, "Seconds after which a launch is stopped, as unknown")
      ->check(secondsAboveZero());
  trace->add_flag("--address-only", options.addressOnly, "Compute addresses and masks only: fast");
  trace->add_flag("--quiet", options.quiet, "Print errors only");
}

void addDiff(CLI::App& app, DiffOptions& options) {
  CLI::App* diff = app.add_subcommand("diff", "Do launches of two bundles access the same elements and compute the same?");
  diff->footer("Example:\n  tilesight diff before.tsb after.tsb\n\nExit status: 0 the same, 1 they differ, 2 bad input, 3 something could not be compared.");
  diff->add_option("A", options.a, "A bundle")->required();
  diff->add_option("B", options.b, "Another one")->required();
  diff->add_option("--launch", options.launches, "Compare these: position in A, colon, position in B (default: by kernel and order)")
      ->delimiter(',')
      ->allow_extra_args(false);
  diff->add_option("--json", options.json, "Also write the comparison as JSON to this file (-: stdout, and no text)");
  diff->add_flag("--quiet", options.quiet, "Print nothing: the exit status tells");
}

void addInfo(CLI::App& app, InfoOptions& options) {
  CLI::App* info = app.add_subcommand("info", "Show kernels, arguments, grid, operations of a file");
  info->footer("Example:\n  tilesight info run.tsb");
  info->add_option("FILE", options.files, "Bundles, or IR text (.ttir, .mlir)")->required();
}

void addExplain(CLI::App& app, ExplainOptions& options) {
  CLI::App* explain = app.add_subcommand("explain", "Explain a kind of finding; list all without one");
  explain->footer("Example:\n  tilesight explain out-of-bounds");
  explain->add_option("KIND", options.kinds, "Kinds of findings");
  explain->add_flag("--markdown", options.markdown, "As Markdown, for the docs");
}

void addView(CLI::App& app, ViewOptions& options) {
  CLI::App* view = app.add_subcommand("view", "The visualizer: serves a page on this machine and opens it");
  view->footer("Example:\n  tilesight view run.tsb");
  view->add_option("FILE", options.files, "Bundles: .tsb files or folders")->required();
  view->add_option("--port", options.port, "Port of 127.0.0.1 (default: any free one)")->check(CLI::Range(1, 65535));
  view->add_flag("!--no-browser", options.browser, "Do not open the browser");
  view->add_option("--html", options.html, "Write one file that shows the launches without Tilesight, and serve nothing");
  view->add_option("--expect", options.expect, "TENSOR=FILE.npy: what a tensor should hold after the launch (repeatable)");
  view->add_option("--html-limit", options.htmlLimit, "Megabytes that this file may have (default: 20)")->check(CLI::Range(1, 500));
}

void addOpt(CLI::App& app, OptOptions& options) {
  CLI::App* opt = app.add_subcommand("opt", "Run passes on IR text");
  opt->footer("Example:\n  tilesight opt kernel.ttir --pass inline --pass canonicalize --pass cse --remarks -o kernel.opt.ttir");
  opt->add_option("FILE", options.file, "IR text: .ttir, .ttgir, .mlir (-: standard input)");
  opt->add_option("--pass", options.passes, "A pass, with options: 'name{option=value}'; repeat for several")->allow_extra_args(false);
  opt->add_option("--pass-pipeline", options.pipeline, "Several passes: 'inline,canonicalize,name{option=value}'");
  opt->add_option("--plugin", options.plugins, "A library with passes or dialects; repeat for several")->allow_extra_args(false);
  opt->add_option("-o,--output", options.output, "Write the result to this file (default: standard output)");
  opt->add_flag("--remarks", options.remarks, "Say what was done, and what was refused and why");
  opt->add_option("--remarks-json", options.remarksJson, "The same as JSON to this file (-: stdout)");
  opt->add_flag("--verify-each", options.verifyEach, "Read the text back after every pass (the default; the IR is verified in any case)");
  opt->add_flag("--no-verify-each", options.noVerifyEach, "Read it back at the end only");
  opt->add_option("--print-before", options.printBefore, "Print the IR before these passes (all: every pass)")->delimiter(',')->allow_extra_args(false);
  opt->add_option("--print-after", options.printAfter, "Print the IR after these passes (all: every pass)")->delimiter(',')->allow_extra_args(false);
  opt->add_flag("--time", options.time, "Say how long each pass took");
  CLI::Option* isolate = opt->add_flag("--isolate", options.isolate, "Load plugins and run passes in a child process: one that crashes or does not return fails by name");
  opt->add_option("--timeout", options.timeout, "Seconds that a pass may take there (60)")->check(secondsAboveZero())->needs(isolate);
  opt->add_flag("--list-passes", options.list, "List passes and their options");
}

void addPluginTest(CLI::App& app, PluginTestOptions& options) {
  CLI::App* test = app.add_subcommand("plugin-test", "Test a plugin: before/after files, a second run, the same bits on the engine");
  test->footer("Example:\n  tilesight plugin-test ./my_passes.so cases\n\nExit status: 0 all pass, 1 some fail, 2 bad input.");
  test->add_option("LIB", options.library, "The plugin")->required();
  test->add_option("DIR", options.folder, "A folder with .test files")->required();
  test->add_flag("--rebase", options.rebase, "Write what the passes do now as what is expected");
  test->add_flag("--verbose", options.verbose, "Also name the cases that pass, and how often they were compared");
  test->add_option("--runs", options.runs, "Runs with random inputs, before and after, of each case that is changed (8)")->check(wholeFrom(0, 1000));
  CLI::Option* isolate = test->add_flag("--isolate", options.isolate, "Each case in a child process: a pass that crashes or does not return fails by name");
  test->add_option("--timeout", options.timeout, "Seconds that a pass may take there (60)")->check(secondsAboveZero())->needs(isolate);
}

void addPlugins(CLI::App& app, PluginsOptions& options) {
  CLI::App* plugins = app.add_subcommand("plugins", "List plugins, what they offer, and why others are refused");
  plugins->footer("Example:\n  tilesight plugins --json");
  plugins->add_option("--plugin", options.plugins, "A library besides those of TILESIGHT_PLUGIN_PATHS and the installed ones")->allow_extra_args(false);
  plugins->add_flag("--json", options.json, "As JSON");
}

void addShow(CLI::App& app, ShowOptions& options) {
  CLI::App* show = app.add_subcommand("show", "Values of a launch in the terminal; without a name, what there is");
  show->footer("Example:\n  tilesight show run.tsb --line 41 --name qk --program 0,3 --trip start_n=15");
  show->add_option("FILE", options.file, "A bundle: a .tsb file or a folder")->required();
  show->add_option("--launch", options.launch, "The launch's number (default: the first)");
  show->add_option("--kernel-name", options.kernelName, "The first launch of this kernel");
  show->add_option("--program", options.program, "X, X,Y or X,Y,Z (default: 0,0,0)");
  show->add_option("--line", options.line, "The line that gives a variable its value")->check(wholeFrom(1, UINT32_MAX));
  show->add_option("--in-file", options.inFile, "The line's file, or its end (default: the kernel's)");
  show->add_option("--name", options.name, "The variable; or %NAME of the IR");
  show->add_option("--trip,--iteration", options.trips, "LOOP=N: turn N, from 0, of the loop over that variable (default: the last)")->allow_extra_args(false);
  show->add_option("--where", options.where, "LOOP=VALUE: the turn in which the loop's variable is that")->allow_extra_args(false);
  show->add_option("--occurrence", options.occurrence, "Which of the times that fit, from 0 (default: the last)")->check(wholeFrom(0, INT64_MAX));
  CLI::Option* op = show->add_option("--op", options.op, "The operation's number in the IR, instead of a line and a name")->check(wholeFrom(0, UINT32_MAX));
  show->add_option("--result", options.result, "Which result of --op, from 0")->needs(op);
  show->add_option("--operand", options.operand, "An operand of --op, from 0, instead of a result")->needs(op);
  CLI::Option* nan = show->add_flag("--first-nan", options.firstNan, "The first NaN or infinity that an operation makes, and its operands");
  CLI::Option* expect = show->add_option("--expect", options.expect, "TENSOR=FILE.npy: the first wrong element, who wrote it, and where it came from")->excludes(nan);
  show->add_option("--rtol", options.rtol, "Relative tolerance of --expect (default: by the tensor's element)")->needs(expect);
  show->add_option("--atol", options.atol, "Absolute tolerance of --expect")->needs(expect);
  show->add_option("--from", options.from, "TENSOR[I,J]: who wrote this element last, and the inputs that it came from")->excludes(nan)->excludes(expect);
}

/// The option nearest to an unexpected one, as "; did you mean --x?".
std::string optionHint(const CLI::App& app, const std::string& message) {
  const size_t at = message.find(" -");
  if (at == message.npos) return {};
  const std::string word = message.substr(at + 1, message.find_first_of(" =", at + 1) - at - 1);
  const CLI::App* command = &app;
  for (const CLI::App* sub : app.get_subcommands()) command = sub;
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};  // its value is what is wrong
  return findings::didYouMean(word, candidates);
}

int parseAndRun(int argc, char** argv) {
  CLI::App app("Tilesight shows what a tile kernel does before it reaches the accelerator.", "tilesight");
  std::string footer = "Planned commands:";
  for (const PlannedCommand& command : plannedCommands())
    footer += fmt::format("\n  {:<28}{}", command.name, command.does);
  footer += "\n\nExample:\n  tilesight run examples/triton/attention.py";
  app.footer(footer);
  app.set_version_flag("--version", "tilesight " TILESIGHT_VERSION);
  app.require_subcommand(1);
  app.add_subcommand("run", "Run a program and check every kernel launch in it (needs Python)");
  app.add_subcommand("migrate", "Rewrite kernels that use what Triton has removed: block pointers (needs Python)");
  CheckOptions checkOptions;
  InfoOptions infoOptions;
  ExplainOptions explainOptions;
  addCheck(app, checkOptions);
  addInfo(app, infoOptions);
  addExplain(app, explainOptions);
  ViewOptions viewOptions;
  addView(app, viewOptions);
  DiffOptions diffOptions;
  addDiff(app, diffOptions);
  ShowOptions showOptions;
  addShow(app, showOptions);
  TraceOptions traceOptions;
  addTrace(app, traceOptions);
  OptOptions optOptions;
  addOpt(app, optOptions);
  PluginTestOptions pluginTestOptions;
  addPluginTest(app, pluginTestOptions);
  PluginsOptions pluginsOptions;
  addPlugins(app, pluginsOptions);

  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  for (const PlannedCommand& command : plannedCommands()) names.emplace_back(command.name);

  if (argc > 1 && argv[1][0] != '-') {
    const std::string command = argv[1];
    if (command == "run" || command == "migrate") return runPython(argv[1], argc - 2, argv + 2);
    if (command == "isolated") return isolated();
    for (const PlannedCommand& known : plannedCommands())
      if (command == known.name) return planned(command);
    if (std::find(names.begin(), names.end(), command) == names.end()) {
      const std::vector<std::string_view> candidates(names.begin(), names.end());
      return usageError(fmt::format("there is no command \"{}\"{}", command,
                                    findings::didYouMean(command, candidates)));
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help and version
    std::string command;
    for (const CLI::App* sub : app.get_subcommands()) command = sub->get_name();
    return usageError(error.what() + optionHint(app, error.what()), command);
  }
  for (const char* reads : {"check", "info", "diff", "trace", "view", "show"})
    if (app.got_subcommand(reads)) plugins::addDialectsOfPaths();
  if (app.got_subcommand("check")) return check(checkOptions);
  if (app.got_subcommand("info")) return info(infoOptions);
  if (app.got_subcommand("diff")) return diff(diffOptions);
  if (app.got_subcommand("trace")) return trace(traceOptions);
  if (app.got_subcommand("view")) return view(viewOptions);
  if (app.got_subcommand("opt")) return opt(optOptions);
  if (app.got_subcommand("plugin-test")) return pluginTest(pluginTestOptions);
  if (app.got_subcommand("plugins")) return plugins(pluginsOptions);
  if (app.got_subcommand("show")) return show(showOptions);
  return explain(explainOptions);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parseAndRun(argc, argv);
  } catch (const std::exception& error) {
    printErr(fmt::format("tilesight: internal error: {}\n", error.what()));
    return 4;
  }
}

}  // namespace tilesight::tools
