#include "plan/build.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "exec/kernels/kernels.h"
#include "plan/classify.h"

namespace tilesight::plan {

namespace {

using ir::Block;
using ir::Operation;
using ir::Region;
using ir::Value;

constexpr int kMaxCallDepth = 64;
constexpr size_t kMaxOperands = size_t{1} << 22;  // of all expanded instructions

class Emitter {
 public:
  Emitter(const ir::Module& module, const Need& need, const Need& used, const PlanOptions& options)
      : module_(module), need_(need), used_(used), options_(options) {}

  Result<Program> run() {
    const Operation* entry = module_.entry();
    if (!entry) return failure("the module has no single public function to run");
    if (entry->regions.empty() || entry->regions[0]->empty())
      return failure(fmt::format("function {} has no body", entry->string("sym_name")));
    program_.entry = entry;
    program_.outputs = options_.outputs || options_.values;
    Instance* instance = newInstance(entry, nullptr, nullptr);
    for (auto& argument : entry->regions[0]->blocks[0]->arguments) {
      uint32_t slot = newSlot(argument.get());
      instance->slots[argument.get()] = slot;
      invariant_[slot] = true;
      program_.parameters.push_back(slot);
    }
    out_ = &program_.prologue;
    for (size_t i = 0; i < program_.parameters.size(); ++i)
      emitHint(*entry, instance, program_.parameters[i], parameterHint(*entry, i));
    out_ = &program_.code;
    mark(*entry, instance, entry->regions[0]->blocks[0]->arguments);
    TS_CHECK(emitFunction(instance, {}));
    // Combine regions stand behind the program.
    for (size_t i = 0; i < regionCode_.size(); ++i) {
      RegionCode& region = program_.regions[i];
      region.begin = static_cast<uint32_t>(program_.code.size());
      program_.code.insert(program_.code.end(), regionCode_[i].begin(), regionCode_[i].end());
      region.end = static_cast<uint32_t>(program_.code.size());
      for (uint32_t at = region.begin; at < region.end; ++at)
        if (jumps(program_.code[at].op)) {
          program_.code[at].target += region.begin;
          region.straight = false;
        }
    }
    return std::move(program_);
  }

 private:
  static bool jumps(Opcode op) {
    return op == Opcode::Jump || op == Opcode::BranchIfNot || op == Opcode::LoopBegin || op == Opcode::LoopNext ||
           op == Opcode::WhileNext;
  }

  static bool isAtomic(Opcode op) {
    return op == Opcode::AtomicRmw || op == Opcode::AtomicCas || op == Opcode::AtomicLoad || op == Opcode::AtomicStore ||
           op == Opcode::AtomicPoll || op == Opcode::ViewReduce;
  }
  static bool computes(Opcode op) {
    return op == Opcode::Dot || op == Opcode::DotScaled || op == Opcode::Reduce || op == Opcode::Scan;
  }
  // Can it see what another program wrote?
  static bool readsMemory(Opcode op) {
    return op == Opcode::Load || op == Opcode::ViewLoad || op == Opcode::ViewGather ||
           (isAtomic(op) && op != Opcode::AtomicStore && op != Opcode::ViewReduce);
  }

  // -- slots and operands -------------------------------------------------------------------------

  Instance* newInstance(const Operation* function, const Operation* call, const Instance* parent) {
    auto instance = std::make_unique<Instance>();
    instance->function = function;
    instance->call = call;
    instance->parent = parent;
    program_.instances.push_back(std::move(instance));
    return program_.instances.back().get();
  }

  uint32_t newSlot(const Value* value) {
    program_.slots.push_back({value->type, value});
    invariant_.push_back(false);
    return static_cast<uint32_t>(program_.slots.size() - 1);
  }

  uint32_t slotOf(const Instance* instance, const Value* value) const {
    auto it = instance->slots.find(value);
    return it == instance->slots.end() ? kNoSlot : it->second;
  }

  uint32_t pushOperands(const std::vector<uint32_t>& slots) {
    auto first = static_cast<uint32_t>(program_.operands.size());
    program_.operands.insert(program_.operands.end(), slots.begin(), slots.end());
    return first;
  }

