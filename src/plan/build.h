// Emits the linear program of an entry function.
#pragma once

#include "plan/need.h"
#include "plan/plan.h"

namespace tilesight::plan {

/// `need`: what is computed; `used`: what the whole kernel would need by itself.
Result<Program> build(const ir::Module& module, const Need& need, const Need& used, const PlanOptions& options);

}  // namespace tilesight::plan
