#include "trace_folder.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "report.h"
#include "record/reader.h"
#include "support/system.h"

namespace nb = nanobind;

namespace tilesight::binding {

using Data = launch::BundleWriter::Data;

TraceFolder::TraceFolder(const std::string& path, bool shared, const std::string& data)
    : recorder_(valueOf(record::Recorder::open(path, {.shared = shared}))),
      data_(data == "none" ? Data::None : data == "indices" ? Data::Indices : Data::All),
      process_(support::processId()) {}

TraceFolder::~TraceFolder() {
  if (process_ != support::processId()) (void)recorder_.release();
}

void TraceFolder::note(const Status& status) {
  if (!status && problem_.empty()) problem_ = textOf(status.error());
}

std::optional<exec::ClientInstance> TraceFolder::begin(const std::shared_ptr<const exec::Kernel>& kernel,
                                                       const launch::Launch& launch, uint32_t number) {
  if (recorder_->failed()) return std::nullopt;
  auto client = recorder_->begin(kernel, launch, number);
  if (client) return *client;
  note(failure(client.error()));
  return std::nullopt;
}

void TraceFolder::end(const launch::Launch& launch, const launch::Launch* before, const findings::LaunchReport* report) {
  if (report && !recorder_->failed()) note(before ? recorder_->keep(*before, data_) : recorder_->keep(launch, Data::None));
  note(recorder_->end(report, ""));
}

void TraceFolder::finish() {
  if (process_ == support::processId()) note(recorder_->finish());
}

namespace {

/// Runs a launch that is over once more, on a copy of its inputs, and records that.
void record(TraceFolder& folder, const Report& report) {
  if (!report.kernel || !report.inputs)
    throw Error("the inputs of a launch of " + report.launch.kernel +
                " are gone: ask for client=\"tracer\", or set ts.config.keep_inputs before it");
  const auto inputs = report.inputs.get();
  const auto again = copyOf(*inputs);
  const auto client = folder.begin(report.kernel, *again, report.launch.launch);
  if (client) {
    try {
      exec::RunOptions options;
      options.clients = {*client};
      runReleased(*report.kernel, *again, options);
    } catch (...) {
      folder.end(*again, nullptr, nullptr);
      throw;
    }
    folder.end(*again, inputs.get(), &report.launch);
  }
  if (!folder.problem().empty()) throw Error(folder.problem());
}

/// How many launches a trace has rows of.
int64_t launchesIn(const std::string& path) {
  int64_t count = 0;
  const auto trace = valueOf(record::Trace::open(path));
  check(trace.each(record::Table::Launches, [&](const arrow::Batch& batch) -> Status {
    count += batch.rows;
    return {};
  }));
  return count;
}

}  // namespace

void defineTraceFolder(nb::module_& module) {
  nb::class_<TraceFolder>(module, "TraceFolder", "A trace that launches are recorded in.")
      .def(nb::init<const std::string&, bool, const std::string&>(), nb::arg("path"), nb::arg("shared"), nb::arg("data"))
      .def("record", &record, nb::arg("report"), "Runs a launch that is over once more, and records it.")
      .def("finish", &TraceFolder::finish, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("problem", &TraceFolder::problem);
  module.def("launches_in_trace", &launchesIn, nb::arg("path"), "How many launches a trace has rows of.");
}

}  // namespace tilesight::binding
