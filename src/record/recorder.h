// Records launches as a trace: tables on disk, while they run.
#pragma once

#include <memory>
#include <string>

#include "exec/run.h"
#include "findings/finding.h"
#include "launch/launch.h"
#include "record/folder.h"
#include "record/kept.h"

namespace tilesight::record {

struct RecorderOptions {
  bool elements = false;  // the cells of accesses without a formula, one by one
  bool shared = false;    // other processes write to the folder, too: launches have numbers of their own; what is older
                          // than a second is on disk, whatever becomes of this process
};

class Recorder {
 public:
  /// Makes the folder of a trace. Errors: see Folder::create.
  static Result<std::unique_ptr<Recorder>> open(const std::string& folder, const RecorderOptions& options = {});
  ~Recorder();

  /// The client that records the launch; run it with this one, once, then call end(). One launch at a time. Errors: a grid
  /// that is too large.
  Result<exec::ClientInstance> begin(std::shared_ptr<const exec::Kernel> kernel, const launch::Launch& launch, uint32_t number);
  /// Keeps the launch that was begun, as a bundle in the trace; `before`: as it was before it ran. Errors: a full disk
  /// and the like, which end() says again.
  Status keep(const launch::Launch& before, launch::BundleWriter::Data data);
  /// The launch has run, or not (`report` is null). `bundle`: where it came from, or "". Errors: a full disk and the like.
  Status end(const findings::LaunchReport* report, const std::string& bundle);
  /// Nothing more can be written: the launch need not go on. From any thread.
  bool failed() const;
  /// Writes all that is left. Without it, what is not whole is not there.
  Status finish();

  struct Totals {
    uint64_t launches = 0, programs = 0, accesses = 0, findings = 0, bytes = 0;
  };
  Totals totals() const;

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilesight::record
