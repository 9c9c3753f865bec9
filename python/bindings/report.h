// The report of one launch, with what can be asked about it later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "binding.h"
#include "trace.h"
#include "values.h"

namespace tilesight::binding {

/// `inputs` as they were before it ran, if they were kept; `trace` is what the tracer recorded, if it was on.
struct Report {

  findings::LaunchReport launch;
  Inputs inputs;
  uint64_t inputBytes = 0;
  std::shared_ptr<const exec::Kernel> kernel;  // null: it was not executed
  std::shared_ptr<trace::Values> values;       // once they were asked for
  std::shared_ptr<TracerInstance> trace;
  std::vector<std::string> arguments;  // names, where there is a trace
};

}  // namespace tilesight::binding
