// Emits the linear program of an entry function.
#pragma once

#include "plan/need.h"
#include "plan/plan.h"

namespace tilesight::plan {

Result<Program> build(const ir::Module& module, const Need& need, const PlanOptions& options);

}  // namespace tilesight::plan
