// How the explainer walks: through calls, names and shapes.
#include "exec/explainer.h"

#include <algorithm>
#include <cctype>

namespace tilesight::exec {

using ir::Operation;
using ir::Value;

std::string outerName(ir::Location location) {
  switch (location.kind()) {
    case ir::LocationKind::Name: return location->text;
    case ir::LocationKind::CallSite: return outerName(location->child);
    case ir::LocationKind::Fused: return location->fused.empty() ? std::string() : outerName(location->fused.front());
    default: return {};
  }
}

bool onlyMoves(std::string_view operation) {
  return operation == "tile.splat" || operation == "tile.broadcast" || operation == "tile.reshape" || operation == "tile.permute";
}

bool isDownwardVariable(const Operation& op) {
  const Operation* difference = op.name == "arith.addi" ? op.operands[0]->owner : nullptr;
  if (!difference || difference->name != "arith.subi") return false;
  const Value* induction = difference->operands[1];
  const Operation* loop = !induction->owner && induction->block ? induction->block->parent->parent : nullptr;
  return loop && loop->name == "scf.for" && induction->index == 0 && op.operands[1] == loop->operands[0];
}

namespace {

// `if c: s = a else: s = b`: the name that both sides give what they yield.
std::string nameOfBranches(const Operation& op, unsigned index) {
  std::vector<std::string> common;
  for (auto& region : op.regions) {
    if (region->empty()) return {};
    const Value* yielded = region->blocks[0]->operations.back()->operands[index];
    std::vector<std::string> names;
    for (ir::Location at = yielded->owner ? yielded->owner->location : yielded->location;
         at.kind() == ir::LocationKind::Name; at = at->child)
      names.push_back(at->text);
    if (&region == &op.regions.front()) {
      common = std::move(names);
    } else {
      std::erase_if(common, [&](const std::string& n) { return std::find(names.begin(), names.end(), n) == names.end(); });
    }
  }
  return common.empty() ? std::string() : common.front();
}

}  // namespace

// What a helper of one block gives back as this result of its call.
Ref Explainer::returned(Ref call) const {
  for (const auto& instance : machine_.context().plan->program.instances) {
    if (instance->call != call.value->owner || instance->parent != call.instance) continue;
    const ir::Region& body = *instance->function->regions[0];
    const Operation& last = *body.blocks[0]->operations.back();
    if (last.name != "tile.return" || call.value->index >= last.operands.size()) return {};
    return {instance.get(), last.operands[call.value->index]};
  }
  return {};
}

Ref Explainer::resolve(Ref ref) const {
  constexpr int kMaxCalls = 48;
  for (int i = 0; i < kMaxCalls; ++i) {
    const Value* v = ref.value;
    if (!v->owner && v->block && ref.instance->parent && ref.instance->function->regions.size() &&
        v->block == ref.instance->function->regions[0]->blocks[0].get() &&
        v->index < ref.instance->call->operands.size()) {
      ref = {ref.instance->parent, ref.instance->call->operands[v->index]};
      continue;
    }
    // A helper that computes an address: what it adds up says more than its name.
    if (v->owner && v->owner->name == "tile.call" && v->type.elementType().isPointer() &&
        outerName(v->owner->location).empty()) {
      if (Ref inner = returned(ref); inner.value) {
        ref = inner;
        continue;
      }
    }
    break;
  }
  return ref;
}

Ref Explainer::strip(Ref ref) const {
  while (true) {
    ref = resolve(ref);
    const Operation* op = ref.value->owner;
    if (!op) return ref;
    std::string_view o = op->name;
    if (!onlyMoves(o) && o != "tile.unsplat" && o != "arith.extsi" && o != "arith.extui") return ref;
    if (o == "arith.extui" && machineKind(op->operands[0]->type) == ElementKind::I1) return ref;
    ref = {ref.instance, op->operands[0]};
  }
}

int64_t Explainer::operandElement(const Operation& op, unsigned i, int64_t at) {
  if (at < 0 || op.results.empty()) return kNoElement;
  const Value* operand = op.operands[i];
  if (!operand->type.isTensor()) return 0;
  ir::Type to = op.result()->type;
  if (!to.isTensor()) return kNoElement;
  const auto& from = operand->type.shape();
  const auto& dims = to.shape();
  auto sameShape = [&] { return from == dims; };
  if (op.name == "tile.reshape") return at;
  if (op.name == "tile.broadcast" || op.name == "tile.permute") {
    if (from.size() != dims.size()) return kNoElement;
    std::vector<int64_t> index(dims.size());
    ir::Attribute order = op.attribute("order");
    for (size_t d = dims.size(); d-- > 0; at /= dims[d]) {
      size_t source = op.name == "tile.permute" ? static_cast<size_t>(order->integers[d]) : d;
      index[source] = from[source] == 1 ? 0 : at % dims[d];
    }
    int64_t element = 0;
    for (size_t d = 0; d < from.size(); ++d) element = element * from[d] + index[d];
    return element;
  }
  bool elementwise = op.name.starts_with("arith.") || op.name.starts_with("math.") || op.name == "tile.ptr_add" ||
                     op.name == "tile.load" || op.name == "tile.bitcast" || op.name == "tile.int_to_ptr" ||
                     op.name == "tile.ptr_to_int" || op.name == "tile.atomic_rmw" || op.name == "tile.atomic_cas";
  return elementwise && sameShape() ? at : kNoElement;
}

std::string Explainer::nameOf(Ref ref) const {
  const Value* v = ref.value;
  if (v->owner) {
    const Operation& op = *v->owner;
    if (op.name == "arith.constant") return {};
    if (op.name == "scf.if") return nameOfBranches(op, v->index);
    if (op.name == "scf.for" && op.regions.size() == 1)
      return nameOf({ref.instance, op.regions[0]->blocks[0]->arguments[v->index + 1].get()});
    if (op.name == "scf.while" && op.regions.size() == 2)
      return nameOf({ref.instance, op.regions[1]->blocks[0]->arguments[v->index].get()});
    return outerName(op.location);
  }
  std::string name = v->location.name();
  if (name.empty()) name = v->name;
  if (name.empty() && v->block && v->block->parent->parent) name = v->block->parent->parent->location.name();
  // The printer numbers clashes: x_3 is x unless the source line has an x_3.
  size_t bar = name.rfind('_');
  if (v->location.name().empty() && bar != std::string::npos && bar > 0 && bar + 1 < name.size() &&
      std::all_of(name.begin() + static_cast<int64_t>(bar) + 1, name.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)); })) {
    if (!sourceHas(v, name)) name.resize(bar);
  }
  if (!name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) || name.starts_with("arg"))) {
    if (name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[3]))) return {};
    if (std::isdigit(static_cast<unsigned char>(name[0]))) return {};
  }
  return name;
}

