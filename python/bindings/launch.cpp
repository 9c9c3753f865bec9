// Launches: from described arguments (tilesight/capture/arguments.py) to a report.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "findings/ignore_comments.h"
#include "exec/parameters.h"
#include "later_writes.h"
#include "launch/pager.h"
#include "pager.h"
#include "report.h"
#include "running.h"
#include "tools/client_names.h"
#include "trace_folder.h"

namespace nb = nanobind;

namespace tilesight::binding {

Clients::Clients(const nb::list& chosen, const std::shared_ptr<const exec::Kernel>& kernel,
                 const launch::Launch& launch)
    : launch_(launch) {
  std::vector<std::string> names;
  for (nb::handle client : chosen) {
    if (nb::isinstance<nb::str>(client)) names.push_back(nb::cast<std::string>(client));
    else python_.push_back(std::make_unique<PythonClient>(nb::borrow(client), launch));
  }
  instances_ = valueOf(tools::clientsNamed(names));
  for (exec::ClientInstance& instance : instances_)
    if (instance.table == &clients::tracer()) {
      tracer_ = std::make_shared<TracerInstance>(kernel);
      instance.self = tracer_->self();
    }
  for (const auto& client : python_) instances_.push_back(client->instance());
}

findings::LaunchReport runReleased(const exec::Kernel& kernel, const launch::Launch& launch,
                                   exec::RunOptions options) {
  // Python's signal handlers run where they are asked for; what they raise (Ctrl-C) ends the launch.
  std::exception_ptr raised;
  options.interrupted = [&raised] {
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() == 0) return false;
    raised = std::make_exception_ptr(nb::python_error());
    return true;
  };
  try {
    findings::LaunchReport report;
    {
      nb::gil_scoped_release released;
      report = valueOf(exec::run(kernel, launch, options));
    }
    if (raised) std::rethrow_exception(raised);
    return report;
  } catch (const nb::python_error&) {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& fault) {
    throw InternalError("internal error in a launch of " + launch.kernel + ": " + fault.what());
  }
}

void Clients::finish(Report& report) {
  report.launch.clients.clear();
  for (const exec::ClientInstance& instance : instances_) report.launch.clients.emplace_back(instance.table->name);
  report.trace = tracer_;
  if (tracer_) report.launch.traceRecords = tracer_->size();
  if (tracer_)
    for (const launch::Argument& argument : launch_.arguments) report.arguments.push_back(argument.name);
  for (const auto& client : python_) client->finish(report.launch);
  findings::findIgnoreComments(report.launch, launch_.sources);
}

