#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "dialects/table.h"
#include "passes/builtin.h"

namespace tilesight::passes {

namespace {

using dialects::Trait;

bool isCall(const ir::Operation& op) { return op.info && op.info->has(Trait::Call); }
bool isFunction(const ir::Operation& op) { return op.info && op.info->has(Trait::Function); }
bool isReturn(const ir::Operation& op) { return op.name == "tt.return" || op.name == "tile.return"; }

class Inliner {
 public:
  explicit Inliner(PassContext& context) : context_(context), rewriter_(context.rewriter) {}

  void run() {
    for (auto& op : context_.module().body().operations)
      if (isFunction(*op)) functions_.push_back(op.get());
    for (ir::Operation* function : functions_) visit(function);
    eraseUncalled();
  }

 private:
  /// Callees first, so that what is copied holds no calls that can be inlined.
  void visit(ir::Operation* function) {
    if (!state_.emplace(function, 1).second) return;
    std::vector<ir::Operation*> calls;
    ir::walk(*function, [&](ir::Operation& op) {
      if (isCall(op)) calls.push_back(&op);
      return true;
    });
    for (ir::Operation* call : calls)
      if (ir::Operation* callee = context_.module().function(call->string("callee"))) visit(callee);
    for (ir::Operation* call : calls) expand(call);
    state_[function] = 2;
  }

  bool callsItself(ir::Operation& function) {
    std::vector<ir::Operation*> seen = {&function};
    for (size_t i = 0; i < seen.size(); ++i) {
      bool again = false;
      ir::walk(*seen[i], [&](ir::Operation& op) {
        ir::Operation* next = isCall(op) ? context_.module().function(op.string("callee")) : nullptr;
        again = again || next == &function;
        if (next && std::find(seen.begin(), seen.end(), next) == seen.end()) seen.push_back(next);
        return true;
      });
      if (again) return true;
    }
    return false;
  }

  void expand(ir::Operation* call) {
    ir::Operation* callee = context_.module().function(call->string("callee"));
    const auto refuse = [&](std::string rule, std::string why) {
      context_.refused(*call, std::move(rule), fmt::format("the call of @{} stays: {}", call->string("callee"), why));
    };
    if (!callee || callee->regions.empty() || callee->regions[0]->empty()) return refuse("declaration", "the function has no body here");
    if (callsItself(*callee)) return refuse("recursion", "it calls itself");
    const ir::Attribute noinline = callee->attribute("noinline");
    if (noinline && noinline.asInteger().value_or(1)) return refuse("noinline", "the function says noinline");
    const std::vector<ir::Block*> blocks = reachableBlocks(*callee->regions[0]);
    for (ir::Block* block : blocks)
      for (const auto& op : block->operations)
        if (op->isOpaque() && !op->successors.empty()) return refuse("opaque", fmt::format("'{}' in it is not known", op->name));
    if (blocks.size() == 1) {
      expandStraight(call, *blocks[0]);
    } else {
      ir::Operation* around = call->parentOp();
      if (!around || !isFunction(*around)) return refuse("control-flow", "it branches, and the call stands in a loop or an if");
      expandBranching(call, *callee, blocks);
    }
  }

  /// A location in the callee, seen from the caller.
  void relocate(ir::Operation& op, ir::Location caller) {
    ir::walk(op, [&](ir::Operation& nested) {
      nested.location = at(nested.location, caller);
      for (auto& region : nested.regions)
        for (auto& block : region->blocks)
          for (auto& argument : block->arguments) argument->location = at(argument->location, caller);
      return true;
    });
  }
  ir::Location at(ir::Location callee, ir::Location caller) {
    if (!callee || !caller) return callee;
    return rewriter_.context().callSite(callee, caller);
  }

  void expandStraight(ir::Operation* call, ir::Block& body) {
    Mapping mapping;
    for (size_t i = 0; i < body.arguments.size(); ++i) mapping.values[body.arguments[i].get()] = call->operands[i];
    std::vector<ir::Value*> values;
    for (const auto& op : body.operations) {
      if (isReturn(*op)) {
        for (ir::Value* value : op->operands) values.push_back(mapping(value));
        break;
      }
      relocate(*rewriter_.copy(*op, Point::beforeOp(call), mapping), call->location);
    }
    rewriter_.replace(call, values);
  }

