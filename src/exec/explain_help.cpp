#include "exec/explain_help.h"

#include <algorithm>
#include <cctype>

namespace tilesight::exec {

using ir::Operation;
using ir::Value;

namespace {

// A scalar argument of the right value, and what the kernel does with it.
struct Candidate {
  const Value* parameter;
  const launch::Argument* argument;
  bool withVariable = false;  // compared with the variable, or something the variable is made of
  bool withOther = false;     // compared with something else that varies
  bool multiplied = false;
};

// Names by which strides go.
bool isStrideName(const std::string& name) {
  std::string low;
  for (char c : name) low += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"stride", "pitch", "hop", "step"})
    if (low.find(word) != std::string::npos) return true;
  return low.starts_with("ld") || (low.starts_with("s") && low.size() <= 3);
}

// What a variable is made of by adding, multiplying and reshaping: not what it was loaded through.
void partsOf(const Explainer& explainer, Ref ref, std::vector<Ref>& parts, int depth = 0) {
  ref = explainer.strip(ref);
  if (std::find(parts.begin(), parts.end(), ref) != parts.end() || depth > 12) return;
  const Tile* tile = explainer.tileOf(ref);
  if (!ref.value->type.isTensor() && depth > 0) return;
  if (tile && tile->numel() == 1 && depth > 0) return;
  parts.push_back(ref);
  const Operation* op = ref.value->owner;
  if (!op || (op->name != "arith.addi" && op->name != "arith.subi" && op->name != "arith.muli" && op->name != "arith.remsi")) return;
  for (const Value* operand : op->operands) partsOf(explainer, {ref.instance, operand}, parts, depth + 1);
}

}  // namespace

Bound boundOf(const Explainer& explainer, const Ref* variable, int64_t size) {
  const LaunchContext& context = explainer.machine().context();
  const auto& instances = context.plan->program.instances;
  const plan::Instance* entry = instances[0].get();
  const auto& parameters = entry->function->regions[0]->blocks[0]->arguments;
  std::vector<Candidate> candidates;
  for (size_t p = 0; p < parameters.size() && p < context.argumentOfParameter.size(); ++p) {
    const launch::Argument& argument = context.launch->arguments[context.argumentOfParameter[p]];
    if (argument.kind == launch::Argument::Kind::Scalar && ir::isIntegerKind(argument.element) &&
        static_cast<int64_t>(argument.bits) == size)
      candidates.push_back({parameters[p].get(), &argument});
  }
  if (candidates.empty()) return {};
  std::vector<Ref> parts;
  std::string name;
  if (variable) {
    partsOf(explainer, *variable, parts);
    name = explainer.nameOf(*variable);
  }
  auto isVariable = [&](Ref ref) {
    return std::find(parts.begin(), parts.end(), ref) != parts.end() || (!name.empty() && explainer.nameOf(ref) == name);
  };
  for (const auto& instance : instances)
    ir::walk(const_cast<Operation&>(*instance->function), [&](Operation& op) {
      bool compares = op.name == "arith.cmpi" || op.name == "arith.remsi" || op.name == "arith.minsi";
      if (!compares && op.name != "arith.muli") return true;
      for (unsigned i : {0u, 1u}) {
        Ref side = explainer.strip({instance.get(), op.operands[i]});
        for (Candidate& candidate : candidates) {
          if (side.value != candidate.parameter) continue;
          Ref other = explainer.strip({instance.get(), op.operands[1 - i]});
          if (!compares) candidate.multiplied = true;
          else if (isVariable(other)) candidate.withVariable = true;
          else if (other.value->type.isTensor()) candidate.withOther = true;
        }
      }
      return true;
    });
  auto only = [&](auto&& good) -> const launch::Argument* {
    const launch::Argument* found = nullptr;
    for (const Candidate& candidate : candidates)
      if (good(candidate)) {
        if (found) return nullptr;
        found = candidate.argument;
      }
    return found;
  };
  if (std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.withVariable; })) {
    const launch::Argument* found = only([](const Candidate& c) { return c.withVariable; });
    return {found, found != nullptr};
  }
  auto free = [](const Candidate& c) { return !c.withOther && !isStrideName(c.argument->name); };
  // The number of columns, by which rows are multiplied, before one that the kernel does not use.
  if (const launch::Argument* found = only([&](const Candidate& c) { return free(c) && c.multiplied; })) return {found, false};
  return {only(free), false};
}

}  // namespace tilesight::exec
