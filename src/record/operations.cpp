#include "record/operations.h"

#include "ir/type.h"
#include "record/schema.h"
#include "tilesight/client.h"
#include "trace/names.h"

namespace tilesight::record {

namespace {

bool mayAccess(const ir::Operation& op) {
  for (const char* word : {"load", "store", "atomic", "gather", "scatter", "reduce"})
    if (op.name.find(word) != std::string::npos) return true;
  return false;
}

/// What is loaded is named by what gets it, what is stored by what holds it.
std::string variableOf(const ir::Operation& op) {
  if (!op.results.empty()) return trace::variableName(*op.results[0]);
  return op.operands.size() > 1 ? trace::variableName(*op.operands[1]) : std::string();
}

}  // namespace

FixedNames fixedNames(std::vector<arrow::Names>& names) {
  static constexpr const char* kKinds[] = {"load", "store", "atomic_rmw", "atomic_cas", "copy"};
  static constexpr const char* kForms[] = {"one", "affine", "separable", "dense", "folded"};
  static constexpr const char* kMasks[] = {"all", "none", "box", "separable", "dense"};
  static constexpr const char* kFaults[] = {"out-of-view", "out-of-bounds", "null-pointer", "foreign-pointer", "misaligned", "read-only"};
  FixedNames fixed;
  for (size_t i = 0; i < 5; ++i) fixed.kinds[i] = names[at::kind].number(kKinds[i]);
  for (size_t i = 0; i < 5; ++i) fixed.forms[i] = names[at::form].number(kForms[i]);
  for (size_t i = 0; i < 5; ++i) fixed.masks[i] = names[at::mask].number(kMasks[i]);
  for (size_t i = 0; i < FixedNames::kElementKinds; ++i)
    fixed.elements[i] = names[at::element].number(
        i && i <= static_cast<size_t>(ir::ElementKind::Pointer) ? ir::elementName(static_cast<ir::ElementKind>(i)) : "");
  for (size_t bits = 0; bits < fixed.faults.size(); ++bits) {
    std::string text;
    for (size_t i = 0; i < FixedNames::kFaultBits; ++i)
      if (bits >> i & 1) text += (text.empty() ? "" : "+") + std::string(kFaults[i]);
    fixed.faults[bits] = names[at::faults].number(text);
  }
  fixed.noTensor = names[at::tensor].number("");
  return fixed;
}

LaunchNames launchNames(std::vector<arrow::Names>& names, const exec::Kernel& kernel, const launch::Launch& launch, uint32_t number) {
  LaunchNames result;
  result.launch = number;
  result.grid = launch.grid;
  for (uint32_t n = 0; const ir::Operation* op = kernel.operation(n); ++n) {
    OperationNames& row = result.operations.emplace_back();
    if (!mayAccess(*op)) continue;
    const trace::SourceLine place = trace::placeOf(*op, launch.irName);
    row.operation = names[at::operation].number(op->name);
    row.file = names[at::file].number(place.file);
    row.variable = names[at::variable].number(variableOf(*op));
    row.line = place.line;
    row.column = place.column;
  }
  for (const launch::Argument& argument : launch.arguments) result.tensors.push_back(names[at::tensor].number(argument.name));
  result.addresses.resize(launch.arguments.size(), 0);
  return result;
}

}  // namespace tilesight::record
