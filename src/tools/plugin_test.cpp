// tilesight plugin-test: before/after files of a plugin's passes, for its author.
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "findings/format.h"
#include "tools/equivalence.h"
#include "tools/isolated.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/text_files.h"

namespace tilesight::tools {
namespace {

/// A plugin, loaded.
struct Loaded {
  Loaded(const std::string& library, const support::Begins& begins) {
    const plugins::Catalog catalog = plugins::Catalog::load({library}, [&](const std::string& path) { begins(loading(path)); });
    status = accepted(catalog);
    catalog.addTo(registry);
  }
  passes::Registry registry;
  Status status;  // why the plugin is refused
};

passes::CaseOutcome runCaseWith(const Loaded& plugin, const passes::Case& one, const support::Begins& begins) {
  passes::ManagerOptions managing;
  managing.before = [&](const passes::Pass& pass, const std::string&) { begins(named(pass)); };
  return passes::runCase(one, plugin.registry, managing);
}

Result<std::string> namesOf(const Loaded& plugin, const std::string& library) {
  TS_CHECK(plugin.status);
  std::string names;
  for (const passes::Pass& pass : plugin.registry.all())
    if (pass.origin == library) names += pass.name + "\n";
  return names;
}

/// Runs one case; with `isolate`, in a process that loads the plugin anew.
class Runner {
 public:
  explicit Runner(const PluginTestOptions& options) : options_(options) {
    if (!options.isolate) loaded_.emplace(options.library, [](const std::string&) {});
  }

  /// The names of the plugin's passes. Error: why it is refused.
  Result<std::vector<std::string>> passes() const {
    const auto text = loaded_ ? namesOf(*loaded_, options_.library) : passesOfApart(options_.library, options_.timeout);
    if (!text) return failure(text.error());
    std::vector<std::string> names;
    for (size_t at = 0, end; (end = text->find('\n', at)) != text->npos; at = end + 1) names.push_back(text->substr(at, end - at));
    return names;
  }

  passes::CaseOutcome run(const passes::Case& one) const {
    if (loaded_) return runCaseWith(*loaded_, one, [](const std::string&) {});
    auto outcome = runCaseApart(options_.library, one.file, options_.timeout);
    if (outcome) return std::move(*outcome);
    passes::CaseOutcome failed;
    failed.failures.push_back(outcome.error().message);
    return failed;
  }

 private:
  const PluginTestOptions& options_;
  std::optional<Loaded> loaded_;
};

/// "a; b" of the promises in a case: of its line `run:`, else those that its passes were given.
Result<passes::Assumptions> promised(const passes::Case& one, const passes::CaseOutcome& outcome) {
  auto read = passes::Assumptions::parse(one.run.empty() ? outcome.assumed : one.run);
  if (!read) return failure(Diagnostic{one.file, 0, 0, read.error().message, read.error().remedy});
  return read;
}

std::string indented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += "    " + findings::printable(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

struct Counts {
  size_t passed = 0, failed = 0, compared = 0, rebased = 0;
  std::vector<std::pair<std::string, size_t>> notCompared;  // why, and how many

  void notComparedBecause(const std::string& why) {
    for (auto& [reason, count] : notCompared)
      if (reason == why) return void(++count);
    notCompared.emplace_back(why, 1);
  }
};

void testCase(const passes::Case& one, const Runner& runner, const PluginTestOptions& options, Counts& counts) {
  passes::CaseOutcome outcome = runner.run(one);
  std::string note;
  const bool ran = !outcome.output.empty();
  if (options.rebase && ran) {
    const std::string text = passes::rebased(one, outcome);
    // What stays wrong after that: a second run, and what is computed.
    std::erase_if(outcome.failures, [](const std::string& f) { return f.starts_with("the output is not") || f.starts_with("the remarks are"); });
    const auto there = readText(one.file);
    if (!there || *there != text) {
      if (const Status written = writeWhole(one.file, text); !written) outcome.failures.push_back(written.error().str());
      else ++counts.rebased, note = "written anew";
    }
  }
  if (ran && outcome.output != one.input && options.runs > 0) {
    const auto promises = promised(one, outcome);
    if (!promises) {
      outcome.failures.push_back(promises.error().message);
    } else {
      const Equivalence found = compareOnEngine(one.input, outcome.output, one.file, *promises, static_cast<int>(options.runs));
      if (!found.difference.empty()) outcome.failures.push_back("it does not compute the same: " + found.difference);
      else if (found.runs) ++counts.compared, note += fmt::format("{}the same bits in {} runs", note.empty() ? "" : ", ", found.runs);
      if (!found.runs && found.difference.empty()) counts.notComparedBecause(found.notCompared), note += fmt::format("{}not compared: {}", note.empty() ? "" : ", ", found.notCompared);
    }
  } else if (ran && outcome.output == one.input) {
    note += fmt::format("{}unchanged", note.empty() ? "" : ", ");
  }
  ++(outcome.failures.empty() ? counts.passed : counts.failed);
  if (!outcome.failures.empty()) {
    printOut(fmt::format("FAIL  {}  ({})\n", one.name, one.file));
    for (const std::string& failure : outcome.failures) printOut(indented(failure));
  } else if (options.verbose || !note.find("written anew")) {
    printOut(fmt::format("ok    {}{}\n", one.name, note.empty() ? "" : "  (" + note + ")"));
  }
}

}  // namespace

Result<std::string> passesOf(const std::string& library, const support::Begins& begins) { return namesOf(Loaded(library, begins), library); }

Result<passes::CaseOutcome> runCaseOf(const std::string& library, const std::string& file, const support::Begins& begins) {
  const Loaded plugin(library, begins);
  TS_CHECK(plugin.status);
  const auto one = passes::readCase(file);
  if (!one) return failure(one.error());
  return runCaseWith(plugin, *one, begins);
}

int pluginTest(const PluginTestOptions& options) {
  const Runner runner(options);
  const auto names = runner.passes();
  if (!names) {
    Diagnostic error = names.error();
    if (error.file.empty()) error.file = options.library;
    printError(error);
    return 2;
  }
  auto cases = passes::readCases(options.folder);
  if (cases && cases->empty()) cases = failure(Diagnostic{options.folder, 0, 0, "there are no .test files in it", "one has a line 'pass: NAME' and the sections '--- in' and '--- out'"});
  if (!cases) {
    printError(cases.error());
    return 2;
  }
  Counts counts;
  for (const passes::Case& one : *cases) testCase(one, runner, options, counts);

  for (const std::string& name : *names) {
    size_t uses = 0;
    for (const passes::Case& one : *cases) uses += one.pipeline.find(name) != one.pipeline.npos;
    if (!uses) printOut(fmt::format("note: no case runs the pass '{}'\n", name));
  }
  for (const auto& [why, count] : counts.notCompared) printOut(findings::printable(fmt::format("note: {} not compared on the engine: {}", count, why)) + "\n");
  printOut(fmt::format("{} passed, {} failed; {} compared on the engine{}\n", counts.passed, counts.failed, counts.compared,
                       counts.rebased ? fmt::format(", {} written anew", counts.rebased) : ""));
  return counts.failed ? 1 : 0;
}

}  // namespace tilesight::tools
