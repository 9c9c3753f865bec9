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

namespace {

bool isView(Opcode op) {
  return op == Opcode::ViewLoad || op == Opcode::ViewStore || op == Opcode::ViewGather || op == Opcode::ViewScatter;
}

// The mask that the user wrote, or null.
const Value* maskOf(const Instr& instr) {
  const Operation& op = *instr.source;
  const Value* mask = nullptr;
  if (instr.op == Opcode::Load && (instr.flag & 1)) mask = op.operands[1];
  if ((instr.op == Opcode::Store || instr.op == Opcode::AtomicRmw) && (instr.flag & 1)) mask = op.operands[2];
  if (!mask) return nullptr;
  // Triton gives scalar atomics a constant true mask: that is no mask of the user's.
  const Operation* owner = mask->owner;
  while (owner && (owner->name == "tile.splat" || owner->name == "tile.broadcast")) owner = owner->operands[0]->owner;
  return owner && owner->name == "arith.constant" ? nullptr : mask;
}

// Explains one faulty access, piece by piece.
class AccessExplanation {
 public:
  AccessExplanation(Machine& machine, const Instr& instr, const Resolved& access, int64_t element, findings::Finding& finding)
      : machine_(machine), instr_(instr), op_(*instr.source), access_(access), element_(element), finding_(finding),
        address_(machine), guard_(machine), own_(outerName(op_.location)),
        pointer_(address_.resolve({instr.instance, op_.operands[0]})),
        bounds_(finding.kind == "out-of-bounds" || finding.kind == "out-of-view") {}

  void run() {
    addressEntry();
    if (bounds_ && finding_.operand) findAxis();
    anyBeyond_ = variableBeyond();
    address_.finish(finding_, [this](Ref ref) { return beyond(ref); });
    const Value* mask = maskOf(instr_);
    if (mask) maskEntries(mask);
    argumentsOfOne();
    if (bounds_ && !isView(instr_.op)) help(mask != nullptr);
  }

 private:
  using Variables = std::vector<std::pair<Ref, std::string>>;

  bool known(const std::string& name) const {
    return std::any_of(finding_.because.begin(), finding_.because.end(), [&](auto& b) { return b.name == name; });
  }
  bool full() const { return finding_.because.size() >= Explainer::kMaxEntries; }

  // Starts the chain at the pointer; gives back its text if it has no name.
  std::string mentionPointer(Explainer& explainer) const {
    const std::string name = explainer.nameOf(pointer_);
    const int64_t at = isView(instr_.op) ? Explainer::kNoElement : element_;
    if (name.empty() || name == own_) return explainer.render(pointer_, own_, at, 0, 0);
    explainer.mention(pointer_, name, at);
    return {};
  }

  void addressEntry() {
    const std::string text = mentionPointer(address_);
    if (isView(instr_.op)) {
      blockEntry();
    } else if (finding_.kind == "null-pointer" || finding_.kind == "foreign-pointer") {
      finding_.because.push_back({"address", text.empty() ? address_.nameOf(pointer_) : text, offsetsText(machine_, access_, element_)});
    } else if (address_.unnamedVaries() && !text.empty()) {
      finding_.because.push_back({"address", text, offsetsText(machine_, access_, element_)});
    }
  }

  // Where the block begins: the indices of the access.
  void blockEntry() {
    std::string expression, values;
    for (size_t i = 1; i < op_.operands.size(); ++i) {
      if (op_.operands[i]->type.isTensor() || !ir::isIntegerKind(machineKind(op_.operands[i]->type))) continue;
      const Ref index{instr_.instance, op_.operands[i]};
      expression += (expression.empty() ? "" : ", ") + address_.render(index, own_, Explainer::kNoElement, 0, 0);
      values += (values.empty() ? "" : ", ") + address_.valueText(address_.resolve(index), Explainer::kNoElement);
    }
    if (!expression.empty()) finding_.because.push_back({"block", "[" + expression + "]", "[" + values + "]"});
  }

  // The axis of the tensor that is run over, and how far.
  void findAxis() {
    const findings::Operand& operand = *finding_.operand;
    for (size_t d = 0; d < operand.index.size(); ++d)
      if (operand.index[d] >= operand.shape[d] || operand.index[d] < 0) {
        bound_ = operand.shape[d];
        reached_ = operand.index[d];
      }
    const ViewInfo* shown = machine_.context().memory->view(originAt(access_.address, element_));
    if (bound_ >= 0 && shown) place_ = placeInView(address_, instr_, access_, element_, *shown);
    if (!place_ || !place_->flat) return;
    // Counted through all axes: the bound is the number of elements.
    bound_ = 1;
    for (int64_t size : shown->shape) bound_ *= size;
    reached_ = (elementBits(access_.address, element_) - shown->address) / shown->elementBytes;
  }

