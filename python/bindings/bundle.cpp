// Bundles: launches on disk.
#include <unordered_map>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "exec/replay.h"
#include "launch/bundle.h"
#include "report.h"
#include "running.h"
#include "tools/client_names.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using launch::BundleReader;
using launch::BundleWriter;

void add(BundleWriter& writer, const Report& report, const std::string& data) {
  if (!report.inputs) throw Error("the inputs of a launch of " + report.launch.kernel + " are gone");
  using Data = BundleWriter::Data;
  check(writer.add(*report.inputs.whole(), data == "none" ? Data::None : data == "indices" ? Data::Indices : Data::All));
}

std::vector<Report> runBundle(const std::string& path, const nb::list& clients, unsigned threads,
                              bool addressOnly, uint32_t numSms, uint64_t seed, double timeLimit) {
  const auto reader = std::make_shared<BundleReader>(valueOf(BundleReader::open(path)));
  const BundleReader& bundle = *reader;
  std::unordered_map<std::string, std::shared_ptr<const exec::Kernel>> kernels;
  std::vector<Report> reports;
  for (size_t i = 0; i < bundle.launches(); ++i) {
    launch::Launch launch = valueOf(bundle.launch(i));
    if (numSms) launch.numSms = numSms;
    if (seed) launch.seed = seed;
    auto& kernel = kernels[launch.irText];
    if (!kernel) kernel = valueOf(exec::compile(launch.irText, launch.irName));
    Clients running(clients, kernel, launch);
    exec::RunOptions options;
    options.clients = running.instances();
    options.threads = threads;
    options.addressOnly = addressOnly;
    options.timeLimit = timeLimit;
    Report report;
    report.launch = runReleased(*kernel, launch, options);
    report.kernel = kernel;
    report.inputs = Inputs::later([reader, i, numSms, seed]() -> Result<launch::Launch> {
      auto before = reader->launch(i);
      if (before && numSms) before->numSms = numSms;
      if (before && seed) before->seed = seed;
      return before;
    });
    running.finish(report);
    report.launch.launch = launch.index;
    for (findings::Finding& finding : report.launch.findings) {
      finding.launch = launch.index;
      finding.bundle = path;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

/// For each finding of the bundle's launches: (kind, line, what its program said otherwise when it ran alone).
nb::list replayFindings(const std::string& path, const std::vector<std::string>& clients, unsigned threads) {
  const BundleReader bundle = valueOf(BundleReader::open(path));
  nb::list result;
  for (size_t i = 0; i < bundle.launches(); ++i) {
    const launch::Launch launch = valueOf(bundle.launch(i));
    exec::RunOptions options;
    options.clients = valueOf(tools::clientsNamed(clients));
    options.threads = threads;
    const auto kernel = valueOf(exec::compile(launch.irText, launch.irName));
    for (const exec::Replayed& replayed : valueOf(exec::replayFindings(*kernel, launch, options)))
      result.append(nb::make_tuple(replayed.finding.kind, replayed.finding.location.line, replayed.difference));
  }
  return result;
}

/// One bundle with the launches of several, in order.
void mergeBundles(const std::vector<std::string>& paths, const std::string& into) {
  BundleWriter writer = valueOf(BundleWriter::open(into));
  for (const std::string& path : paths) {
    const BundleReader bundle = valueOf(BundleReader::open(path));
    for (size_t i = 0; i < bundle.launches(); ++i) check(writer.add(valueOf(bundle.launch(i))));
  }
  check(writer.finish());
}

}  // namespace

void defineBundle(nb::module_& module) {
  nb::class_<BundleWriter>(module, "BundleWriter", "Writes a bundle: whole, or not at all.")
      .def("__init__", [](BundleWriter* place, const std::string& path) {
        new (place) BundleWriter(valueOf(BundleWriter::open(path)));
      })
      .def("add", &add, nb::arg("report"), nb::arg("data") = "all")
      .def_prop_ro("bytes", &BundleWriter::bytes)
      .def("finish", [](BundleWriter& writer) { check(writer.finish()); });
  module.def("merge_bundles", &mergeBundles, nb::arg("paths"), nb::arg("into"),
             nb::call_guard<nb::gil_scoped_release>(), "Writes the launches of bundles as one.");
  module.def("run_bundle", &runBundle, nb::arg("path"), nb::arg("clients"), nb::arg("threads"),
             nb::arg("address_only"), nb::arg("num_sms"), nb::arg("seed"), nb::arg("time_limit"),
             "Runs the launches of a bundle; returns their reports. num_sms and seed 0: as recorded.");
  module.def("replay_findings", &replayFindings, nb::arg("path"), nb::arg("clients"), nb::arg("threads"),
             "Runs the launches of a bundle, and the program of each finding once more, alone, on what it read. A list of "
             "(kind, line, difference), \"\" where it was the same.");
}

}  // namespace tilesight::binding
