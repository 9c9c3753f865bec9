#include "tools/transform.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "plugins/catalog.h"
#include "tools/isolated.h"
#include "tools/output.h"

namespace tilesight::tools {

namespace {

bool isAsked(const std::vector<std::string>& names, const std::string& pass) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name == "all" || name == pass; });
}

/// The passes that `how` names, with the plugins that have them.
struct Prepared {
  passes::Registry registry;
  std::vector<passes::Step> steps;  // into the registry
};

Result<std::unique_ptr<Prepared>> prepare(const Transform& how, const support::Begins& begins) {
  const plugins::Catalog catalog = plugins::Catalog::load(how.plugins, [&](const std::string& path) { begins(loading(path)); });
  TS_CHECK(accepted(catalog));
  auto prepared = std::make_unique<Prepared>();
  catalog.addTo(prepared->registry);
  for (const passes::Pass& pass : how.passes) TS_CHECK(prepared->registry.add(pass));
  for (const std::string& pipeline : how.pipelines) {
    auto parsed = passes::parsePipeline(pipeline, prepared->registry);
    if (!parsed) return tl::unexpected<Diagnostic>(parsed.error());
    prepared->steps.insert(prepared->steps.end(), parsed->begin(), parsed->end());
  }
  for (const auto* names : {&how.printBefore, &how.printAfter})
    for (const std::string& name : *names)
      if (name != "all" && !prepared->registry.find(name)) return failure(prepared->registry.unknown(name));
  return prepared;
}

}  // namespace

Result<passes::Outcome> transformHere(std::string text, const std::string& fileName, const Transform& how, const support::Begins& begins) {
  const auto prepared = prepare(how, begins);
  if (!prepared) return failure(prepared.error());
  passes::ManagerOptions managing;
  managing.verifyEach = how.verifyEach;
  managing.before = [&](const passes::Pass& pass, const std::string& ir) {
    if (isAsked(how.printBefore, pass.name)) printErr(fmt::format("// ----- before {} -----\n{}", pass.name, ir));
    begins(named(pass));
  };
  if (!how.printAfter.empty())
    managing.after = [&](const passes::Pass& pass, const std::string& ir) {
      if (isAsked(how.printAfter, pass.name)) printErr(fmt::format("// ----- after {} -----\n{}", pass.name, ir));
    };
  return passes::runPasses(std::move(text), fileName, (*prepared)->steps, managing);
}

Status checkPasses(const Transform& how) {
  const auto prepared = prepare(how, [](const std::string&) {});
  return prepared ? Status() : failure(prepared.error());
}

std::string named(const passes::Pass& pass) {
  return fmt::format("pass '{}'{}", pass.name, pass.origin.empty() ? "" : " (of " + pass.origin + ")");
}

Status accepted(const plugins::Catalog& catalog) {
  const plugins::Library* refused = catalog.refusedOfGiven();
  return refused ? Status(failure(Diagnostic{refused->path, 0, 0, "plugin refused: " + refused->refused, {}})) : Status();
}

std::string loading(const std::string& path) { return "loading " + path; }

Result<passes::Outcome> transform(std::string text, const std::string& fileName, const Transform& how) {
  if (!how.isolate) return transformHere(std::move(text), fileName, how, [](const std::string&) {});
  if (!how.passes.empty()) return failure("a pass that is a Python function runs in its own process; in a file that is given as a plugin it can be isolated");
  return transformApart(text, fileName, how);
}

}  // namespace tilesight::tools