  Instr& emit(Opcode opcode, const Operation* source, const Instance* instance,
              const std::vector<uint32_t>& in, const std::vector<uint32_t>& out) {
    Instr instr;
    instr.op = opcode;
    instr.source = source;
    instr.instance = instance;
    instr.inCount = static_cast<uint16_t>(in.size());
    instr.outCount = static_cast<uint16_t>(out.size());
    instr.in = pushOperands(in);
    instr.out = pushOperands(out);
    out_->push_back(instr);
    return out_->back();
  }

  uint32_t here() const { return static_cast<uint32_t>(out_->size()); }

  // -- liveness -------------------------------------------------------------------------------------

  // The last use of a value among the operations of its own block, if it is a direct operand there.
  // Only float tiles count: integers, pointers and masks stay readable for explanations.
  void analyseDeaths(const Block& block) {
    if (!analysed_.insert(&block).second) return;
    std::unordered_map<const Value*, std::pair<const Operation*, bool>> last;  // op, direct
    for (auto& op : block.operations) {
      ir::walk(*op, [&](Operation& nested) {
        for (const Value* v : nested.operands) last[v] = {op.get(), &nested == op.get()};
        for (auto& successor : nested.successors)
          for (const Value* v : successor.operands) last[v] = {op.get(), false};
        return true;
      });
    }
    for (auto& [value, use] : last) {
      const Block* home = value->owner ? value->owner->parent : value->block;
      if (home != &block || !use.second) continue;
      if (!ir::isFloatKind(value->type.elementType().elementKind())) continue;
      if (std::count(use.first->operands.begin(), use.first->operands.end(), value) != 1) continue;
      deaths_[value] = use.first;
    }
  }

  bool dies(const Instance* instance, const Value* value, const Operation* at) const {
    auto it = deaths_.find(value);
    if (it == deaths_.end() || it->second != at) return false;
    if (value->block && value->block->parent->parent == instance->function) return false;  // parameter or cf block argument
    uint32_t slot = slotOf(instance, value);
    return slot != kNoSlot && !invariant_[slot] && !shared_.count(slot);
  }

  // -- moves ------------------------------------------------------------------------------------------

  // Parallel assignment, skipping pairs whose target is not needed.
  void emitMove(const Operation* source, const Instance* instance, const std::vector<const Value*>& from,
                const std::vector<uint32_t>& to, bool mayDie = true) {
    std::vector<uint32_t> in, out;
    uint32_t dying = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      if (to[i] == kNoSlot) continue;
      uint32_t slot = slotOf(instance, from[i]);
      if (slot == to[i]) continue;
      if (mayDie && in.size() < 32 && dies(instance, from[i], source)) dying |= 1u << in.size();
      in.push_back(slot);
      out.push_back(to[i]);
    }
    if (in.empty()) return;
    emit(Opcode::Move, source, instance, in, out).dying = dying;
  }

  // -- functions ----------------------------------------------------------------------------------------

  static std::vector<const Block*> reachable(const Region& region) {
    std::unordered_set<const Block*> seen;
    std::vector<const Block*> work{region.blocks[0].get()};
    while (!work.empty()) {
      const Block* block = work.back();
      work.pop_back();
      if (!seen.insert(block).second) continue;
      if (block->operations.empty()) continue;
      for (const ir::Successor& s : block->operations.back()->successors) work.push_back(s.block);
    }
    std::vector<const Block*> order;
    for (auto& block : region.blocks)
      if (seen.count(block.get())) order.push_back(block.get());
    return order;
  }

