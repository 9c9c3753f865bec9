// A trace on disk that this process's launches are recorded in.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "binding.h"
#include "record/recorder.h"

namespace tilesight::binding {

class TraceFolder {
 public:
  /// `shared`: other processes write to the folder, too. `data`: what its bundles carry: all, indices or none. Errors
  /// (thrown): it cannot be made, or there is something in it.
  TraceFolder(const std::string& path, bool shared, const std::string& data);
  /// A forked child has a copy of this, whose files are its parent's: it leaves them alone.
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  /// The client that records a launch, which is about to run; none if it cannot be recorded, or nothing can be any more.
  std::optional<exec::ClientInstance> begin(const std::shared_ptr<const exec::Kernel>& kernel, const launch::Launch& launch, uint32_t number);
  /// It has run, or not (`report` is null). `before`: as it was before it ran; null: that is gone, and of `launch` all but
  /// the data is kept. Neither throws: problem() says what went wrong.
  void end(const launch::Launch& launch, const launch::Launch* before, const findings::LaunchReport* report);
  void finish();
  /// Why not all is there, or "".
  const std::string& problem() const { return problem_; }

 private:
  void note(const Status& status);

  std::unique_ptr<record::Recorder> recorder_;
  launch::BundleWriter::Data data_;
  int64_t process_;
  std::string problem_;
};

void defineTraceFolder(nanobind::module_& module);

}  // namespace tilesight::binding
