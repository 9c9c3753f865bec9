// tilesight opt: passes on IR text.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "findings/format.h"
#include "passes/manager.h"
#include "plugins/catalog.h"
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t maxTextBytes = 256 << 20;

Result<std::string> readText(const std::string& file) {
  const auto wrong = [&](std::string what) { return failure(Diagnostic{file, 0, 0, std::move(what), {}}); };
  std::ostringstream out;
  if (file == "-") {
    out << std::cin.rdbuf();
  } else {
    std::error_code error;
    if (!fs::exists(file, error)) return wrong("there is no such file");
    if (!fs::is_regular_file(file, error) && fs::is_directory(file, error)) return wrong("is a folder, not IR text");
    std::ifstream in(file, std::ios::binary);
    if (!in) return wrong("cannot be read");
    out << in.rdbuf();
  }
  std::string text = std::move(out).str();
  if (text.size() > maxTextBytes) return wrong("is larger than 256 MiB");
  if (text.find('\0') != std::string::npos) return wrong("is not text");
  if (text.starts_with("PK")) return wrong("is a bundle, not IR text; tilesight info shows what is in it");
  return text;
}

/// Whole or not at all: what is there stays until the new file is complete.
Status writeWhole(const std::string& file, const std::string& text) {
  const std::string part = fmt::format("{}.part{}", file, static_cast<unsigned>(std::hash<std::string>{}(text) & 0xFFFFFF));
  const auto wrong = [&](std::string what) {
    std::error_code ignored;
    fs::remove(part, ignored);
    return failure(Diagnostic{file, 0, 0, std::move(what), {}});
  };
  {
    std::ofstream out(part, std::ios::binary);
    if (!out) return wrong("cannot be written");
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.flush();
    if (!out) return wrong("could not be written whole");
  }
  std::error_code error;
  // Devices and pipes cannot be replaced.
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    fs::remove(part, error);
    return out ? Status{} : wrong("could not be written whole");
  }
  fs::rename(part, file, error);
  return error ? wrong("cannot be written: " + error.message()) : Status{};
}

bool isAsked(const std::vector<std::string>& names, const std::string& pass) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name == "all" || name == pass; });
}

std::string listOfPasses(const passes::Registry& registry) {
  std::string out;
  for (const passes::Pass& pass : registry.all()) {
    out += fmt::format("{:<28}{}{}\n", pass.name, pass.summary, pass.origin.empty() ? "" : " (" + pass.origin + ")");
    for (const passes::OptionInfo& option : pass.options)
      out += fmt::format("    {}: {}; {}\n", option.name, option.help, passes::describe(option));
  }
  return out;
}

}  // namespace

int opt(const OptOptions& options) {
  passes::Registry registry;
  const plugins::Catalog catalog = plugins::Catalog::load(options.plugins);
  if (const plugins::Library* refused = catalog.refusedOfGiven()) {
    printError(Diagnostic{refused->path, 0, 0, "plugin refused: " + refused->refused, {}});
    return 2;
  }
  catalog.addTo(registry);
  if (options.list) {
    printOut(listOfPasses(registry));
    return 0;
  }
  if (options.file.empty()) return usageError("FILE is required", "opt");
  if (!options.passes.empty() && !options.pipeline.empty()) return usageError("--pass and --pass-pipeline exclude each other", "opt");
  std::vector<passes::Step> steps;
  std::vector<std::string> texts = options.passes;
  if (!options.pipeline.empty()) texts.push_back(options.pipeline);
  for (const std::string& text : texts) {
    auto parsed = passes::parsePipeline(text, registry);
    if (!parsed) return usageError(parsed.error().message, "opt");
    steps.insert(steps.end(), parsed->begin(), parsed->end());
  }
  for (const auto* names : {&options.printBefore, &options.printAfter})
    for (const std::string& name : *names)
      if (name != "all" && !registry.find(name)) return usageError(registry.unknown(name), "opt");

  auto text = readText(options.file);
  if (!text) {
    printError(text.error());
    return 2;
  }
  const std::string fileName = options.file == "-" ? "<stdin>" : options.file;
  passes::ManagerOptions managing;
  managing.verifyEach = !options.noVerifyEach;
  if (!options.printBefore.empty())
    managing.before = [&](const passes::Pass& pass, const std::string& ir) {
      if (isAsked(options.printBefore, pass.name)) printErr(fmt::format("// ----- before {} -----\n{}", pass.name, ir));
    };
  if (!options.printAfter.empty())
    managing.after = [&](const passes::Pass& pass, const std::string& ir) {
      if (isAsked(options.printAfter, pass.name)) printErr(fmt::format("// ----- after {} -----\n{}", pass.name, ir));
    };
  const auto outcome = passes::runPasses(std::move(*text), fileName, steps, managing);
  if (!outcome) {
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