// The operands of scf.for are its bounds, and what it carries; an argument of the body is the loop variable first.
std::optional<Explainer::Carried> Explainer::carried(Ref ref) const {
  const Value& value = *ref.value;
  const Operation* loop = value.block && value.block->parent ? value.block->parent->parent : nullptr;
  if (value.owner || !loop) return {};
  size_t number = value.index, before = 0;
  const Operation* last = nullptr;
  if (loop->name == "scf.for" && number > 0) {
    last = value.block->operations.back().get();
    --number;
    before = 3;
  } else if (loop->name == "scf.while" && loop->regions.size() == 2) {
    if (value.block->parent == loop->regions[1].get()) {
      // The condition hands it on.
      const Operation& condition = *loop->regions[0]->blocks[0]->operations.back();
      if (number + 1 >= condition.operands.size()) return {};
      const Value& handed = *condition.operands[number + 1];
      if (handed.owner || handed.block != loop->regions[0]->blocks[0].get()) return {};
      number = handed.index;
    }
    last = loop->regions[1]->blocks[0]->operations.back().get();
  }
  if (!last || number >= last->operands.size() || before + number >= loop->operands.size()) return {};
  Carried carried{{ref.instance, loop->operands[before + number]}, {ref.instance, last->operands[number]}};
  for (const LoopRecord& record : machine_.loops())
    if (record.loop->source == loop && record.loop->instance == ref.instance) carried.trips = record.trip;
  return carried;
}

const Tile* Explainer::tileOf(Ref ref) const {
  auto it = ref.instance->slots.find(ref.value);
  if (it == ref.instance->slots.end() || it->second == plan::kNoSlot) return nullptr;
  const Tile& tile = machine_.slot(it->second);
  return tile.form == Form::Empty ? nullptr : &tile;
}

bool Explainer::sourceHas(const Value* v, const std::string& word) const {
  const Operation* op = v->block && v->block->parent ? v->block->parent->parent : nullptr;
  const ir::LocationStorage* file = op ? op->location.file() : nullptr;
  if (!file) return true;
  auto it = machine_.context().launch->sources.find(file->text);
  return it == machine_.context().launch->sources.end() || it->second.find(word) != std::string::npos;
}

}  // namespace tilesight::exec
