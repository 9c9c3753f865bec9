#include "passes/effects.h"

#include "dialects/table.h"
#include "passes/constants.h"

namespace tilesight::passes {

using dialects::Trait;

namespace {

template <typename Leaf>
bool all(const ir::Operation& op, Leaf&& leaf) {
  if (!op.info) return false;
  const bool structured = op.name == "scf.for" || op.name == "scf.if";
  if (op.info->has(Trait::Function) || op.info->has(Trait::Isolated)) return false;
  if (!structured && !leaf(op)) return false;
  for (const auto& region : op.regions)
    for (const auto& block : region->blocks)
      for (const auto& nested : block->operations)
        if (!all(*nested, leaf)) return false;
  return true;
}

bool isPureAlone(const ir::Operation& op) {
  if (op.info->has(Trait::Pure)) return true;
  // Foreign code says itself whether it is.
  if (op.info->attribute("pure")) {
    const ir::Attribute pure = op.attribute("pure");
    return pure ? pure.asInteger().value_or(0) != 0 : op.info->attribute("pure")->defaultText == "true";
  }
  // Operations without any trait that says so have no effect only if they hold others (map_elementwise).
  return op.name == "tt.map_elementwise" || op.name == "tile.map";
}

}  // namespace

bool isPure(const ir::Operation& op) {
  return all(op, [](const ir::Operation& leaf) { return isPureAlone(leaf); });
}

bool isRemovable(const ir::Operation& op) {
  return !(op.info && op.info->has(Trait::Terminator)) && all(op, [](const ir::Operation& leaf) {
    if (isPureAlone(leaf)) return true;
    return leaf.info->has(Trait::Reads) && !leaf.info->has(Trait::Writes) && !leaf.info->has(Trait::Synchronizes) &&
           !leaf.attribute("isVolatile") && !leaf.attribute("sem");
  });
}

bool isSpeculatable(const ir::Operation& op) {
  return isPure(op) && all(op, [](const ir::Operation& leaf) {
    if (leaf.name.find("div") == std::string::npos && leaf.name.find("rem") == std::string::npos) return true;
    if (leaf.name.ends_with("f") || leaf.operands.size() < 2) return true;  // floats
    const auto divisor = constantInteger(leaf.operands[1]);
    return divisor && *divisor != 0 && *divisor != -1;
  });
}

}  // namespace tilesight::passes
