// Where a value may be used: after its definition, in blocks that its block dominates, and in the
// regions of operations there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/operation.h"

namespace tilesight::ir {

class Dominance {
 public:
  /// Prepares one region; regions around it must have been entered before.
  void enter(const Region& region);

  /// True if `value` is defined wherever `user` runs. Uses in unreachable blocks are always fine
  /// with respect to order, as in MLIR. Both are in regions that were entered.
  bool reaches(const Value& value, const Operation& user) const;

 private:
  struct BlockNode {
    // The part of the dominator tree below this block is numbered first..last.
    uint32_t first = 0, last = 0;
    bool reachable = false;
  };
  bool dominates(const Block* above, const Block* below) const;

  std::unordered_map<const Block*, BlockNode> blocks_;
  std::unordered_map<const Operation*, uint32_t> positions_;  // in their blocks
};

}  // namespace tilesight::ir
