// A compiled kernel: text parsed, lowered and planned once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/run.h"
#include "exec/shape.h"
#include "ir/context.h"
#include "ir/operation.h"
#include "plan/classify.h"
#include "plan/effects.h"
#include "plan/plan.h"

namespace tilesight::exec {

/// A plan with what the machine looks up per slot.
struct CompiledPlan {
  plan::Program program;
  std::vector<const Shape*> slotShapes;
  std::vector<ir::ElementKind> slotKinds;
  std::vector<plan::Extents> extents;  // of products and reductions, by instruction
};

class Kernel {
 public:
  static Result<std::shared_ptr<const Kernel>> compile(const std::string& text, const std::string& name);

  /// The plan for these options, made on first use. Thread-safe.
  Result<const CompiledPlan*> plan(const plan::PlanOptions& options) const;
  /// Which parameters the kernel reads and writes through; found on first use. Thread-safe.
  const plan::Effects& effects() const;
  const ir::Module& source() const { return source_; }
  const ir::Module& common() const { return common_; }
  ShapeTable& shapes() const { return shapes_; }
  /// Operation of the source text by number (pre-order).
  const ir::Operation* operation(uint32_t number) const {
    return number < operations_.size() ? operations_[number] : nullptr;
  }
  std::string name() const;

 private:
  std::unique_ptr<ir::Context> context_;
  ir::Module source_, common_;
  std::vector<const ir::Operation*> operations_;
  mutable ShapeTable shapes_;
  mutable std::mutex mutex_;
  static constexpr int kEverything = 8;
  mutable std::unique_ptr<CompiledPlan> plans_[kEverything + 1];
  mutable std::unique_ptr<plan::Effects> effects_;
};

/// Element kind and shape of a type as the machine holds it (index is i64, views are rank 0).
ir::ElementKind machineKind(ir::Type type);
/// What a pointer, a tile of pointers or a view points to; Invalid for other types.
ir::ElementKind pointeeKind(ir::Type type);

}  // namespace tilesight::exec
