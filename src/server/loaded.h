// One launch of a bundle, run once with the clients: what all views of it are made from.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "clients/tracer/tracer.h"
#include "exec/run.h"
#include "findings/session.h"
#include "launch/bundle.h"
#include "launch/launch.h"
#include "server/survey.h"
#include "trace/slice.h"
#include "trace/values.h"

namespace tilesight::server {

/// The kernel's text as it is shown: values under the names of the user's variables, no locations.
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

class Loaded {
 public:
  /// Reads launch `index` of the bundle and runs it. Errors: as `tilesight check` has them.
  static Result<std::shared_ptr<const Loaded>> load(const std::string& bundle, size_t index);
  ~Loaded();

  std::string bundle;
  size_t index = 0;
  launch::Launch launch;  // its storages as the launch left them
  std::shared_ptr<const exec::Kernel> kernel;
  findings::Session session;
  findings::LaunchReport report;  // `findings` are in the session, merged
  ShownText shown;
  std::unique_ptr<Survey> survey;

  const clients::Trace& trace() const { return clients::traceOf(tracer_); }
  /// The launch again, as it was before it ran; read at the first call from the file that it was loaded from, whatever
  /// has its name by then.
  Result<std::shared_ptr<const launch::Launch>> before() const;
  /// Any value of any program; made at the first call. Errors: the bundle cannot be read any more, or what trace::Values says.
  Result<std::shared_ptr<trace::Values>> values() const;
  /// What the programs read of memory that programs write: what a replay of one needs. Empty if none does.
  Result<std::shared_ptr<const exec::ReadsOfPrograms>> reads() const;
  /// What program wrote an element of a tensor last, and where its value came from; the last few answers are kept. Errors:
  /// no such element, nobody writes it, or what trace::followStore says.
  Result<std::shared_ptr<const trace::Written>> written(size_t argument, const std::vector<int64_t>& index) const;
  std::array<int64_t, 3> programId(int64_t number) const {
    return {number % launch.grid[0], number / launch.grid[0] % launch.grid[1], number / (launch.grid[0] * launch.grid[1])};
  }
  int64_t programs() const { return launch.grid[0] * launch.grid[1] * launch.grid[2]; }

 private:
  Loaded() = default;
  void* tracer_ = nullptr;
  std::unique_ptr<launch::BundleReader> reader_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const launch::Launch> before_;
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
};

}  // namespace tilesight::server
