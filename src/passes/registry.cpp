#include "passes/registry.h"

#include <fmt/format.h>

#include "findings/nearest.h"
#include "passes/builtin.h"

namespace tilesight::passes {

Registry::Registry() : passes_{canonicalizePass(), csePass(), dcePass(), inlinePass(), licmPass()} {}

Status Registry::add(Pass pass) {
  if (const Pass* other = find(pass.name))
    return failure(fmt::format("there is a pass '{}' already, {}", pass.name, other->origin.empty() ? "built in" : "of " + other->origin));
  passes_.push_back(std::move(pass));
  return {};
}

const Pass* Registry::find(std::string_view name) const {
  for (const Pass& pass : passes_)
    if (pass.name == name) return &pass;
  return nullptr;
}

std::string Registry::unknown(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Pass& pass : passes_) names.push_back(pass.name);
  return fmt::format("there is no pass '{}'{}", name, findings::didYouMean(name, names));
}

}  // namespace tilesight::passes
