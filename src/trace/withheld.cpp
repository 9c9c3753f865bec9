#include "trace/withheld.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilesight::trace {

namespace {

using Argument = launch::Argument;

bool isWithheld(const launch::Launch& launch, const Argument& argument) {
  return (argument.kind == Argument::Kind::Tensor || argument.kind == Argument::Kind::Descriptor) &&
         launch.storages[argument.view.storage].withheld;
}

Diagnostic notTold(const std::string& what, const std::vector<std::string>& tensors) {
  return {{}, 0, 0, fmt::format("{}: the data of {} was not saved", what, fmt::join(tensors, ", ")),
          "save the launch with its data: tilesight run --save, or tilesight trace --data all"};
}

bool readsMemory(const Site& site) {
  if (site.what != Site::What::Operation) return false;
  for (const char* word : {"load", "atomic", "gather", "asm", "extern", "call"})
    if (site.operation.find(word) != std::string::npos) return true;
  return false;
}

/// Does this operand point to data that is not there, as far as it is known?
bool pointsThere(const launch::Launch& launch, const Value& operand) {
  if (!operand.text.empty() && operand.arguments.empty()) return true;  // a descriptor: it does not say of which tensor
  return std::any_of(operand.arguments.begin(), operand.arguments.end(),
                     [&](int32_t argument) { return argument < 0 || isWithheld(launch, launch.arguments[static_cast<size_t>(argument)]); });
}

}  // namespace

std::vector<std::string> withheldTensors(const launch::Launch& launch) {
  std::vector<std::string> names;
  for (const Argument& argument : launch.arguments)
    if (isWithheld(launch, argument)) names.push_back(argument.name);
  return names;
}

Status toldUntil(const Values& values, std::array<int64_t, 3> program, int64_t step) {
  const std::vector<std::string> tensors = withheldTensors(values.launch());
  if (tensors.empty()) return {};
  int64_t reads = -1;
  // What other programs wrote was computed from data that is not there.
  const bool any = values.needsReads();
  TS_CHECK(values.each(program, true, [&](std::vector<Value>& made) {
    if (made.empty()) return true;
    if (made.front().step > step) return false;
    if (readsMemory(values.sites()[made.front().site]) &&
        (any || std::any_of(made.begin(), made.end(), [&](const Value& value) { return value.operand && pointsThere(values.launch(), value); })))
      reads = made.front().step;
    return reads < 0;
  }));
  if (reads < 0) return {};
  return failure(notTold("this value cannot be computed again", tensors));
}

Status toldAll(const Values& values) {
  const std::vector<std::string> tensors = withheldTensors(values.launch());
  if (tensors.empty()) return {};
  return failure(notTold("this cannot be answered", tensors));
}

}  // namespace tilesight::trace
