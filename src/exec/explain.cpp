// Why an address is what it is, in the user's own names: walks the operations behind a value and
// writes them back as the expressions they came from, with the values they had.
#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "exec/report.h"

namespace tilesight::exec {

namespace {

using ir::Operation;
using ir::Value;
using plan::Instance;

constexpr size_t kMaxEntries = 8;
constexpr int kMaxDepth = 24;

// A value in one expansion of its function.
struct Ref {
  const Instance* instance = nullptr;
  const Value* value = nullptr;
  auto operator<=>(const Ref&) const = default;
};

// The last name an operation's value was given (`q = p` renames what p named before).
std::string outerName(ir::Location location) {
  switch (location.kind()) {
    case ir::LocationKind::Name: return location->text;
    case ir::LocationKind::CallSite: return outerName(location->child);
    case ir::LocationKind::Fused: return location->fused.empty() ? std::string() : outerName(location->fused.front());
    default: return {};
  }
}

class Explainer {
 public:
  explicit Explainer(Machine& machine) : machine_(machine) {}
  /// Values of tiles of this shape are also given at this element.
  Explainer(Machine& machine, const Shape* shape, int64_t element)
      : machine_(machine), witnessShape_(shape), witness_(element) {}


  // Follows parameters to the caller's operands and call results to the callee's returned values.
  Ref resolve(Ref ref) const {
    for (int i = 0; i < 2 * kMaxDepth; ++i) {
      const Value* v = ref.value;
      if (!v->owner && v->block && ref.instance->parent && ref.instance->function->regions.size() &&
          v->block == ref.instance->function->regions[0]->blocks[0].get() &&
          v->index < ref.instance->call->operands.size()) {
        ref = {ref.instance->parent, ref.instance->call->operands[v->index]};
        continue;
      }
      break;
    }
    return ref;
  }

