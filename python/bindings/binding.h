// What the files of the module share.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "exec/run.h"
#include "findings/finding.h"
#include "launch/launch.h"
#include "support/result.h"

namespace tilesight::binding {

/// Becomes tilesight.Error in Python.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Becomes tilesight.InternalError.
struct InternalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a launch without the GIL. Errors are thrown.
findings::LaunchReport runReleased(const exec::Kernel& kernel, const launch::Launch& launch,
                                   exec::RunOptions options);

/// What an Error says: the place, if there is one, the message and the remedy.
std::string textOf(const Diagnostic& diagnostic);

/// The value of a result, or its diagnostic as an Error.
template <typename T>
T valueOf(Result<T> result) {
  if (!result) throw Error(textOf(result.error()));
  return std::move(*result);
}
void check(const Status& status);

/// A compiled kernel with what its launches have in common.
struct Kernel {
  std::shared_ptr<const exec::Kernel> compiled;
  launch::Launch prototype;  // no arguments, no storages
};

class TracerInstance;

/// The report of one launch; its inputs as they were before it ran, if they were kept; what the tracer
/// recorded, if it was on.
struct Report;

/// One launch report as JSON text for the `run` command, and back.
std::string toWire(const findings::LaunchReport& report);
findings::LaunchReport fromWire(const std::string& text);

void defineKernel(nanobind::module_& module);
void defineLaunch(nanobind::module_& module);
void defineReport(nanobind::module_& module);
void defineSession(nanobind::module_& module);
void defineBundle(nanobind::module_& module);
void defineValues(nanobind::module_& module);
void defineStories(nanobind::module_& module);
void definePasses(nanobind::module_& module);

}  // namespace tilesight::binding
