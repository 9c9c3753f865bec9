// Why an address is what it is, in the user's own names.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "exec/explain_help.h"
#include "exec/explain_place.h"
#include "exec/explainer.h"

namespace tilesight::exec {

using ir::Operation;
using ir::Value;

namespace {

// Integer variables that vary over the tile: what a mask has to bound.
std::vector<std::pair<Ref, std::string>> ranges(const Explainer& explainer) {
  std::vector<std::pair<Ref, std::string>> result;
  for (auto& [ref, name, at] : explainer.mentioned()) {
    const Tile* tile = explainer.tileOf(ref);
    if (tile && ir::isIntegerKind(tile->kind) && tile->kind != ElementKind::I1 && tile->numel() > 1 && dependence(*tile))
      result.emplace_back(ref, name);
  }
  return result;
}

// The elements of the tensor that the access reaches, counted from its first: "0..127"; of no tensor, the address.
std::string offsetsText(Machine& machine, const Resolved& access, int64_t element) {
  const ViewInfo* view = machine.context().memory->view(access.address.origin);
  Range range;
  if (!view) return fmt::format("{:#x}", static_cast<uint64_t>(elementBits(access.address, element)));
  if (!valueRange(access.address, &range)) return {};
  int64_t low = range.min - view->address, high = range.max - view->address;
  if (low % view->elementBytes || high % view->elementBytes) return {};
  low /= view->elementBytes, high /= view->elementBytes;
  return low == high ? fmt::format("{} + {}", view->name, low) : fmt::format("{} + {}..{}", view->name, low, high);
}

// Does the text have `word` as a word?
bool namesWord(const std::string& text, const std::string& word) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  for (size_t at = text.find(word); at != std::string::npos && !word.empty(); at = text.find(word, at + 1))
    if ((at == 0 || !isWord(text[at - 1])) && (at + word.size() == text.size() || !isWord(text[at + word.size()]))) return true;
  return false;
}

// `load(x) < n`: the sides of a condition that are computed but have no name get entries of their own.
void unnamedSides(Explainer& explainer, Ref ref, int64_t element, findings::Finding& finding) {
  ref = explainer.resolve(ref);
  const Operation* op = ref.value->owner;
  if (!op) return;
  bool joins = op->name == "arith.andi" || op->name == "arith.ori" || op->name == "tile.reshape" || op->name == "tile.broadcast" ||
               op->name == "tile.splat";
  if (!joins && op->name != "arith.cmpi" && op->name != "arith.cmpf") return;
  for (unsigned i = 0; i < op->operands.size(); ++i) {
    Ref side = explainer.resolve({ref.instance, op->operands[i]});
    int64_t at = Explainer::operandElement(*op, i, element);
    if (!explainer.nameOf(side).empty()) continue;
    if (joins) {
      unnamedSides(explainer, side, at, finding);
      continue;
    }
    Ref bare = explainer.strip(side);
    if (!explainer.nameOf(bare).empty() || !bare.value->owner || bare.value->owner->name == "arith.constant") continue;
    std::string value = explainer.valueText(side, at);
    if (!value.empty()) finding.because.push_back({"", explainer.render(side, "", at, 0, 0), value});
  }
}

}  // namespace

std::string loopName(Machine& machine, const Instr& loop, bool* downwards) {
  *downwards = false;
  if (loop.source->name != "scf.for" || loop.source->regions.empty()) return {};
  const ir::Block& body = *loop.source->regions[0]->blocks[0];
  const Value* induction = body.arguments[0].get();
  std::string name = Explainer(machine).nameOf({loop.instance, induction});
  if (!name.empty() || body.operations.size() < 2) return name;
  // range(a, b, -c) becomes an upward loop whose variable is upper - i + lower.
  const Operation& sum = *body.operations[1];
  if (!isDownwardVariable(sum)) return {};
  *downwards = true;
  return outerName(sum.location);
}

