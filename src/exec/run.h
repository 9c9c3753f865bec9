// Running a launch: the one entry point of the engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/reads.h"
#include "exec/work.h"
#include "findings/finding.h"
#include "launch/launch.h"
#include "support/result.h"
#include "tilesight/client.h"

namespace tilesight::exec {

/// Parsed, lowered and planned once; runs any number of launches, from any thread.
class Kernel;
class Observer;

/// Compiles MLIR text of a Triton kernel. `name` is the file name in diagnostics. Errors: text that
/// does not parse or verify. Operations that cannot be executed are no error here: launches that
/// reach them are `unknown`.
Result<std::shared_ptr<const Kernel>> compile(const std::string& irText, const std::string& name);

struct ClientInstance {
  const ts_client* table = nullptr;
  std::string options;  // JSON object text or ""
  void* self = nullptr;  // set by the caller (create) or null: the run creates and destroys it
  bool foreign = false;  // from outside the tree: what it does wrong ends in the report (guard.h)
};

struct RunOptions {
  std::vector<ClientInstance> clients;
  unsigned threads = 0;      // 0: all cores
  bool addressOnly = false;  // outputs are computed only if a client needs values
  /// Run only this many programs, the first ones in order; 0: all of the grid.
  int64_t firstPrograms = 0;
  /// A program that takes more loop iterations than this ends the launch as unknown; 0: no limit.
  uint64_t iterationLimit = 0;
  /// Seconds after which the launch is stopped, as unknown; 0: no limit.
  double timeLimit = 0;
  /// Asked about every 50 ms on the calling thread; true stops the launch, as unknown. May be empty.
  std::function<bool()> interrupted;
  /// For tests: as many ranges of programs as may be run side by side, whatever the work is worth.
  bool alwaysDivide = false;
  /// ..., and at most so many, if it is not 0.
  size_t ranges = 0;
  /// Gets how the launch was run; may be null.
  Work* work = nullptr;
  /// Gets what the programs read that are witnesses of findings; may be null.
  ReadsOfPrograms* keepReads = nullptr;
  /// ..., and what all others read.
  bool keepAllReads = false;
  /// Runs these programs only, each alone: it reads what it read before, and writes nothing. What the launch cannot
  /// write is read from its storages. Null: all programs run.
  const ReadsOfPrograms* replay = nullptr;
  /// Sees all that the programs do, operation by operation (observer.h). With `replay` only. May be null.
  Observer* observer = nullptr;
  /// What the programs print is dropped.
  bool silent = false;
};

/// Runs all programs of `launch` (x fastest) in place on its storages, on one thread if one that is written shares
/// memory with another. Errors: arguments that do not
/// fit the kernel's parameters. Everything that happens inside the kernel is in the report.
Result<findings::LaunchReport> run(const Kernel& kernel, const launch::Launch& launch,
                                   const RunOptions& options);

/// The functions clients may call from their hooks.
const ts_host& host();

/// For `tilesight info`.
struct KernelInfo {
  std::string name;
  struct Parameter { std::string name, type; };
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, uint32_t>> opCounts;  // source-dialect op name -> count, by count
  std::vector<findings::Unknown> notExecutable;
};
KernelInfo info(const Kernel& kernel);

}  // namespace tilesight::exec
