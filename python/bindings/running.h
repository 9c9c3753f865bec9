// The clients of one launch while it runs.
#pragma once

#include <memory>
#include <vector>

#include "binding.h"
#include "client.h"
#include "report.h"

namespace tilesight::binding {

class Clients {
 public:
  /// `chosen`: names and tilesight.Client objects. Errors (thrown): what is no client. `launch` must
  /// outlive this. The GIL is held.
  Clients(const nanobind::list& chosen, const std::shared_ptr<const exec::Kernel>& kernel,
          const launch::Launch& launch);

  const std::vector<exec::ClientInstance>& instances() const { return instances_; }
  /// After the run, with the GIL: what the clients leave in the report.
  void finish(Report& report);

 private:
  const launch::Launch& launch_;
  std::vector<std::unique_ptr<PythonClient>> python_;
  std::shared_ptr<TracerInstance> tracer_;
  std::vector<exec::ClientInstance> instances_;
};

}  // namespace tilesight::binding