void explainValue(Machine& machine, const Instr& instr, const Value* value, int64_t element, findings::Finding& finding) {
  Explainer explainer(machine);
  Ref ref = explainer.resolve({instr.instance, value});
  std::string name = explainer.nameOf(ref), own;
  if (instr.op == Opcode::View) {
    // `d = make_tensor_descriptor(..)`: what it computes first carries its name, too.
    own = outerName(instr.source->location);
    if (name == own) name.clear();
  }
  if (name.empty()) {
    std::string text = explainer.render(ref, own, element, 0, 0);
    // What is but another shape of a variable has the variable's entry.
    if (!explainer.hasSeen(text)) finding.because.push_back({"", text, explainer.valueText(ref, element)});
    unnamedSides(explainer, ref, element, finding);
  } else {
    explainer.mention(ref, name, element);
  }
  explainer.finish(finding);
}

void explain(Machine& machine, const Instr& instr, const Resolved& access, int64_t element, findings::Finding& finding) {
  const Operation& op = *instr.source;
  const launch::Launch& launch = *machine.context().launch;
  Explainer address(machine);
  bool view = instr.op == Opcode::ViewLoad || instr.op == Opcode::ViewStore || instr.op == Opcode::ViewGather ||
              instr.op == Opcode::ViewScatter;
  std::string own = outerName(op.location);
  std::string addressText;  // where the address has no name
  Ref pointer = address.resolve({instr.instance, op.operands[0]});
  auto mentionPointer = [&](Explainer& explainer) {
    std::string name = explainer.nameOf(pointer);
    int64_t at = view ? Explainer::kNoElement : element;
    if (name.empty() || name == own) addressText = explainer.render(pointer, own, at, 0, 0);
    else explainer.mention(pointer, name, at);
  };
  mentionPointer(address);
  if (view) {
    // Where the block begins: the indices of the access.
    std::string expression, values;
    for (size_t i = 1; i < op.operands.size(); ++i) {
      if (op.operands[i]->type.isTensor() || !ir::isIntegerKind(machineKind(op.operands[i]->type))) continue;
      expression += (expression.empty() ? "" : ", ") + address.render({instr.instance, op.operands[i]}, own, Explainer::kNoElement, 0, 0);
      values += (values.empty() ? "" : ", ") + address.valueText(address.resolve({instr.instance, op.operands[i]}), Explainer::kNoElement);
    }
    if (!expression.empty()) finding.because.push_back({"block", "[" + expression + "]", "[" + values + "]"});
  } else if (finding.kind == "null-pointer" || finding.kind == "foreign-pointer") {
    finding.because.push_back({"address", addressText.empty() ? address.nameOf(pointer) : addressText, offsetsText(machine, access, element)});
  } else if (address.unnamedVaries() && !addressText.empty()) {
    finding.because.push_back({"address", addressText, offsetsText(machine, access, element)});
  }
  bool bounds = finding.kind == "out-of-bounds" || finding.kind == "out-of-view";
  // The axis of the tensor that is run over, and the variables that reach beyond it.
  int64_t bound = -1, reached = 0;
  if (bounds && finding.operand)
    for (size_t d = 0; d < finding.operand->index.size(); ++d)
      if (finding.operand->index[d] >= finding.operand->shape[d] || finding.operand->index[d] < 0) {
        bound = finding.operand->shape[d];
        reached = finding.operand->index[d];
      }
  std::optional<PlaceInView> place;
  const ViewInfo* shown = machine.context().memory->view(originAt(access.address, element));
  if (bound >= 0 && shown) place = placeInView(address, instr, access, element, *shown);
  if (place && place->flat) {
    // Counted through all axes: the bound is the number of elements.
    bound = 1;
    for (int64_t size : shown->shape) bound *= size;
    reached = (elementBits(access.address, element) - shown->address) / shown->elementBytes;
  }
  auto beyond = [&](Ref ref) {
    const Tile* tile = address.tileOf(ref);
    Explainer::WideRange range;
    if (bound < 0 || !tile || !ir::isIntegerKind(tile->kind) || tile->kind == ElementKind::I1 || tile->numel() == 1 ||
        !address.rangeOf(ref, &range))
      return false;
    return reached < 0 ? range.min <= reached : range.max >= reached;
  };
  // Everything behind the pointer is mentioned while the definitions are written. Where no variable
  // of the tile runs over, a scalar may be the culprit.
  bool anyBeyond = false;
  {
    Explainer probe(machine);
    findings::Finding scratch;
    mentionPointer(probe);
    probe.finish(scratch);
    for (auto& [ref, name] : ranges(probe)) anyBeyond = anyBeyond || beyond(ref);
  }
  address.finish(finding, beyond);

  const Value* mask = nullptr;
  if (instr.op == Opcode::Load && (instr.flag & 1)) mask = op.operands[1];
  if ((instr.op == Opcode::Store || instr.op == Opcode::AtomicRmw) && (instr.flag & 1)) mask = op.operands[2];
  if (mask) {
    // Triton gives scalar atomics a constant true mask: that is no mask of the user's.
    const Operation* owner = mask->owner;
    while (owner && (owner->name == "tile.splat" || owner->name == "tile.broadcast")) owner = owner->operands[0]->owner;
    if (owner && owner->name == "arith.constant") mask = nullptr;
  }
  auto known = [&](const std::string& name) {
    return std::any_of(finding.because.begin(), finding.because.end(), [&](auto& b) { return b.name == name; });
  };
  Explainer guard(machine);
  if (mask) {
    Ref ref = guard.resolve({instr.instance, mask});
    std::string name = guard.nameOf(ref);
    std::string text = guard.render(ref, name == own || name.empty() ? own : name, element, 0, 0);
    if (!name.empty() && name != own) text = name + " = " + text;
    finding.notes.push_back("mask: " + text);
    findings::Finding scratch;
    guard.finish(scratch);
    for (auto& because : scratch.because)
      if (!known(because.name) && finding.because.size() < Explainer::kMaxEntries) finding.because.push_back(because);
  }
  // Arguments of 1 are constants for the compiler: those that the line names.
  for (const launch::Argument& argument : launch.arguments)
    if (argument.kind == launch::Argument::Kind::Specialized && argument.text == "1" && !known(argument.name) &&
        namesWord(finding.sourceLine, argument.name) && finding.because.size() < Explainer::kMaxEntries)
      finding.because.push_back({argument.name, "", "1"});
  if (!bounds || view) return;
  // What varies over the tile and is not in the mask.
  std::vector<std::pair<Ref, std::string>> missing;
  if (access.address.numel() > 1)
    for (auto& [ref, name] : ranges(address))
      if (!guard.hasSeen(name) && (!anyBeyond || beyond(ref))) missing.emplace_back(ref, name);
  // A variable built from one that is named too is said once.
  for (auto& [ref, name] : missing) finding.notes.push_back("no mask on " + name);
  if (missing.empty() && !mask) finding.notes.push_back("no mask");
  if (!finding.operand) return;
  // The one variable that a mask could bound: it counts along the axis that is left, and along no other.
  const Ref* culprit = missing.size() == 1 && anyBeyond ? &missing[0].first : nullptr;
  if (culprit) {
    auto among = [&](const std::vector<Ref>& refs) {
      return std::find(refs.begin(), refs.end(), address.strip(*culprit)) != refs.end();
    };
    const Tile* tile = address.tileOf(*culprit);
    uint32_t axes = tile ? dependence(*tile) : 0;
    if ((axes & (axes - 1)) != 0 || (place && (!among(place->variables) || among(place->others)))) culprit = nullptr;
  }
  if (reached < 0) {
    if (culprit) finding.remedy = fmt::format("mask the {} with {} >= 0", finding.operation, missing[0].second);
    return;
  }
  if (bound < 0) return;
  // A scalar that equals the size of the axis run over is the bound the user knows it by.
  Bound size = boundOf(address, culprit, bound);
  if (!size.argument) return;
  if (!known(size.argument->name)) finding.because.push_back({size.argument->name, "", std::to_string(bound)});
  if (culprit && finding.kind == "out-of-bounds")
    finding.remedy = fmt::format("mask the {} with {} < {}", finding.operation, missing[0].second, size.argument->name);
}

}  // namespace tilesight::exec