  // Results of a call go to `results` (slots); with one block they are the callee's own slots.
  Status emitFunction(Instance* instance, const std::vector<uint32_t>& results) {
    const Region& region = *instance->function->regions[0];
    std::vector<const Block*> blocks = reachable(region);
    std::unordered_map<const Block*, uint32_t> starts;
    std::vector<std::pair<uint32_t, const Block*>> jumps;   // instruction, target
    std::vector<uint32_t> returns;                          // jumps to the end of the expansion
    for (const Block* block : blocks)
      if (block != blocks[0])
        for (auto& argument : block->arguments)
          instance->slots[argument.get()] = need_.needed(argument.get()) ? newSlot(argument.get()) : kNoSlot;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block* block = blocks[i];
      starts[block] = here();
      if (i > 0) mark(*instance->function, instance, block->arguments);
      TS_CHECK(emitBlock(*block, instance));
      const Operation& last = *block->operations.back();
      auto moveArguments = [&](const ir::Successor& s) {
        std::vector<const Value*> from(s.operands.begin(), s.operands.end());
        std::vector<uint32_t> to;
        for (auto& a : s.block->arguments) to.push_back(slotOf(instance, a.get()));
        emitMove(&last, instance, from, to, false);
      };
      auto jumpTo = [&](const Block* target) {
        jumps.emplace_back(here(), target);
        emit(Opcode::Jump, &last, instance, {}, {});
      };
      if (last.name == "cf.br") {
        moveArguments(last.successors[0]);
        if (i + 1 >= blocks.size() || last.successors[0].block != blocks[i + 1]) jumpTo(last.successors[0].block);
      } else if (last.name == "cf.cond_br") {
        uint32_t branch = here();
        emit(Opcode::BranchIfNot, &last, instance, {slotOf(instance, last.operands[0])}, {});
        moveArguments(last.successors[0]);
        jumpTo(last.successors[0].block);
        (*out_)[branch].target = here();
        moveArguments(last.successors[1]);
        jumpTo(last.successors[1].block);
      } else if (last.name == "tile.return") {
        if (instance->call) {
          std::vector<const Value*> from(last.operands.begin(), last.operands.end());
          emitMove(&last, instance, from, results, false);
          if (i + 1 < blocks.size()) {
            returns.push_back(here());
            emit(Opcode::Jump, &last, instance, {}, {});
          }
        } else {
          emit(Opcode::Return, &last, instance, {}, {});
        }
      } else {
        return failure(fmt::format("block ends in {}, which is not a terminator of functions", last.name));
      }
    }
    for (auto& [at, target] : jumps) (*out_)[at].target = starts[target];
    for (uint32_t at : returns) (*out_)[at].target = here();
    return {};
  }

  Status emitCall(const Operation& op, Instance* instance) {
    const Operation* callee = module_.function(op.string("callee"));
    if (!callee || callee->regions.empty() || callee->regions[0]->empty()) {
      emit(Opcode::Unsupported, &op, instance, {}, {});
      return {};
    }
    if (++depth_ > kMaxCallDepth)
      return failure(fmt::format("calls of {} nest deeper than {}: recursion is not possible in a kernel",
                                 op.string("callee"), kMaxCallDepth));
    if (program_.operands.size() > kMaxOperands)
      return failure(fmt::format("the calls of {} expand to too many instructions", op.string("callee")));
    Instance* inner = newInstance(callee, &op, instance);
    const Block& entry = *callee->regions[0]->blocks[0];
    for (size_t i = 0; i < entry.arguments.size() && i < op.operands.size(); ++i)
      inner->slots[entry.arguments[i].get()] = slotOf(instance, op.operands[i]);
    std::vector<uint32_t> results;
    std::vector<const Block*> blocks = reachable(*callee->regions[0]);
    bool alias = blocks.size() == 1;
    for (auto& result : op.results) {
      uint32_t slot = !alias && need_.needed(result.get()) ? newSlot(result.get()) : kNoSlot;
      instance->slots[result.get()] = slot;
      results.push_back(slot);
    }
    mark(*callee, inner, entry.arguments);
    TS_CHECK(emitFunction(inner, results));
    if (alias) {
      const Operation& last = *entry.operations.back();
      for (size_t i = 0; i < op.results.size(); ++i) {
        uint32_t slot = slotOf(inner, last.operands[i]);
        instance->slots[op.results[i].get()] = slot;
        // A slot with two names is never overwritten in place.
        if (slot != kNoSlot) shared_.insert(slot);
      }
    }
    mark(op, instance, op.results);
    --depth_;
    return {};
  }

  // -- marks ------------------------------------------------------------------------------------------------

