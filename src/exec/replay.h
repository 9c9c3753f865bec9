// Every alarm again, from its one program alone.
#pragma once

#include <string>
#include <vector>

#include "exec/run.h"

namespace tilesight::exec {

struct Replayed {
  findings::Finding finding;  // as the launch gave it
  std::string difference;     // how its program, run alone, said otherwise; "": it said the same
};

/// Runs the launch (in place on its storages), then for each finding of a program that program alone, on what it
/// read the first time. The same finding is one of the same kind, place, operation, iterations, tile element and
/// tensor element. Findings that no program makes by itself (deadlocks, limits of the launch) are left out.
/// `options` says what a run is told; its clients must not have a state yet. Errors: those of run().
Result<std::vector<Replayed>> replayFindings(const Kernel& kernel, const launch::Launch& launch, const RunOptions& options);

}  // namespace tilesight::exec
