#include "ir/dominance.h"

#include "dialects/table.h"

namespace tilesight::ir {

namespace {

/// Blocks in reverse postorder from the entry; an explicit stack, because texts can be long.
std::vector<const Block*> reversePostorder(const Region& region) {
  struct Frame {
    const Block* block;
    size_t next = 0;
  };
  std::vector<const Block*> order;
  std::unordered_map<const Block*, bool> seen;
  std::vector<Frame> stack{{region.blocks[0].get()}};
  seen.emplace(region.blocks[0].get(), true);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const Operation* last = frame.block->operations.empty() ? nullptr : frame.block->operations.back().get();
    if (last && frame.next < last->successors.size()) {
      const Block* to = last->successors[frame.next++].block;
      if (to && to->parent == &region && seen.emplace(to, true).second) stack.push_back({to});
    } else {
      order.push_back(frame.block);
      stack.pop_back();
    }
  }
  return {order.rbegin(), order.rend()};
}

}  // namespace

/// Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm".
void Dominance::enter(const Region& region) {
  for (const auto& block : region.blocks) {
    blocks_[block.get()] = {};
    uint32_t position = 0;
    for (const auto& op : block->operations) positions_[op.get()] = position++;
  }
  if (region.blocks.empty()) return;
  const std::vector<const Block*> order = reversePostorder(region);
  std::vector<std::vector<uint32_t>> predecessors(order.size());
  std::unordered_map<const Block*, uint32_t> numbers;
  for (uint32_t i = 0; i < order.size(); ++i) numbers.emplace(order[i], i);
  for (uint32_t i = 0; i < order.size(); ++i) {
    if (order[i]->operations.empty()) continue;
    for (const Successor& successor : order[i]->operations.back()->successors)
      if (successor.block && successor.block->parent == &region)
        predecessors[numbers.at(successor.block)].push_back(i);
  }
  constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> dominator(order.size(), none);
  dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < order.size(); ++i) {
      uint32_t best = none;
      for (uint32_t p : predecessors[i]) {
        if (dominator[p] == none) continue;
        if (best == none) {
          best = p;
          continue;
        }
        uint32_t a = p;
        while (a != best) {
          while (a > best) a = dominator[a];
          while (best > a) best = dominator[best];
        }
      }
      if (best != dominator[i]) {
        dominator[i] = best;
        changed = true;
      }
    }
  }
  // Blocks come after their dominators in this order: subtree sizes bottom up, numbers top down.
  std::vector<uint32_t> size(order.size(), 1), next(order.size());
  for (uint32_t i = static_cast<uint32_t>(order.size()); i-- > 1;) size[dominator[i]] += size[i];
  for (uint32_t i = 0; i < order.size(); ++i) {
    uint32_t first = 0;
    if (i) {
      first = next[dominator[i]];
      next[dominator[i]] += size[i];
    }
    next[i] = first + 1;
    blocks_[order[i]] = {first, first + size[i] - 1, true};
  }
}

bool Dominance::dominates(const Block* above, const Block* below) const {
  auto low = blocks_.find(below), high = blocks_.find(above);
  if (low == blocks_.end() || high == blocks_.end()) return false;
  if (!low->second.reachable) return true;
  return high->second.reachable && high->second.first <= low->second.first && low->second.last <= high->second.last;
}

bool Dominance::reaches(const Value& value, const Operation& user) const {
  const Block* home = value.block ? value.block : (value.owner ? value.owner->parent : nullptr);
  if (!home) return false;
  const Operation* op = &user;
  while (op && op->parent && op->parent->parent != home->parent) {
    const Operation* parent = op->parentOp();
    if (parent && parent->info && parent->info->has(dialects::Trait::Isolated)) return false;
    op = parent;
  }
  if (!op || !op->parent) return false;
  if (op->parent != home) return dominates(home, op->parent);
  if (value.block) return true;
  auto definition = positions_.find(value.owner), use = positions_.find(op);
  if (definition == positions_.end() || use == positions_.end()) return false;
  if (definition->second < use->second) return true;
  // Code that never runs may be in any order.
  auto node = blocks_.find(home);
  return node != blocks_.end() && !node->second.reachable && op != value.owner;
}

}  // namespace tilesight::ir