namespace {

ir::ElementKind elementOf(const std::string& name) {
  static const auto* kinds = [] {
    auto* map = new std::unordered_map<std::string, ir::ElementKind>;
    for (int kind = 1; kind <= static_cast<int>(ir::ElementKind::Pointer); ++kind)
      map->emplace(ir::elementName(static_cast<ir::ElementKind>(kind)), static_cast<ir::ElementKind>(kind));
    return map;
  }();
  const auto found = kinds->find(name);
  if (found == kinds->end()) throw Error("there is no element type " + name);
  return found->second;
}

std::vector<int64_t> numbersOf(nb::handle sequence) {
  std::vector<int64_t> numbers;
  for (nb::handle item : sequence) numbers.push_back(nb::cast<int64_t>(item));
  return numbers;
}

/// (kind, name, element, dtype, shape, strides, offset, storage, read-only)
launch::View viewOf(const nb::tuple& row) {
  launch::View view;
  view.element = elementOf(nb::cast<std::string>(row[2]));
  view.dtype = nb::cast<std::string>(row[3]);
  view.shape = numbersOf(row[4]);
  view.strides = numbersOf(row[5]);
  view.offset = nb::cast<int64_t>(row[6]);
  view.storage = nb::cast<uint32_t>(row[7]);
  view.readOnly = nb::cast<bool>(row[8]);
  return view;
}

/// The rows of capture/arguments.py, whose kinds are numbered alike.
launch::Argument argumentOf(const nb::tuple& row) {
  using Kind = launch::Argument::Kind;
  enum { Tensor, Scalar, Descriptor, Specialized };
  launch::Argument argument;
  argument.name = nb::cast<std::string>(row[1]);
  switch (nb::cast<int>(row[0])) {
    case Tensor:
      argument.kind = Kind::Tensor;
      argument.view = viewOf(row);
      argument.hint = nb::cast<std::string>(row[9]);
      break;
    case Scalar:
      argument.kind = Kind::Scalar;
      argument.element = elementOf(nb::cast<std::string>(row[2]));
      argument.bits = nb::cast<uint64_t>(row[3]);
      argument.hint = nb::cast<std::string>(row[4]);
      break;
    case Descriptor:
      argument.kind = Kind::Descriptor;
      argument.view = viewOf(row);
      argument.blockShape = numbersOf(row[9]);
      argument.paddingNan = nb::cast<bool>(row[10]);
      break;
    case Specialized:
      argument.kind = Kind::Specialized;
      argument.text = nb::cast<std::string>(row[2]);
      break;
    default:
      throw Error("an argument of unknown kind");
  }
  return argument;
}

/// (address, bytes, recorded base, known, name, read-only, pager or None, owner)
launch::Storage storageOf(nb::handle row) {
  launch::Storage storage;
  storage.data = reinterpret_cast<uint8_t*>(nb::cast<uintptr_t>(row[0]));
  storage.bytes = nb::cast<uint64_t>(row[1]);
  storage.recordedBase = nb::cast<uint64_t>(row[2]);
  storage.allocationKnown = nb::cast<bool>(row[3]);
  storage.name = nb::cast<std::string>(row[4]);
  storage.readOnly = nb::cast<bool>(row[5]);
  if (!row[6].is_none()) storage.pager = pagerOf(row[6], &storage.owner);
  return storage;
}

}  // namespace

std::shared_ptr<launch::Launch> copyOf(const launch::Launch& launch, const std::vector<bool>* written) {
  auto copy = std::make_shared<launch::Launch>(launch);
  for (size_t s = 0; s < copy->storages.size(); ++s) {
    launch::Storage& storage = copy->storages[s];
    if (storage.pager) storage.pager->need(0, storage.bytes, false);
    storage.pager.reset();
    if (written && !(*written)[s]) continue;
    const std::shared_ptr<uint8_t[]> bytes(new uint8_t[storage.bytes]);
    if (storage.bytes) std::memcpy(bytes.get(), storage.data, storage.bytes);
    storage.data = bytes.get();
    storage.owner = bytes;
  }
  return copy;
}

