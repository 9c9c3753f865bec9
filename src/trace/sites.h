// The places of a kernel where values appear, from its executable form.
#pragma once

#include <vector>

#include "exec/kernel.h"
#include "trace/values.h"

namespace tilesight::trace {

struct SiteTable {
  std::vector<Site> sites;
  std::vector<int32_t> ofInstr;  // by position in Program::code: index in sites, or -1

  int32_t siteOf(const exec::CompiledPlan& plan, const plan::Instr& instr) const {
    return ofInstr[static_cast<size_t>(&instr - plan.program.code.data())];
  }
};

/// `plan`: with PlanOptions::everything.
SiteTable sitesOf(const exec::Kernel& kernel, const exec::CompiledPlan& plan);

}  // namespace tilesight::trace
