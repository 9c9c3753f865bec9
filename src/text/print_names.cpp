// Names of values: as they were written where that is free, else with a number behind; values
// without a name are numbered. Values of a region are numbered before those of the regions in it,
// as MLIR does.
#include <fmt/format.h>

#include "text/lexer.h"
#include "text/printer.h"

namespace tilesight::text {

/// State of one region: sibling regions start from the same state and may use the same names.
struct Printer::Names {
  std::unordered_set<std::string>* used;
  std::vector<std::string>* added;  // names to forget at the end of the region
  uint32_t nextNumber = 0;
  uint32_t nextArgument = 0;
  uint32_t nextConflict = 0;

  bool claim(const std::string& name) {
    if (!used->insert(name).second) return false;
    added->push_back(name);
    return true;
  }
  std::string fresh(std::string_view wanted) {
    std::string base;
    for (char c : wanted) base += isSuffixChar(c) ? c : '_';
    if (base[0] >= '0' && base[0] <= '9') base.insert(base.begin(), '_');
    if (claim(base)) return base;
    for (;;) {
      std::string name = fmt::format("{}_{}", base, nextConflict++);
      if (claim(name)) return name;
    }
  }
  std::string number() {
    for (;;) {
      std::string name = std::to_string(nextNumber++);
      if (claim(name)) return name;
    }
  }
  std::string argument() {
    for (;;) {
      std::string name = fmt::format("arg{}", nextArgument++);
      if (claim(name)) return name;
    }
  }
};

void Printer::nameModule(const ir::Operation& top) {
  std::unordered_set<std::string> used;
  std::vector<std::string> added;
  Names names{&used, &added};
  nameOperation(top, names);
}

/// Names the regions of an operation; its results are named already.
void Printer::nameOperation(const ir::Operation& op, Names& names) {
  const bool isolated = op.info && op.info->has(dialects::Trait::Isolated);
  for (const auto& region : op.regions) {
    if (isolated) {
      std::unordered_set<std::string> used;
      std::vector<std::string> added;
      nameRegion(*region, Names{&used, &added});
    } else {
      nameRegion(*region, names);
    }
  }
}

/// Names that stand in opaque text but mean no operand must stay free: they are defined in there.
void Printer::reserveOpaqueNames(const ir::Operation& op, Names& names) {
  const std::string& text = op.opaqueText;
  std::unordered_set<size_t> operands;
  for (const auto& span : op.opaqueOperands) operands.insert(span.offset);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    size_t end = i + 1;
    while (end < text.size() && isSuffixChar(text[end])) ++end;
    if (!operands.count(i) && end > i + 1) names.claim(text.substr(i + 1, end - i - 1));
    i = end - 1;
  }
}

void Printer::nameResults(const ir::Operation& op, Names& names) {
  for (size_t i = 0; i < op.results.size();) {
    // Results of the same name, or without one, are one group %name:n.
    size_t end = i + 1;
    while (end < op.results.size() && op.results[end]->name == op.results[i]->name) ++end;
    const std::string& wanted = op.results[i]->name;
    const std::string name = wanted.empty() ? names.number() : names.fresh(wanted);
    for (size_t j = i; j < end; ++j)
      valueNames_[op.results[j].get()] = end - i == 1 ? "%" + name : fmt::format("%{}#{}", name, j - i);
    i = end;
  }
}

void Printer::nameRegion(const ir::Region& region, Names names) {
  std::vector<std::string> added;
  names.added = &added;
  uint32_t nextBlock = 0;
  for (const auto& block : region.blocks)
    for (const auto& op : block->operations)
      if (op->isOpaque()) reserveOpaqueNames(*op, names);
  for (const auto& block : region.blocks) {
    blockNames_[block.get()] = fmt::format("^bb{}", nextBlock++);
    const bool isEntry = block == region.blocks.front();
    for (const auto& argument : block->arguments) {
      const std::string& wanted = argument->name;
      valueNames_[argument.get()] =
          "%" + (!wanted.empty() ? names.fresh(wanted) : isEntry ? names.argument() : names.number());
    }
    for (const auto& op : block->operations) nameResults(*op, names);
  }
  for (const auto& block : region.blocks)
    for (const auto& op : block->operations) nameOperation(*op, names);
  for (const std::string& name : added) names.used->erase(name);
}

std::string Printer::valueText(const ir::Value* value) const {
  auto found = valueNames_.find(value);
  return found == valueNames_.end() ? "%<unknown>" : found->second;
}

/// Locations get aliases in the order in which they are written, parts before wholes.
void Printer::nameLocation(ir::Location location) {
  if (!location || location.kind() == ir::LocationKind::Unknown || locationNames_.count(location.raw())) return;
  nameLocation(location->child);
  nameLocation(location->caller);
  for (ir::Location part : location->fused) nameLocation(part);
  locationNames_.emplace(location.raw(), static_cast<uint32_t>(locations_.size()));
  locations_.push_back(location);
}

void Printer::nameLocations(const ir::Operation& op) {
  for (const auto& region : op.regions)
    for (const auto& block : region->blocks) {
      for (const auto& argument : block->arguments) nameLocation(argument->location);
      for (const auto& nested : block->operations) nameLocations(*nested);
    }
  nameLocation(op.location);
}

}  // namespace tilesight::text
