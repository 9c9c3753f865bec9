// Backward slicing: which values a run has to compute.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "plan/plan.h"

namespace tilesight::plan {

class Need {
 public:
  /// Roots are addresses and masks of accesses, atomics' operands, asserts, prints and control flow, and
  /// what the options say.
  Need(const ir::Module& module, const PlanOptions& options);
  bool needed(const ir::Value* value) const { return options_.everything || values_.count(value) != 0; }
  bool anyResultNeeded(const ir::Operation& op) const;

 private:
  void visit(const ir::Operation& op);
  void require(const ir::Value* value) { changed_ |= values_.insert(value).second; }

  const ir::Module& module_;
  PlanOptions options_;
  bool changed_ = false;
  std::unordered_set<const ir::Value*> values_;
};

}  // namespace tilesight::plan