  void mark(const Operation& source, const Instance* instance, const std::vector<std::unique_ptr<Value>>& values) {
    if (!options_.everything) return;
    std::vector<uint32_t> slots;
    std::vector<const Value*> marked;
    for (auto& value : values) {
      const uint32_t slot = slotOf(instance, value.get());
      if (slot == kNoSlot) continue;
      slots.push_back(slot);
      marked.push_back(value.get());
    }
    if (slots.empty()) return;
    emit(Opcode::Mark, &source, instance, slots, {}).immediate = static_cast<int64_t>(program_.marks.size());
    program_.marks.push_back(std::move(marked));
  }

  // -- promises ---------------------------------------------------------------------------------------------

  void emitHint(const Operation& op, const Instance* instance, uint32_t slot, std::optional<Hint> hint) {
    if (!hint || slot == kNoSlot) return;
    emit(Opcode::Hint, &op, instance, {slot}, {}).immediate = static_cast<int64_t>(program_.hints.size());
    program_.hints.push_back(std::move(*hint));
  }
  void emitResultHint(const Operation& op, const Instance* instance) {
    if (op.results.size() == 1) emitHint(op, instance, slotOf(instance, op.results[0].get()), resultHint(op));
  }
  void emitArgumentHints(const Operation& loop, const Instance* instance) {
    const auto& arguments = loop.regions.back()->blocks[0]->arguments;
    for (size_t i = 0; i < arguments.size(); ++i)
      emitHint(loop, instance, slotOf(instance, arguments[i].get()), argumentHint(loop, i));
  }

  // -- operations ---------------------------------------------------------------------------------------

  Status emitBlock(const Block& block, Instance* instance) {
    analyseDeaths(block);
    for (auto& op : block.operations) TS_CHECK(emitOp(*op, instance));
    return {};
  }

