// What the tracer recorded, for Python.
#pragma once

#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "clients/tracer/tracer.h"
#include "exec/run.h"
#include "launch/launch.h"

namespace tilesight::binding {

/// An instance of the tracer that outlives its run.
class TracerInstance {
 public:
  explicit TracerInstance(std::shared_ptr<const exec::Kernel> kernel);
  ~TracerInstance();
  TracerInstance(const TracerInstance&) = delete;
  TracerInstance& operator=(const TracerInstance&) = delete;

  void* self() const { return self_; }
  const clients::Trace& trace() const { return clients::traceOf(self_); }
  size_t size() const { return clients::traceRecords(self_); }
  const exec::Kernel& kernel() const { return *kernel_; }

 private:
  std::shared_ptr<const exec::Kernel> kernel_;
  void* self_;
};

/// A copy of a launch with memory of its own, whole also where pages lie elsewhere. `written`, if given:
/// only these storages are copied, the others are shared with `launch`.
std::shared_ptr<launch::Launch> copyOf(const launch::Launch& launch, const std::vector<bool>* written = nullptr);

void defineTrace(nanobind::module_& module);

}  // namespace tilesight::binding