namespace {

/// Has all that was asked for come from its device?
void checkPagers(const launch::Launch& launch) {
  for (const launch::Storage& storage : launch.storages)
    if (const auto error = storage.pager ? storage.pager->error() : std::nullopt)
      throw Error("tensor " + storage.name + " cannot be read from its device: " + textOf(*error));
}

Report launchKernel(const Kernel& kernel, const nb::tuple& grid, const nb::list& arguments,
                    const nb::list& storages, const nb::list& clients, unsigned threads,
                    bool addressOnly, uint32_t index, const std::string& test,
                    const std::string& config, const nb::tuple& uninitialized, uint64_t keepLimit,
                    bool keepShort, uint32_t numSms, uint32_t multiprocessors, uint64_t seed,
                    double timeLimit, bool keepShared, TraceFolder* trace) {
  launch::Launch launch = kernel.prototype;
  launch.index = index;
  for (size_t axis = 0; axis < 3; ++axis) launch.grid[axis] = nb::cast<int64_t>(grid[axis]);
  for (nb::handle row : arguments) launch.arguments.push_back(argumentOf(nb::borrow<nb::tuple>(row)));
  for (nb::handle row : storages) launch.storages.push_back(storageOf(row));
  for (nb::handle row : uninitialized)
    for (launch::Argument& argument : launch.arguments)
      if (argument.kind == launch::Argument::Kind::Tensor &&
          argument.view.storage == nb::cast<uint32_t>(row))
        argument.view.uninitialized = true;
  launch.test = test;
  if (!config.empty()) launch.config = config;
  launch.numSms = numSms;
  launch.multiprocessors = multiprocessors;
  launch.seed = seed;

  Clients running(clients, kernel.compiled, launch);
  exec::RunOptions options;
  options.clients = running.instances();
  options.threads = threads;
  options.addressOnly = addressOnly;
  options.timeLimit = timeLimit;

  Report report;
  report.kernel = kernel.compiled;
  countLaunch();
  const std::vector<bool> written = exec::mayWrite(*kernel.compiled, launch);
  for (size_t s = 0; s < written.size(); ++s)
    if (written[s]) noteWrite(launch.storages[s], launch.kernel);
  uint64_t bytes = 0;
  for (const launch::Storage& storage : launch.storages) bytes += storage.bytes;
  if (bytes <= keepLimit && keepLimit) {
    nb::gil_scoped_release released;
    // What is saved right after the launch needs no copy of what the launch cannot change.
    report.inputs = Inputs::copied(copyOf(launch, keepShort ? &written : nullptr));
    report.inputBytes = bytes;
  } else if (keepShared && !keepShort) {
    std::vector<nb::object> owners;
    for (nb::handle row : storages) owners.push_back(nb::borrow(row[7]));
    report.inputs = Inputs::shared(*kernel.compiled, launch, owners);
    report.inputBytes = bytes;
  }
  checkPagers(launch);
  const auto recording = trace ? trace->begin(kernel.compiled, launch, index) : std::nullopt;
  if (recording) options.clients.push_back(*recording);
  try {
    report.launch = runReleased(*kernel.compiled, launch, options);
    checkPagers(launch);
    running.finish(report);
    report.inputs.launched(report.launch.verdict() == findings::Verdict::Ok && !addressOnly);
  } catch (...) {
    if (recording) trace->end(launch, nullptr, nullptr);
    throw;
  }
  report.launch.launch = index;
  for (findings::Finding& finding : report.launch.findings) finding.launch = index;
  if (recording) {
    const auto before = report.inputs ? report.inputs.get() : nullptr;
    nb::gil_scoped_release released;
    trace->end(launch, before.get(), &report.launch);
  }
  return report;
}

Report unknownLaunch(uint32_t index, const std::string& kernel, const std::string& reason,
                     const std::string& file, uint32_t line) {
  Report report;
  report.launch.launch = index;
  report.launch.kernel = kernel;
  report.launch.file = file;
  report.launch.unknowns.push_back({kernel, reason, {file, line, 0, kernel}, {}});
  return report;
}

}  // namespace

void defineLaunch(nb::module_& module) {
  module.def("launch", &launchKernel, nb::arg("kernel"), nb::arg("grid"), nb::arg("arguments"),
             nb::arg("storages"), nb::arg("clients"), nb::arg("threads"), nb::arg("address_only"),
             nb::arg("index"), nb::arg("test"), nb::arg("config"), nb::arg("uninitialized"),
             nb::arg("keep_limit"), nb::arg("keep_short"), nb::arg("num_sms"),
             nb::arg("multiprocessors"), nb::arg("seed"), nb::arg("time_limit"), nb::arg("keep_shared") = false, nb::arg("trace").none() = nb::none(),
             "Runs a launch in place on its storages.");
  module.def("check_clients",
             [](const std::vector<std::string>& names) { valueOf(tools::clientsNamed(names)); },
             nb::arg("names"), "Raises Error if a name is no client.");
  module.def("plugin_problem", &tools::pluginProblem, nb::arg("path"),
             "Why a library cannot be used as a plugin, as one line; \"\" if it can.");
  module.def("clients_of_tool",
             [](const std::string& tool) { return valueOf(tools::clientsOfTool(tool)); }, nb::arg("tool"),
             "The clients of a group.");
  module.def("unknown_launch", &unknownLaunch, nb::arg("index"), nb::arg("kernel"), nb::arg("reason"),
             nb::arg("file"), nb::arg("line"), "The report of a launch that was not executed.");
}

}  // namespace tilesight::binding
