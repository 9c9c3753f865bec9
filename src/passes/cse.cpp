#include <algorithm>

#include <fmt/format.h>

#include "dialects/table.h"
#include "passes/builtin.h"
#include "passes/effects.h"

namespace tilesight::passes {

namespace {

using Known = std::unordered_map<std::string, ir::Operation*>;

/// Equal for operations that compute the same.
std::string keyOf(const ir::Operation& op) {
  std::string key = op.name;
  const auto pointer = [&](const void* p) { fmt::format_to(std::back_inserter(key), " {}", p); };
  std::vector<ir::Value*> operands = op.operands;
  if (op.info->has(dialects::Trait::Commutative)) std::sort(operands.begin(), operands.end());
  for (const ir::Value* value : operands) pointer(value);
  for (uint32_t segment : op.operandSegments) key += fmt::format(" s{}", segment);
  std::vector<ir::NamedAttribute> attributes = op.attributes;
  std::sort(attributes.begin(), attributes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, value] : attributes) {
    key += " " + name;
    pointer(value.raw());
  }
  for (const auto& result : op.results) pointer(result->type.operator->());
  return key;
}

size_t run(Rewriter& rewriter, ir::Region& region, const Known& outer) {
  size_t merged = 0;
  // What an entry block computes is there in all others; beyond that, blocks know nothing of each other.
  Known entry = outer;
  for (size_t b = 0; b < region.blocks.size(); ++b) {
    ir::Block& block = *region.blocks[b];
    Known local;
    if (b) local = entry;
    Known& known = b ? local : entry;
    for (size_t i = 0; i < block.operations.size(); ++i) {
      ir::Operation* op = block.operations[i].get();
      if (op->info && op->regions.empty() && !op->results.empty() && isPure(*op)) {
        auto [found, added] = known.emplace(keyOf(*op), op);
        if (!added) {
          std::vector<ir::Value*> values;
          for (const auto& result : found->second->results) values.push_back(result.get());
          rewriter.replace(op, values);
          --i;
          ++merged;
        }
        continue;
      }
      const bool isolated = op->info && op->info->has(dialects::Trait::Isolated);
      for (auto& nested : op->regions) merged += run(rewriter, *nested, isolated || !op->info ? Known() : known);
    }
  }
  return merged;
}

}  // namespace

Pass csePass() {
  Pass pass;
  pass.name = "cse";
  pass.summary = "erase operations that compute what another one above has computed";
  pass.run = [](PassContext& context) -> Status {
    size_t merged = 0;
    for (auto& region : context.module().top->regions) merged += run(context.rewriter, *region, {});
    if (merged)
      context.say(*context.module().top, Remark::Kind::Done, "same-value", fmt::format("merged {} operation{} with equal ones above", merged, merged == 1 ? "" : "s"));
    return {};
  };
  return pass;
}

}  // namespace tilesight::passes
