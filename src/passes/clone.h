// Copies of operations and modules.
#pragma once

#include <unordered_map>

#include "ir/operation.h"

namespace tilesight::passes {

/// What stands for what in a copy. Values and blocks that are not in it stand for themselves.
struct Mapping {
  std::unordered_map<const ir::Value*, ir::Value*> values;
  std::unordered_map<const ir::Block*, ir::Block*> blocks;
  ir::Value* operator()(ir::Value* value) const;
  ir::Block* operator()(ir::Block* block) const;
};

/// A copy of `op` and all in it, in no block; its results and blocks are added to `mapping`. With
/// `keepsText` the copy stands for the same text (see text/splice.h), else it counts as new.
std::unique_ptr<ir::Operation> clone(const ir::Operation& op, Mapping& mapping, bool keepsText);

/// A copy in the same context, which stands for the same text.
ir::Module clone(const ir::Module& module);

}  // namespace tilesight::passes