  // The user's variable this value is, or "".
  std::string nameOf(Ref ref) const {
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

  // `if c: s = a else: s = b`: the name that both sides give what they yield.
  static std::string nameOfBranches(const Operation& op, unsigned index) {
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

  const Tile* tileOf(Ref ref) const {
    auto it = ref.instance->slots.find(ref.value);
    if (it == ref.instance->slots.end() || it->second == plan::kNoSlot) return nullptr;
    const Tile& tile = machine_.slot(it->second);
    return tile.form == Form::Empty ? nullptr : &tile;
  }

  std::string valueText(Ref ref) const {
    const Tile* tile = tileOf(ref);
    if (!tile || tile->kind == ElementKind::Pointer) return {};
    if (tile->kind == ElementKind::I1) return {};
    if (ir::isFloatKind(tile->kind)) return tile->numel() == 1 || tile->isSplat() ? elementText(*tile, 0) : std::string();
    Range range;
    if (!valueRange(*tile, &range)) return {};
    if (range.min == range.max) return std::to_string(range.min);
    std::string text = fmt::format("{}..{}", range.min, range.max);
    // What came from memory says little as a range: add the value at the witness.
    if (witness_ >= 0 && tile->form == Form::Dense && tile->numel() == witnessShape_->numel && tile->shape == witnessShape_)
      text += fmt::format(", here {}", elementBits(*tile, witness_));
    return text;
  }

  // Writes `ref` as an expression. `current` is the variable whose definition this is: operations
  // that carry its name are part of the definition, others are mentioned by their own name.
  std::string render(Ref ref, const std::string& current, int level, int depth) {
    ref = resolve(ref);
    std::string name = nameOf(ref);
    const Operation* op = ref.value->owner;
    if (!name.empty() && name != current) {
      mention(ref, name);
      return name;
    }
    if (depth > kMaxDepth) return "...";
    if (!op) return name.empty() ? "?" : name;
    auto operand = [&](unsigned i, int need) { return render({ref.instance, op->operands[i]}, current, need, depth + 1); };
    auto infix = [&](const char* sign, int own) {
      std::string text = fmt::format("{} {} {}", operand(0, own), sign, operand(1, own + 1));
      noteWrap(ref, text);
      return own < level ? "(" + text + ")" : text;
    };
    std::string_view o = op->name;
    if (o == "arith.constant") return constantText(*op);
    if (o == "tile.splat" || o == "tile.broadcast" || o == "tile.unsplat" || o == "arith.extsi" || o == "arith.extui" ||
        o == "arith.bitcast" || o == "tile.bitcast" || o == "arith.extf" || o == "arith.truncf" ||
        o == "tile.int_to_ptr" || o == "tile.ptr_to_int")
      return operand(0, level);
    if (o == "arith.trunci") return fmt::format("int{}({})", ref.value->type.elementType()->width, operand(0, 0));
    if (o == "tile.reshape") {
      ir::Attribute axis = op->attribute("axis");
      std::string inner = operand(0, axis ? 10 : level);
      if (!axis) return inner;
      size_t rank = ref.value->type.shape().size();
      std::string index;
      for (size_t d = 0; d < rank; ++d) index += std::string(d ? ", " : "") + (static_cast<int64_t>(d) == axis.asInteger() ? "None" : ":");
      // x[:, None] of a scalar expression reads badly: only mark variables and ranges.
      return fmt::format("{}[{}]", inner, index);
    }
    if (o == "tile.permute") return fmt::format("trans({})", operand(0, 0));
    if (o == "tile.iota") return fmt::format("arange({}, {})", op->integer("start"), op->integer("end"));
    if (o == "tile.program_id") return fmt::format("program_id({})", axisNumber(*op));
    if (o == "tile.num_programs") return fmt::format("num_programs({})", axisNumber(*op));
    if (o == "arith.addi" || o == "arith.addf" || o == "tile.ptr_add") return infix("+", 5);
    if (o == "arith.subi" || o == "arith.subf") return infix("-", 5);
    if (o == "arith.muli" || o == "arith.mulf") return infix("*", 6);
    if (o == "arith.divsi" || o == "arith.divui") return infix("//", 6);
    if (o == "arith.divf") return infix("/", 6);
    if (o == "arith.remsi" || o == "arith.remui") return infix("%", 6);
    if (o == "arith.andi") return infix("&", 3);
    if (o == "arith.ori") return infix("|", 1);
    if (o == "arith.xori") return infix("^", 2);
    if (o == "arith.shli") return infix("<<", 4);
    if (o == "arith.shrsi" || o == "arith.shrui") return infix(">>", 4);
    if (o == "arith.minsi" || o == "arith.minui") return fmt::format("minimum({}, {})", operand(0, 0), operand(1, 0));
    if (o == "arith.maxsi" || o == "arith.maxui") return fmt::format("maximum({}, {})", operand(0, 0), operand(1, 0));
    if (o == "arith.cmpi" || o == "arith.cmpf") return infix(comparison(op->string("predicate")), 0);
    if (o == "arith.select")
      return fmt::format("where({}, {}, {})", operand(0, 0), operand(1, 0), operand(2, 0));
    if (o == "arith.sitofp" || o == "arith.uitofp") return fmt::format("float({})", operand(0, 0));
    if (o == "arith.fptosi" || o == "arith.fptoui") return fmt::format("int({})", operand(0, 0));
    if (o == "tile.atomic_rmw") {
      std::string kind(op->string("atomic_rmw_op"));
      kind = kind == "fadd" ? "add" : kind == "umax" ? "max" : kind == "umin" ? "min" : kind == "exch" ? "xchg" : kind;
      return fmt::format("atomic_{}({}, {})", kind, operand(0, 0), operand(1, 0));
    }
    if (o == "tile.atomic_cas")
      return fmt::format("atomic_cas({}, {}, {})", operand(0, 0), operand(1, 0), operand(2, 0));
    if (o == "tile.view") {
      auto list = [&](size_t from, size_t count) {
        std::string text;
        for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + operand(static_cast<unsigned>(from + i), 0);
        return "[" + text + "]";
      };
      size_t rank = ref.value->type->shape.size();
      bool block = op->operands.size() > 1 + 2 * rank;
      std::string text = fmt::format("{}({}, {}, {}", block ? "make_block_ptr" : "make_tensor_descriptor", operand(0, 0),
                                     list(1, rank), list(1 + rank, rank));
      return text + (block ? ", " + list(1 + 2 * rank, rank) : std::string()) + ")";
    }
    if (o == "tile.load") return fmt::format("load({})", operand(0, 0));
    if (o == "tile.call") {
      std::string callee(op->string("callee"));
      std::string shown = callee.substr(0, callee.find("__"));
      size_t dot = shown.rfind('.');
      if (dot != std::string::npos) shown = shown.substr(dot + 1);
      std::string text = shown + "(";
      for (size_t i = 0; i < op->operands.size(); ++i) text += (i ? ", " : "") + operand(static_cast<unsigned>(i), 0);
      return text + ")";
    }
    if (o == "scf.for" || o == "scf.while" || o == "scf.if") return name.empty() ? "?" : name;
    std::string text(o.substr(o.find('.') + 1));
    text += "(";
    for (size_t i = 0; i < op->operands.size(); ++i) text += (i ? ", " : "") + operand(static_cast<unsigned>(i), 0);
    return text + ")";
  }

  // Integer sums and products that left their width: the address is not what the expression says.
  void noteWrap(Ref ref, const std::string& text) {
    const Operation& op = *ref.value->owner;
    bool product = op.name == "arith.muli", sum = op.name == "arith.addi", difference = op.name == "arith.subi";
    if (!product && !sum && !difference) return;
    const Tile* left = tileOf(resolve({ref.instance, op.operands[0]}));
    const Tile* right = tileOf(resolve({ref.instance, op.operands[1]}));
    Range a, b;
    if (!left || !right || !valueRange(*left, &a) || !valueRange(*right, &b)) return;
    using Wide = __int128;
    Wide values[4] = {Wide(a.min), Wide(a.min), Wide(a.max), Wide(a.max)};
    const int64_t others[4] = {b.min, b.max, b.min, b.max};
    for (int i = 0; i < 4; ++i) values[i] = product ? values[i] * others[i] : sum ? values[i] + others[i] : values[i] - others[i];
    Wide low = *std::min_element(values, values + 4), high = *std::max_element(values, values + 4);
    auto outside = [&](Wide v) { return v < INT64_MIN || v > INT64_MAX || !fitsKind(left->kind, static_cast<int64_t>(v)); };
    if (!outside(low) && !outside(high)) return;
    Wide shown = outside(high) ? high : low;
    std::string value = shown > INT64_MAX || shown < INT64_MIN ? "it" : std::to_string(static_cast<int64_t>(shown));
    std::string note = fmt::format("{} wraps: {} does not fit {}", text, value, ir::elementName(left->kind));
    if (std::find(wraps_.begin(), wraps_.end(), note) == wraps_.end() && wraps_.size() < 3) wraps_.push_back(note);
  }

  // range(a, b, -c): upper - i + lower in the IR, a loop variable in the source.
  static bool isDownwardVariable(const Operation& op) {
    const Operation* difference = op.name == "arith.addi" ? op.operands[0]->owner : nullptr;
    if (!difference || difference->name != "arith.subi") return false;
    const Value* induction = difference->operands[1];
    const Operation* loop = !induction->owner && induction->block ? induction->block->parent->parent : nullptr;
    return loop && loop->name == "scf.for" && induction->index == 0 && op.operands[1] == loop->operands[0];
  }

  // Notes a variable for a `because` entry of its own, once.
  void mention(Ref ref, const std::string& name) {
    if (!seen_.insert(name).second) return;
    order_.push_back({ref, name});
  }

  std::string definition(Ref ref, const std::string& name) {
    const Operation* op = ref.value->owner;
    if (op) {
      if (isDownwardVariable(*op)) return {};
      if (op->name == "scf.if") {
        auto side = [&](unsigned i) {
          return render({ref.instance, op->regions[i]->blocks[0]->operations.back()->operands[ref.value->index]}, name, 0, 0);
        };
        std::string yes = side(0), no = side(1);
        return fmt::format("{} if {} else {}", yes, render({ref.instance, op->operands[0]}, name, 0, 0), no);
      }
      if (op->name == "scf.for" || op->name == "scf.while") return {};
      return render(ref, name, 0, 0);
    }
    // Carried around a loop: the value before it and what an iteration adds.
    const ir::Block* block = ref.value->block;
    const Operation* loop = block && block->parent ? block->parent->parent : nullptr;
    if (!loop || loop->name != "scf.for" || ref.value->index == 0) return {};
    unsigned carried = ref.value->index - 1;
    std::string start = render({ref.instance, loop->operands[3 + carried]}, name, 0, 0);
    Ref next{ref.instance, block->operations.back()->operands[carried]};
    const Operation* step = next.value->owner;
    if (step && (step->name == "tile.ptr_add" || step->name == "arith.addi") && step->operands[0] == ref.value)
      return fmt::format("{}, then += {} each iteration", start, render({next.instance, step->operands[1]}, name, 0, 0));
    return start + " before the loop";
  }

  // `because` entries of everything mentioned so far, and of what those mention; what `first` accepts
  // and what that mentions stands before the rest.
  template <typename First>
  void finish(findings::Finding& finding, First&& first, bool arguments) {
    struct Entry {
      findings::Because because;
      bool front;
    };
    std::vector<Entry> entries;
    std::set<std::string> front;
    for (size_t i = 0; i < order_.size() && entries.size() < 4 * kMaxEntries; ++i) {
      auto [ref, name] = order_[i];
      size_t before = order_.size();
      findings::Because because;
      because.name = name;
      because.expression = definition(ref, name);
      because.value = valueText(ref);
      bool ahead = front.count(name) != 0 || first(ref);
      if (ahead)
        for (size_t k = before; k < order_.size(); ++k) front.insert(order_[k].second);
      if (because.expression == because.value) because.expression.clear();
      if (because.expression == name) because.expression.clear();
      const Tile* tile = tileOf(ref);
      bool pointer = tile && tile->kind == ElementKind::Pointer;
      if (pointer && (because.expression.empty() || !ref.value->owner)) {
        if (because.expression.empty()) continue;  // an argument: the sentence names it
      }
      if (because.expression.empty() && because.value.empty()) continue;
      // Strides and the like are seen in the expressions.
      bool plain = because.expression.empty() && !ref.value->owner;
      bool loopVariable = plain && ref.value->block->parent->parent->name.starts_with("scf.");
      if (plain && !loopVariable && !arguments) continue;
      entries.push_back({std::move(because), ahead});
    }
    for (const std::string& wrap : wraps_) finding.notes.push_back(wrap);
    for (bool ahead : {true, false})
      for (Entry& entry : entries)
        if (entry.front == ahead && finding.because.size() < kMaxEntries) finding.because.push_back(std::move(entry.because));
  }
  void finish(findings::Finding& finding) {
    finish(finding, [](Ref) { return false; }, true);
  }

  const std::vector<std::pair<Ref, std::string>>& mentioned() const { return order_; }
  bool hasSeen(const std::string& name) const { return seen_.count(name) != 0; }

 private:
  bool sourceHas(const Value* v, const std::string& word) const {
    const Operation* op = v->block && v->block->parent ? v->block->parent->parent : nullptr;
    const ir::LocationStorage* file = op ? op->location.file() : nullptr;
    if (!file) return true;
    auto it = machine_.context().launch->sources.find(file->text);
    return it == machine_.context().launch->sources.end() || it->second.find(word) != std::string::npos;
  }

  static int axisNumber(const Operation& op) {
    ir::Attribute axis = op.attribute("axis");
    if (auto value = axis.asInteger()) return static_cast<int>(*value);
    return axis.asString() == "y" ? 1 : axis.asString() == "z" ? 2 : 0;
  }

  static const char* comparison(std::string_view p) {
    if (p == "eq" || p == "oeq" || p == "ueq") return "==";
    if (p == "ne" || p == "one" || p == "une") return "!=";
    if (p == "slt" || p == "ult" || p == "olt") return "<";
    if (p == "sle" || p == "ule" || p == "ole") return "<=";
    if (p == "sgt" || p == "ugt" || p == "ogt") return ">";
    return ">=";
  }

  std::string constantText(const Operation& op) const {
    ir::Attribute value = op.attribute("value");
    if (!value) return "?";
    if (auto integer = value.asInteger()) {
      if (value.kind() == ir::AttributeKind::Bool) return *integer ? "True" : "False";
      if (op.result()->type.elementType().elementKind() == ElementKind::I1) return *integer ? "True" : "False";
      return std::to_string(*integer);
    }
    for (auto& instance : machine_.context().plan->program.instances) {
      const Tile* tile = tileOf({instance.get(), op.result()});
      if (!tile || !tile->isSplat()) continue;
      return tile->kind == ElementKind::I1 ? (tile->base ? "True" : "False") : elementText(*tile, 0);
    }
    return "?";
  }

  Machine& machine_;
  const Shape* witnessShape_ = nullptr;
  int64_t witness_ = -1;
  std::set<std::string> seen_;
  std::vector<std::string> wraps_;
  std::vector<std::pair<Ref, std::string>> order_;
};

// Integer variables that vary over the tile: what a mask has to bound.
std::vector<std::pair<Ref, std::string>> ranges(const Explainer& explainer) {
  std::vector<std::pair<Ref, std::string>> result;
  for (auto& [ref, name] : explainer.mentioned()) {
    const Tile* tile = explainer.tileOf(ref);
    if (tile && ir::isIntegerKind(tile->kind) && tile->kind != ElementKind::I1 && tile->numel() > 1 && dependence(*tile))
      result.emplace_back(ref, name);
  }
  return result;
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
  if (!Explainer::isDownwardVariable(sum)) return {};
  *downwards = true;
  return outerName(sum.location);
}

void explainValue(Machine& machine, const Instr& instr, const Value* value, findings::Finding& finding) {
  Explainer explainer(machine);
  Ref ref = explainer.resolve({instr.instance, value});
  std::string name = explainer.nameOf(ref);
  if (name.empty()) {
    std::string text = explainer.render(ref, "", 0, 0);
    finding.because.push_back({"", text, explainer.valueText(ref)});
  } else {
    explainer.mention(ref, name);
  }
  explainer.finish(finding);
}

void explain(Machine& machine, const Instr& instr, const Resolved& access, int64_t element, findings::Finding& finding) {
  const Operation& op = *instr.source;
  Explainer address(machine, access.address.shape, element);
  bool view = instr.op == Opcode::ViewLoad || instr.op == Opcode::ViewStore || instr.op == Opcode::ViewGather ||
              instr.op == Opcode::ViewScatter;
  std::string own = outerName(op.location);
  auto mentionPointer = [&](Explainer& explainer) {
    Ref pointer = explainer.resolve({instr.instance, op.operands[0]});
    std::string name = explainer.nameOf(pointer);
    if (name.empty() || name == own) explainer.render(pointer, own, 0, 0);
    else explainer.mention(pointer, name);
  };
  mentionPointer(address);
  if (view) {
    // Where the block begins: the indices of the access.
    std::string expression, values;
    for (size_t i = 1; i < op.operands.size(); ++i) {
      if (op.operands[i]->type.isTensor() || !ir::isIntegerKind(machineKind(op.operands[i]->type))) continue;
      expression += (expression.empty() ? "" : ", ") + address.render({instr.instance, op.operands[i]}, own, 0, 0);
      values += (values.empty() ? "" : ", ") + address.valueText(address.resolve({instr.instance, op.operands[i]}));
    }
    if (!expression.empty()) finding.because.push_back({"block", "[" + expression + "]", "[" + values + "]"});
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
  auto beyond = [&](Ref ref) {
    const Tile* tile = address.tileOf(ref);
    Range range;
    if (bound < 0 || !tile || !ir::isIntegerKind(tile->kind) || tile->kind == ElementKind::I1 || tile->numel() == 1 ||
        !valueRange(*tile, &range))
      return false;
    return reached < 0 ? range.min <= reached : range.max >= reached;
  };
  // Everything behind the pointer is mentioned while the definitions are written. Where no variable
  // of the tile runs over, a scalar may be the culprit: then arguments are listed too.
  bool anyBeyond = false;
  {
    Explainer probe(machine);
    findings::Finding scratch;
    mentionPointer(probe);
    probe.finish(scratch);
    for (auto& [ref, name] : ranges(probe)) anyBeyond = anyBeyond || beyond(ref);
  }
  address.finish(finding, beyond, !bounds || !anyBeyond);

  const Value* mask = nullptr;
  if (instr.op == Opcode::Load && (instr.flag & 1)) mask = op.operands[1];
  if ((instr.op == Opcode::Store || instr.op == Opcode::AtomicRmw) && (instr.flag & 1)) mask = op.operands[2];
  if (mask) {
    // Triton gives scalar atomics a constant true mask: that is no mask of the user's.
    const Operation* owner = mask->owner;
    while (owner && (owner->name == "tile.splat" || owner->name == "tile.broadcast")) owner = owner->operands[0]->owner;
    if (owner && owner->name == "arith.constant") mask = nullptr;
  }
  Explainer guard(machine);
  if (mask) {
    Ref ref = guard.resolve({instr.instance, mask});
    std::string name = guard.nameOf(ref);
    std::string text = guard.render(ref, name == own || name.empty() ? own : name, 0, 0);
    if (!name.empty() && name != own) text = name + " = " + text;
    finding.notes.push_back("mask: " + text);
    findings::Finding scratch;
    guard.finish(scratch);
    for (auto& because : scratch.because) {
      bool known = std::any_of(finding.because.begin(), finding.because.end(), [&](auto& b) { return b.name == because.name; });
      if (!known && finding.because.size() < kMaxEntries) finding.because.push_back(because);
    }
  }
  if (!bounds || view) return;
  // What varies over the tile and is not in the mask.
  std::vector<std::string> missing;
  if (access.address.numel() > 1)
    for (auto& [ref, name] : ranges(address))
      if (!guard.hasSeen(name) && (!anyBeyond || beyond(ref))) missing.push_back(name);
  // A variable built from one that is named too is said once.
  for (const std::string& name : missing) finding.notes.push_back("no mask on " + name);
  if (missing.empty() && !mask) finding.notes.push_back("no mask");
  if (!finding.operand) return;
  if (reached < 0) {
    if (missing.size() == 1 && anyBeyond) finding.remedy = fmt::format("mask the {} with {} >= 0", finding.operation, missing[0]);
    return;
  }
  // A scalar that equals the size of the axis run over is the bound the user knows it by.
  const launch::Launch& launch = *machine.context().launch;
  for (const launch::Argument& argument : launch.arguments) {
    if (bound < 0 || argument.kind != launch::Argument::Kind::Scalar || !ir::isIntegerKind(argument.element)) continue;
    if (static_cast<int64_t>(argument.bits) != bound) continue;
    bool known = std::any_of(finding.because.begin(), finding.because.end(), [&](auto& b) { return b.name == argument.name; });
    if (!known) finding.because.push_back({argument.name, "", std::to_string(bound)});
    if (missing.size() == 1 && anyBeyond && finding.kind == "out-of-bounds")
      finding.remedy = fmt::format("mask the {} with {} < {}", finding.operation, missing[0], argument.name);
    break;
  }
}

}  // namespace tilesight::exec
