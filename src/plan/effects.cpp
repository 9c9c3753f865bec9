#include "plan/effects.h"

#include <string_view>
#include <unordered_map>

namespace tilesight::plan {

namespace {

using ir::Block;
using ir::Operation;
using ir::Value;

class Origins {
 public:
  explicit Origins(const ir::Module& module) : module_(module), entry_(module.entry()) {}

  Effects run() {
    const Block& entry = *entry_->regions[0]->blocks[0];
    size_t count = entry.arguments.size();
    effects_.loaded.assign(count, false);
    effects_.stored.assign(count, false);
    for (size_t i = 0; i < count; ++i) {
      from_[entry.arguments[i].get()].assign(count + 1, false);
      from_[entry.arguments[i].get()][i] = true;
    }
    unknown_.assign(count + 1, false);
    unknown_[count] = true;
    do {
      changed_ = false;
      ir::walk(*module_.top, [this](Operation& op) {
        visit(op);
        return true;
      });
    } while (changed_);
    ir::walk(*module_.top, [this](Operation& op) {
      std::string_view name = op.name;
      bool load = name == "tile.load" || name == "tile.view_load" || name == "tile.view_gather";
      bool store = name == "tile.store" || name == "tile.view_store" || name == "tile.view_scatter";
      bool both = name.starts_with("tile.atomic_") || name == "tile.view_reduce" || name == "tile.opaque";
      if ((load || store || both) && !op.operands.empty()) note(op.operands[0], load || both, store || both);
      return true;
    });
    return effects_;
  }

 private:
  using Set = std::vector<bool>;

  void add(const Value* to, const Set& set) {
    Set& mine = from_[to];
    if (mine.empty()) mine.assign(set.size(), false);
    for (size_t i = 0; i < set.size(); ++i)
      if (set[i] && !mine[i]) {
        mine[i] = true;
        changed_ = true;
      }
  }
  void flow(const Value* to, const Value* from) {
    auto it = from_.find(from);
    if (it != from_.end()) {
      Set copy = it->second;
      add(to, copy);
    }
  }

  void visit(const Operation& op) {
    std::string_view name = op.name;
    if (name == "scf.for") {
      const Block& body = *op.regions[0]->blocks[0];
      for (size_t i = 0; i < op.results.size(); ++i) {
        const Value* carried = body.arguments[i + 1].get();
        flow(carried, op.operands[i + 3]);
        flow(carried, body.operations.back()->operands[i]);
        flow(op.results[i].get(), carried);
      }
    } else if (name == "scf.while") {
      const Block& before = *op.regions[0]->blocks[0];
      const Block& after = *op.regions[1]->blocks[0];
      for (size_t i = 0; i < before.arguments.size(); ++i) {
        flow(before.arguments[i].get(), op.operands[i]);
        flow(before.arguments[i].get(), after.operations.back()->operands[i]);
      }
      for (size_t i = 0; i < after.arguments.size(); ++i) {
        flow(after.arguments[i].get(), before.operations.back()->operands[i + 1]);
        flow(op.results[i].get(), before.operations.back()->operands[i + 1]);
      }
    } else if (name == "scf.if") {
      for (auto& region : op.regions)
        if (!region->empty())
          for (size_t i = 0; i < op.results.size(); ++i)
            flow(op.results[i].get(), region->blocks[0]->operations.back()->operands[i]);
    } else if (name == "tile.call") {
      const Operation* callee = module_.function(op.string("callee"));
      if (!callee || callee->regions.empty() || callee->regions[0]->empty()) return;
      const Block& entry = *callee->regions[0]->blocks[0];
      for (size_t i = 0; i < op.operands.size() && i < entry.arguments.size(); ++i)
        flow(entry.arguments[i].get(), op.operands[i]);
      for (auto& block : callee->regions[0]->blocks)
        if (!block->operations.empty() && block->operations.back()->name == "tile.return")
          for (size_t i = 0; i < op.results.size(); ++i)
            flow(op.results[i].get(), block->operations.back()->operands[i]);
    } else if (name == "tile.load" || name == "tile.view_load" || name == "tile.view_gather") {
      if (op.result()->type.elementType().isPointer()) add(op.result(), unknown_);
    } else if (name == "tile.int_to_ptr") {
      add(op.result(), unknown_);
      flow(op.result(), op.operands[0]);
    } else {
      for (auto& successor : op.successors)
        for (size_t i = 0; i < successor.operands.size(); ++i)
          flow(successor.block->arguments[i].get(), successor.operands[i]);
      for (auto& result : op.results)
        for (const Value* operand : op.operands) flow(result.get(), operand);
    }
  }

  void note(const Value* pointer, bool load, bool store) {
    auto it = from_.find(pointer);
    if (it == from_.end() || it->second.back()) {
      effects_.unknown = true;
      if (it == from_.end()) return;
    }
    for (size_t i = 0; i + 1 < it->second.size(); ++i)
      if (it->second[i]) {
        if (load) effects_.loaded[i] = true;
        if (store) effects_.stored[i] = true;
      }
  }

  const ir::Module& module_;
  const Operation* entry_;
  std::unordered_map<const Value*, Set> from_;
  Set unknown_;
  bool changed_ = false;
  Effects effects_;
};

}  // namespace

Effects effects(const ir::Module& module) {
  if (!module.entry()) return {};
  return Origins(module).run();
}

}  // namespace tilesight::plan
