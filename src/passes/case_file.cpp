#include "passes/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "passes/text_diff.h"

namespace tilesight::passes {

namespace fs = std::filesystem;

Result<Case> readCase(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return failure(Diagnostic{file, 0, 0, "cannot be read", {}});
  Case one;
  one.file = file;
  one.name = fs::path(file).stem().string();
  std::string section = "head";
  uint32_t number = 0;
  bool hasOutput = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("--- ")) {
      section = line.substr(4);
      if (section == "out") hasOutput = true;
      else if (section == "remarks") one.remarks.emplace();
      else if (section != "in") return failure(Diagnostic{file, number, 1, fmt::format("unknown section '{}': in, out or remarks", section), {}});
      continue;
    }
    if (section == "in") one.input += line + "\n";
    else if (section == "out") one.expected += line + "\n";
    else if (section == "remarks") {
      if (!line.empty()) one.remarks->push_back(line);
    } else if (line.starts_with("pass: ")) one.pipeline = line.substr(6);
    else if (line.starts_with("run: ")) one.run = line.substr(5);
    else if (line.starts_with("#") || line.empty()) one.comment += line + "\n";
    else return failure(Diagnostic{file, number, 1, "expected '# comment', 'pass: ...', 'run: ...' or '--- in'", {}});
  }
  if (one.pipeline.empty()) return failure(Diagnostic{file, 0, 0, "has no line 'pass: ...'", {}});
  if (one.input.empty() || !hasOutput) return failure(Diagnostic{file, 0, 0, "needs the sections '--- in' and '--- out'", {}});
  return one;
}

Result<std::vector<Case>> readCases(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".test") files.push_back(it->path().string());
  if (error) return failure(Diagnostic{folder, 0, 0, "cannot be read: " + error.message(), {}});
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const std::string& file : files) {
    auto one = readCase(file);
    if (!one) return tl::unexpected<Diagnostic>(one.error());
    cases.push_back(std::move(*one));
  }
  return cases;
}

CaseOutcome runCase(const Case& one, const Registry& registry, const ManagerOptions& options) {
  CaseOutcome outcome;
  const auto fail = [&](std::string text) { outcome.failures.push_back(std::move(text)); };
  const auto steps = parsePipeline(one.pipeline, registry);
  if (!steps) return fail(steps.error().message), outcome;
  for (const Step& step : *steps)
    for (size_t i = 0; i < step.options.size(); ++i)
      if (const std::string* text = std::get_if<std::string>(&step.options[i]); text && step.pass->options[i].name == "assume" && !text->empty())
        outcome.assumed += (outcome.assumed.empty() ? "" : " ") + *text;
  const auto first = runPasses(one.input, one.file, *steps, options);
  if (!first) return fail(first.error().str()), outcome;
  if (!first->status) return fail(first->status.error().str()), outcome;
  outcome.output = first->text;
  for (const Remark& remark : first->remarks)
    if (remark.kind != Remark::Kind::Note) outcome.remarks.push_back(fmt::format("{} [{}]", kindName(remark.kind), remark.rule));
  const std::string& expected = one.expected == "unchanged\n" ? one.input : one.expected;
  if (first->text != expected) fail("the output is not as expected:\n" + textDiff(expected, first->text));
  if (one.remarks && *one.remarks != outcome.remarks) {
    std::string found;
    for (const std::string& remark : outcome.remarks) found += "\n    " + remark;
    fail("the remarks are" + (found.empty() ? std::string(" none") : found));
  }
  const auto again = runPasses(first->text, one.file, *steps, options);
  if (!again || !again->status) fail("it fails on its own output: " + (again ? again->status.error().str() : again.error().str()));
  else if (again->text != first->text) fail("it is not idempotent, a second run changes the output:\n" + textDiff(first->text, again->text));
  return outcome;
}

std::string rebased(const Case& one, const CaseOutcome& outcome) {
  std::string text = fmt::format("{}pass: {}\n{}--- in\n{}--- out\n{}", one.comment, one.pipeline, one.run.empty() ? "" : "run: " + one.run + "\n", one.input,
                                 outcome.output == one.input ? "unchanged\n" : outcome.output);
  if (!one.remarks) return text;
  text += "--- remarks\n";
  for (const std::string& remark : outcome.remarks) text += remark + "\n";
  return text;
}

}  // namespace tilesight::passes