  Status emitOp(const Operation& op, Instance* instance) {
    if (op.name == "scf.for") return emitFor(op, instance);
    if (op.name == "scf.while") return emitWhile(op, instance);
    if (op.name == "scf.if" || op.name == "tile.call") {
      TS_CHECK(op.name == "scf.if" ? emitIf(op, instance) : emitCall(op, instance));
      emitResultHint(op, instance);
      return {};
    }
    std::optional<Class> cls = classify(op);
    if (!cls) return {};  // terminators: their parents emit them
    bool resultNeeded = need_.anyResultNeeded(op), used = used_.anyResultNeeded(op);
    bool announced = options_.computes && computes(cls->op) && used;
    if (cls->pure && !resultNeeded && !announced) return {};
    if (cls->op == Opcode::Assume && op.operands.empty()) return {};  // a barrier
    std::vector<uint32_t> in, out;
    uint32_t dying = 0;
    bool allInvariant = true;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      uint32_t slot = slotOf(instance, op.operands[i]);
      if (slot != kNoSlot && i < 32 && dies(instance, op.operands[i], &op)) dying |= 1u << i;
      allInvariant = allInvariant && slot != kNoSlot && invariant_[slot];
      in.push_back(slot);
    }
    bool hoist = !options_.everything && cls->pure && allInvariant && !(options_.computes && computes(cls->op)) && cls->op != Opcode::ProgramId && cls->op != Opcode::Reduce &&
                 cls->op != Opcode::Scan && cls->op != Opcode::Map &&
                 cls->op != Opcode::View;  // whose alignment programs answer for
    for (auto& result : op.results) {
      uint32_t slot = newSlot(result.get());
      invariant_[slot] = hoist;
      instance->slots[result.get()] = slot;
      out.push_back(slot);
    }
    std::vector<Instr>* saved = out_;
    if (hoist) out_ = &program_.prologue;
    Instr& instr = emit(cls->op, &op, instance, in, out);
    const size_t at = out_->size() - 1;
    instr.sub = cls->sub;
    instr.flag = cls->flag;
    instr.immediate = cls->immediate;
    instr.dying = hoist ? 0 : dying;
    instr.valueNeeded = op.results.empty() ? program_.outputs || !storesValue(op) || storedValueNeeded(op, instance) : resultNeeded;
    instr.used = op.results.empty() || used;
    if (cls->op == Opcode::InlineAsm) {
      auto ptx = foreign::Ptx::compile(op.string("asm_string"), op.string("constraints"));
      if (!ptx) return failure(std::move(ptx).error());
      instr.flag = static_cast<uint8_t>(cls->immediate);
      instr.immediate = static_cast<int64_t>(program_.assembly.size());
      program_.assembly.push_back(std::move(*ptx));
    }
    if (resultNeeded) emitResultHint(op, instance);
    out_ = saved;
    if (isAtomic(cls->op)) program_.atomics = true;
    if (ordersPrograms(cls->op, resultNeeded)) program_.tickets = true;
    if (cls->op == Opcode::Map || (resultNeeded && (cls->op == Opcode::Reduce || cls->op == Opcode::Scan))) {
      auto body = emitRegion(op, instance);
      if (!body) return failure(std::move(body).error());
      (*out_)[at].body = *body;
    }
    return {};
  }

  // Does what the program goes on to do depend on the programs before it, beyond what loads tell?
  static bool ordersPrograms(Opcode op, bool resultNeeded) {
    return op == Opcode::AtomicCas || op == Opcode::AtomicPoll || (op == Opcode::AtomicRmw && resultNeeded);
  }
  static bool storesValue(const Operation& op) {
    return op.name == "tile.store" || op.name == "tile.view_store" || op.name == "tile.view_scatter";
  }
  bool storedValueNeeded(const Operation& op, const Instance* instance) const {
    const Value* value = op.operands[op.name == "tile.view_scatter" ? 3 : 1];
    return slotOf(instance, value) != kNoSlot && need_.needed(value);
  }

  Result<uint32_t> emitRegion(const Operation& op, Instance* instance) {
    auto index = static_cast<uint32_t>(program_.regions.size());
    program_.regions.emplace_back();
    regionCode_.emplace_back();
    const Block& block = *op.regions[0]->blocks[0];
    RegionCode region;
    for (auto& argument : block.arguments) {
      uint32_t slot = newSlot(argument.get());
      instance->slots[argument.get()] = slot;
      region.arguments.push_back(slot);
    }
    std::vector<Instr>* saved = out_;
    std::vector<Instr> code;
    out_ = &code;
    Status status = emitBlock(block, instance);
    out_ = saved;
    if (!status) return failure(std::move(status).error());
    for (const Value* v : block.operations.back()->operands) region.results.push_back(slotOf(instance, v));
    // In regions, tiles are read again by later steps of the tree: nothing is overwritten in place.
    for (Instr& instr : code) instr.dying = 0;
    if (code.size() == 1 && code[0].op == Opcode::Binary && region.arguments.size() == 2 &&
        region.results.size() == 1 && region.results[0] == program_.operands[code[0].out] &&
        program_.operands[code[0].in] == region.arguments[0] &&
        program_.operands[code[0].in + 1] == region.arguments[1])
      region.simple = code[0].sub;
    program_.regions[index] = std::move(region);
    regionCode_[index] = std::move(code);
    return index;
  }

  Status emitFor(const Operation& op, Instance* instance) {
    const Block& body = *op.regions[0]->blocks[0];
    std::vector<const Value*> inits(op.operands.begin() + 3, op.operands.end());
    std::vector<uint32_t> phis;
    for (size_t i = 0; i < inits.size(); ++i) {
      const Value* argument = body.arguments[i + 1].get();
      uint32_t slot = need_.needed(argument) ? newSlot(argument) : kNoSlot;
      instance->slots[argument] = slot;
      instance->slots[op.results[i].get()] = slot;  // holds the last value when the loop ends
      phis.push_back(slot);
    }
    emitMove(&op, instance, inits, phis);
    uint32_t induction = newSlot(body.arguments[0].get());
    instance->slots[body.arguments[0].get()] = induction;
    uint32_t begin = here();
    emit(Opcode::LoopBegin, &op, instance,
         {slotOf(instance, op.operands[0]), slotOf(instance, op.operands[1]), slotOf(instance, op.operands[2])},
         {induction})
        .flag = op.attribute("unsignedCmp") ? 1 : 0;
    uint32_t start = here();
    mark(op, instance, body.arguments);
    emitArgumentHints(op, instance);
    TS_CHECK(emitBlock(body, instance));
    const Operation& yield = *body.operations.back();
    emitMove(&yield, instance, {yield.operands.begin(), yield.operands.end()}, phis);
    emit(Opcode::LoopNext, &op, instance, {}, {induction}).target = start;
    (*out_)[begin].target = here();
    mark(op, instance, op.results);
    return {};
  }

  Status emitWhile(const Operation& op, Instance* instance) {
    const Block& before = *op.regions[0]->blocks[0];
    const Block& after = *op.regions[1]->blocks[0];
    std::vector<uint32_t> beforeSlots, afterSlots, results;
    auto slotFor = [&](const Value* value) {
      uint32_t slot = need_.needed(value) ? newSlot(value) : kNoSlot;
      instance->slots[value] = slot;
      return slot;
    };
    for (auto& a : before.arguments) beforeSlots.push_back(slotFor(a.get()));
    for (auto& a : after.arguments) afterSlots.push_back(slotFor(a.get()));
    for (auto& r : op.results) results.push_back(slotFor(r.get()));
    emitMove(&op, instance, {op.operands.begin(), op.operands.end()}, beforeSlots);
    emit(Opcode::WhileBegin, &op, instance, {}, {});
    uint32_t test = here();
    mark(op, instance, before.arguments);
    TS_CHECK(emitBlock(before, instance));
    const Operation& condition = *before.operations.back();
    std::vector<const Value*> passed(condition.operands.begin() + 1, condition.operands.end());
    uint32_t branch = here();
    emit(Opcode::BranchIfNot, &condition, instance, {slotOf(instance, condition.operands[0])}, {});
    emitMove(&condition, instance, passed, afterSlots, false);
    mark(op, instance, after.arguments);
    emitArgumentHints(op, instance);
    TS_CHECK(emitBlock(after, instance));
    const Operation& yield = *after.operations.back();
    emitMove(&yield, instance, {yield.operands.begin(), yield.operands.end()}, beforeSlots);
    bool reads = std::any_of(out_->begin() + test, out_->end(), [](const Instr& i) {
      return readsMemory(i.op) && (i.op != Opcode::AtomicRmw || i.valueNeeded);
    });
    Instr& next = emit(Opcode::WhileNext, &op, instance, beforeSlots, {});
    next.target = test;
    next.flag = reads;
    program_.waits = program_.waits || reads;
    (*out_)[branch].target = here();
    emitMove(&condition, instance, passed, results, false);
    emit(Opcode::WhileEnd, &op, instance, {}, {});
    mark(op, instance, op.results);
    return {};
  }

  Status emitIf(const Operation& op, Instance* instance) {
    std::vector<uint32_t> results;
    for (auto& r : op.results) {
      uint32_t slot = need_.needed(r.get()) ? newSlot(r.get()) : kNoSlot;
      instance->slots[r.get()] = slot;
      results.push_back(slot);
    }
    uint32_t branch = here();
    emit(Opcode::BranchIfNot, &op, instance, {slotOf(instance, op.operands[0])}, {});
    auto side = [&](const Region& region) -> Status {
      if (region.empty()) return {};
      const Block& block = *region.blocks[0];
      TS_CHECK(emitBlock(block, instance));
      const Operation& yield = *block.operations.back();
      emitMove(&yield, instance, {yield.operands.begin(), yield.operands.end()}, results);
      return {};
    };
    TS_CHECK(side(*op.regions[0]));
    bool hasElse = op.regions.size() > 1 && !op.regions[1]->empty();
    uint32_t jump = here();
    if (hasElse) emit(Opcode::Jump, &op, instance, {}, {});
    (*out_)[branch].target = here();
    if (hasElse) {
      TS_CHECK(side(*op.regions[1]));
      (*out_)[jump].target = here();
    }
    mark(op, instance, op.results);
    return {};
  }

  const ir::Module& module_;
  const Need &need_, &used_;
  const PlanOptions& options_;
  Program program_;
  std::vector<Instr>* out_ = nullptr;
  std::vector<bool> invariant_;
  std::vector<std::vector<Instr>> regionCode_;
  std::unordered_set<const Block*> analysed_;
  std::unordered_map<const Value*, const Operation*> deaths_;
  std::unordered_set<uint32_t> shared_;
  int depth_ = 0;
};

}  // namespace

Result<Program> build(const ir::Module& module, const Need& need, const Need& used, const PlanOptions& options) {
  return Emitter(module, need, used, options).run();
}

}  // namespace tilesight::plan
