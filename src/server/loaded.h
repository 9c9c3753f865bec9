// One launch of a bundle: what all views of it are made from. It is read and compiled first, which is enough to step through
// its programs; then it runs once, with the clients.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/run.h"
#include "findings/session.h"
#include "launch/launch.h"
#include "server/survey.h"
#include "trace/slice.h"
#include "trace/values.h"

namespace tilesight::server {

/// The kernel's text as it is shown: values under their own names, else under those of the user's variables; no locations.
struct ShownOp {
  uint32_t number = 0;   // pre-order
  uint32_t line = 0;     // of the shown text, from 1
  std::string operation, variable, file;
  uint32_t fileLine = 0, column = 0;
};
struct ShownText {
  std::string text;
  std::vector<ShownOp> ops;
};

/// What is known when the launch has run.
struct Surveyed {
  std::shared_ptr<const launch::Launch> after;  // its storages as it left them
  findings::Session session;
  findings::LaunchReport report;  // `findings` are in the session, merged
  std::unique_ptr<const Survey> survey;
};

class Loaded {
 public:
  /// Reads launch `index` of the bundle and compiles its kernel. Errors: as `tilesight check` has them.
  static Result<std::shared_ptr<Loaded>> open(const std::string& bundle, size_t index);
  /// Runs it; `cancelled`, which is asked now and then, gives up: false. Call it once. Errors: as `tilesight check` has them.
  Result<bool> survey(const std::function<bool()>& cancelled);

  std::string bundle;
  size_t index = 0;
  std::shared_ptr<const launch::Launch> before;  // as it was before it ran
  std::shared_ptr<const exec::Kernel> kernel;
  ShownText shown;
  const launch::Launch& launch() const { return *before; }

  /// Null until it has run.
  const Surveyed* surveyed() const { return hasRun_.load(std::memory_order_acquire) ? &surveyed_ : nullptr; }
  /// Programs that have run so far.
  int64_t programsDone() const { return std::min(done_.load(), programs()); }

  /// Any value of any program; made at the first call. Errors: what trace::Values says.
  Result<std::shared_ptr<trace::Values>> values() const;
  /// What the programs read of memory that programs write: what a replay of one needs. Empty if none does.
  Result<std::shared_ptr<const exec::ReadsOfPrograms>> reads() const;
  /// Runs these programs again, each alone, under clients. Errors: as those of values().
  Result<findings::LaunchReport> replay(const std::vector<int64_t>& programs, std::vector<exec::ClientInstance> clients) const;
  /// What is known of a part of the grid, "0-3,2-5" (footprint.h): its programs run again, each alone; the last few parts are
  /// kept. Call it when the launch has run. Errors: no such part, or as those of values().
  Result<std::shared_ptr<const Surveyed>> part(const std::string& brush) const;
  /// What program wrote an element of a tensor last, and where its value came from; the last few answers are kept. Errors:
  /// no such element, nobody writes it, or what trace::followStore says.
  Result<std::shared_ptr<const trace::Written>> written(size_t argument, const std::vector<int64_t>& index) const;
  std::array<int64_t, 3> programId(int64_t number) const {
    const auto& grid = before->grid;
    return {number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])};
  }
  int64_t programs() const { return before->grid[0] * before->grid[1] * before->grid[2]; }

 private:
  Loaded() = default;
  void finish(Surveyed& surveyed, std::unique_ptr<Survey> survey, findings::LaunchReport report) const;

  Surveyed surveyed_;
  std::atomic<bool> hasRun_{false};
  std::atomic<int64_t> done_{0};
  mutable std::mutex valuesMutex_;
  mutable std::shared_ptr<trace::Values> values_;
  mutable std::shared_ptr<const exec::ReadsOfPrograms> reads_;
  struct Followed {
    size_t argument = 0;
    std::vector<int64_t> index;
    std::shared_ptr<const trace::Written> written;
  };
  mutable std::mutex followedMutex_;
  mutable std::deque<Followed> followed_;
  mutable std::mutex partsMutex_;
  mutable std::deque<std::pair<std::string, std::shared_ptr<const Surveyed>>> parts_;
};

}  // namespace tilesight::server