  /// The caller's block is cut at the call; returns become branches to what follows.
  void expandBranching(ir::Operation* call, ir::Operation& callee, const std::vector<ir::Block*>& blocks) {
    ir::Block* before = call->parent;
    ir::Region* region = before->parent;
    ir::Block* after = rewriter_.addBlock(region);
    for (const auto& result : call->results) {
      ir::Value* argument = rewriter_.addArgument(after, result->type, result->name, call->location);
      rewriter_.replaceUses(result.get(), argument);
    }
    Mapping mapping;
    for (size_t i = 0; i < blocks[0]->arguments.size(); ++i) mapping.values[blocks[0]->arguments[i].get()] = call->operands[i];
    std::vector<ir::Block*> copies;
    for (ir::Block* block : blocks) {
      ir::Block* made = rewriter_.addBlock(region);
      mapping.blocks[block] = made;
      copies.push_back(made);
      if (block == blocks[0]) continue;
      for (const auto& argument : block->arguments)
        mapping.values[argument.get()] = rewriter_.addArgument(made, argument->type, argument->name, at(argument->location, call->location));
    }
    // In the order of the text, so that definitions come before uses where they do there.
    std::vector<std::pair<ir::Operation*, const ir::Operation*>> late;
    for (size_t b = 0; b < blocks.size(); ++b)
      for (const auto& op : blocks[b]->operations) {
        if (isReturn(*op)) {
          ir::Operation* branch = rewriter_.create(Point::atEnd(copies[b]), "cf.br", {}, {}, {}, at(op->location, call->location));
          rewriter_.setSuccessors(branch, {{after, op->operands}});
          late.emplace_back(branch, op.get());
          break;
        }
        ir::Operation* made = rewriter_.copy(*op, Point::atEnd(copies[b]), mapping);
        relocate(*made, call->location);
        late.emplace_back(made, op.get());
      }
    // Uses of values that stood further down are mapped now.
    for (auto& [made, original] : late)
      ir::walk(*made, [&](ir::Operation& op) {
        for (uint32_t i = 0; i < op.operands.size(); ++i)
          if (ir::Value* value = mapping(op.operands[i]); value != op.operands[i]) rewriter_.setOperand({&op, -1, i}, value);
        for (uint32_t s = 0; s < op.successors.size(); ++s)
          for (uint32_t i = 0; i < op.successors[s].operands.size(); ++i)
            if (ir::Value* value = mapping(op.successors[s].operands[i]); value != op.successors[s].operands[i])
              rewriter_.setOperand({&op, static_cast<int32_t>(s), i}, value);
        return true;
      });
    (void)callee;
    while (before->operations.back().get() != call) {
      // From the back, each before the one moved last.
      rewriter_.move(before->operations.back().get(), Point::atStart(after));
    }
    ir::Operation* enter = rewriter_.create(Point::beforeOp(call), "cf.br", {}, {}, {}, call->location);
    rewriter_.setSuccessors(enter, {{copies[0], {}}});
    rewriter_.erase(call);
    // Blocks are best read in the order in which they run.
    auto& all = region->blocks;
    const auto taken = static_cast<ptrdiff_t>(copies.size() + 1);
    std::rotate(all.end() - taken, all.end() - taken + 1, all.end());  // `after` behind the copies
    const auto place = std::find_if(all.begin(), all.end(), [&](const auto& block) { return block.get() == before; }) + 1;
    std::rotate(place, all.end() - taken, all.end());
  }

  void eraseUncalled() {
    for (bool changed = true; changed;) {
      changed = false;
      std::unordered_set<std::string> called;
      ir::walk(*context_.module().top, [&](ir::Operation& op) {
        // An operation that is not known may name any function.
        if (isCall(op)) called.insert(std::string(op.string("callee")));
        if (op.isTextOnly)
          for (const ir::Operation* function : functions_)
            if (op.opaqueText.find(std::string(function->string("sym_name"))) != std::string::npos) called.insert(std::string(function->string("sym_name")));
        return true;
      });
      for (auto it = functions_.begin(); it != functions_.end(); ++it)
        if ((*it)->string("sym_visibility") == "private" && !called.count(std::string((*it)->string("sym_name")))) {
          rewriter_.erase(*it);
          functions_.erase(it);
          changed = true;
          break;
        }
    }
  }

  PassContext& context_;
  Rewriter& rewriter_;
  std::vector<ir::Operation*> functions_;
  std::unordered_map<ir::Operation*, int> state_;  // 1: being looked at, 2: done
};

}  // namespace

Pass inlinePass() {
  Pass pass;
  pass.name = "inline";
  pass.summary = "replace calls by what they call";
  pass.run = [](PassContext& context) -> Status {
    Inliner(context).run();
    return {};
  };
  return pass;
}

}  // namespace tilesight::passes
