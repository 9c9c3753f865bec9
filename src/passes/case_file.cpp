#include "passes/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "passes/manager.h"

namespace tilesight::passes {

namespace fs = std::filesystem;

namespace {

/// The first line that differs, for a message.
std::string difference(const std::string& found, const std::string& expected) {
  std::istringstream a(found), b(expected);
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool moreA = static_cast<bool>(std::getline(a, x)), moreB = static_cast<bool>(std::getline(b, y));
    if (!moreA && !moreB) return "it differs at its end";
    if (moreA && moreB && x == y) continue;
    return fmt::format("line {} is\n    {}\n  expected\n    {}", line, moreA ? x : "(nothing)", moreB ? y : "(nothing)");
  }
}

}  // namespace

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
    else if (line.starts_with("#") || line.empty()) one.comment += line + "\n";
    else return failure(Diagnostic{file, number, 1, "expected '# comment', 'pass: ...' or '--- in'", {}});
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

CaseOutcome runCase(const Case& one, const Registry& registry) {
  CaseOutcome outcome;
  const auto fail = [&](std::string text) { outcome.failures.push_back(std::move(text)); };
  const auto steps = parsePipeline(one.pipeline, registry);
  if (!steps) return fail(steps.error().message), outcome;
  const auto first = runPasses(one.input, one.file, *steps);
  if (!first) return fail(first.error().str()), outcome;
  if (!first->status) return fail(first->status.error().str()), outcome;
  outcome.output = first->text;
  for (const Remark& remark : first->remarks)
    if (remark.kind != Remark::Kind::Note) outcome.remarks.push_back(fmt::format("{} [{}]", kindName(remark.kind), remark.rule));
  const std::string& expected = one.expected == "unchanged\n" ? one.input : one.expected;
  if (first->text != expected) fail("the output is not as expected: " + difference(first->text, expected));
  if (one.remarks && *one.remarks != outcome.remarks) {
    std::string found;
    for (const std::string& remark : outcome.remarks) found += "\n    " + remark;
    fail("the remarks are" + (found.empty() ? std::string(" none") : found));
  }
  const auto again = runPasses(first->text, one.file, *steps);
  if (!again || !again->status) fail("the output cannot be read again: " + (again ? again->status.error().str() : again.error().str()));
  else if (again->text != first->text) fail("a second run changes the output: " + difference(again->text, first->text));
  return outcome;
}

std::string rebased(const Case& one, const CaseOutcome& outcome) {
  std::string text = fmt::format("{}pass: {}\n--- in\n{}--- out\n{}", one.comment, one.pipeline, one.input,
                                 outcome.output == one.input ? "unchanged\n" : outcome.output);
  if (!one.remarks) return text;
  text += "--- remarks\n";
  for (const std::string& remark : outcome.remarks) text += remark + "\n";
  return text;
}

}  // namespace tilesight::passes