  // Is it a variable of the tile that reaches beyond the axis?
  bool beyond(Ref ref) const {
    const Tile* tile = address_.tileOf(ref);
    Explainer::WideRange range;
    if (bound_ < 0 || !tile || !ir::isIntegerKind(tile->kind) || tile->kind == ElementKind::I1 || tile->numel() == 1 ||
        !address_.rangeOf(ref, &range))
      return false;
    return reached_ < 0 ? range.min <= reached_ : range.max >= reached_;
  }

  // Everything behind the pointer is mentioned while the definitions are written. Where no variable of the tile
  // runs over, a scalar may be the culprit.
  bool variableBeyond() const {
    Explainer probe(machine_);
    findings::Finding scratch;
    mentionPointer(probe);
    probe.finish(scratch);
    const Variables variables = ranges(probe);
    return std::any_of(variables.begin(), variables.end(), [&](auto& variable) { return beyond(variable.first); });
  }

  void maskEntries(const Value* mask) {
    const Ref ref = guard_.resolve({instr_.instance, mask});
    const std::string name = guard_.nameOf(ref);
    std::string text = guard_.render(ref, name.empty() ? own_ : name, element_, 0, 0);
    if (!name.empty() && name != own_) text = name + " = " + text;
    finding_.notes.push_back("mask: " + text);
    findings::Finding scratch;
    guard_.finish(scratch);
    for (auto& because : scratch.because)
      if (!known(because.name) && !full()) finding_.because.push_back(because);
  }

  // Arguments of 1 are constants for the compiler: those that the line names.
  void argumentsOfOne() {
    for (const launch::Argument& argument : machine_.context().launch->arguments)
      if (argument.kind == launch::Argument::Kind::Specialized && argument.text == "1" && !known(argument.name) &&
          namesWord(finding_.sourceLine, argument.name) && !full())
        finding_.because.push_back({argument.name, "", "1"});
  }

  // What the mask lacks, and what it could be.
  void help(bool masked) {
    // What varies over the tile and is not in the mask.
    Variables missing;
    if (access_.address.numel() > 1)
      for (auto& [ref, name] : ranges(address_))
        if (!guard_.hasSeen(name) && (!anyBeyond_ || beyond(ref))) missing.emplace_back(ref, name);
    for (auto& [ref, name] : missing) finding_.notes.push_back("no mask on " + name);
    if (missing.empty() && !masked) finding_.notes.push_back("no mask");
    if (!finding_.operand) return;
    const Ref* culprit = missing.size() == 1 && anyBeyond_ && countsAlongAxis(missing[0].first) ? &missing[0].first : nullptr;
    if (reached_ < 0) {
      if (culprit) finding_.remedy = fmt::format("mask the {} with {} >= 0", finding_.operation, missing[0].second);
      return;
    }
    if (bound_ < 0) return;
    // A scalar that equals the size of the axis run over is the bound the user knows it by.
    const Bound size = boundOf(address_, culprit, bound_);
    if (!size.argument) return;
    if (!known(size.argument->name)) finding_.because.push_back({size.argument->name, "", std::to_string(bound_)});
    if (culprit && finding_.kind == "out-of-bounds")
      finding_.remedy = fmt::format("mask the {} with {} < {}", finding_.operation, missing[0].second, size.argument->name);
  }

  // Does a variable count along the axis that is left, and along no other, so that a mask could bound it?
  bool countsAlongAxis(Ref variable) const {
    const Tile* tile = address_.tileOf(variable);
    const uint32_t axes = tile ? dependence(*tile) : 0;
    if ((axes & (axes - 1)) != 0) return false;
    if (!place_) return true;
    auto among = [&](const std::vector<Ref>& refs) {
      return std::find(refs.begin(), refs.end(), address_.strip(variable)) != refs.end();
    };
    return among(place_->variables) && !among(place_->others);
  }

  Machine& machine_;
  const Instr& instr_;
  const Operation& op_;
  const Resolved& access_;
  const int64_t element_;
  findings::Finding& finding_;
  Explainer address_, guard_;
  const std::string own_;  // the name of the access's result
  const Ref pointer_;
  const bool bounds_;
  int64_t bound_ = -1, reached_ = 0;
  std::optional<PlaceInView> place_;
  bool anyBeyond_ = false;
};

}  // namespace

void explain(Machine& machine, const Instr& instr, const Resolved& access, int64_t element, findings::Finding& finding) {
  AccessExplanation(machine, instr, access, element, finding).run();
}

}  // namespace tilesight::exec
