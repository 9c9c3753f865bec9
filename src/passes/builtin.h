// The passes that are built in.
#pragma once

#include "passes/pass.h"

namespace tilesight::passes {

/// Calls are replaced by what they call; private functions that nobody calls then go.
Pass inlinePass();
/// Constants are folded, operations that change nothing and code that cannot be reached go.
Pass canonicalizePass();
/// Operations that compute what another one above has computed go.
Pass csePass();
/// Operations whose results nothing uses go.
Pass dcePass();
/// Operations that compute the same in every iteration move out of the loop.
Pass licmPass();

/// Erases what nothing uses; the number of operations erased.
size_t eraseDead(Rewriter& rewriter);
/// Blocks that can be reached from the entry of `region`, entry first.
std::vector<ir::Block*> reachableBlocks(const ir::Region& region);

}  // namespace tilesight::passes
