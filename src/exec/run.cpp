#include "exec/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "exec/execution.h"
#include "exec/guard.h"
#include "exec/kernel.h"
#include "exec/parameters.h"
#include "exec/report.h"
#include "exec/stopper.h"
#include "findings/sentence.h"

namespace tilesight::exec {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMaxPrograms = int64_t{1} << 40;  // days of work
constexpr int64_t kMaxGridX = 2147483647, kMaxGridYZ = 65535;  // CUDA's limits

// Is every element of the view inside its storage? What follows reads and writes by views. A descriptor may
// promise more than its tensor has: LaunchMemory cuts it off, and accesses beyond are out of bounds.
bool viewFits(const launch::View& view, const launch::Storage& storage, bool descriptor) {
  constexpr __int128 kFar = __int128{1} << 60;
  __int128 low = view.offset, high = view.offset;
  int64_t bytes = ir::elementBytes(view.element);
  if (bytes == 0 || view.shape.size() != view.strides.size()) return false;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] < 0) return false;
    if (view.shape[d] == 0) return true;
    __int128 reach = static_cast<__int128>(view.shape[d] - 1) * view.strides[d] * bytes;
    (reach < 0 ? low : high) += reach;
    if (descriptor && (low < -kFar || high > kFar)) return false;
  }
  if (descriptor) return low >= 0;
  return low >= 0 && high + bytes <= static_cast<__int128>(storage.bytes);
}

// Does each argument have what its parameter asks for?
Status checkArguments(const Kernel& kernel, const launch::Launch& launch, const std::vector<int32_t>& argumentOfParameter) {
  const auto& parameters = kernel.common().entry()->regions[0]->blocks[0]->arguments;
  for (size_t p = 0; p < argumentOfParameter.size(); ++p) {
    if (p > 0 && argumentOfParameter[p] == argumentOfParameter[p - 1]) continue;  // sizes and strides of a descriptor
    const launch::Argument& a = launch.arguments[argumentOfParameter[p]];
    auto problem = [&](const std::string& what) {
      return failure(fmt::format("argument {} of {}: {}", a.name, launch.kernel, what),
                     "capture the launch again, or check the bundle");
    };
    using Kind = launch::Argument::Kind;
    if (a.kind != Kind::Scalar) {
      if (a.view.storage >= launch.storages.size()) return problem("its storage is not there");
      if (!viewFits(a.view, launch.storages[a.view.storage], a.kind == Kind::Descriptor))
        return problem("its view reaches beyond its storage");
    }
    ir::Type type = parameters[p]->type;
    switch (a.kind) {
      case Kind::Tensor:
        if (!type.isPointer()) return problem("a tensor for a parameter of type " + type.str());
        break;
      case Kind::Scalar:
        if (type.isPointer() || machineKind(type) == ElementKind::Invalid)
          return problem("a scalar for a parameter of type " + type.str());
        break;
      default:
        if (type.kind() != ir::TypeKind::View) return problem("a descriptor for a parameter of type " + type.str());
        if (type->shape.size() != a.view.shape.size())
          return problem(fmt::format("a descriptor of rank {} for one of rank {}", a.view.shape.size(), type->shape.size()));
    }
  }
  return {};
}

void checkLimits(const Kernel& kernel, const launch::Launch& launch, findings::LaunchReport& report) {
  static constexpr const char* kAxis[] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d) {
    int64_t limit = d == 0 ? kMaxGridX : kMaxGridYZ;
    const bool negative = launch.grid[d] < 0;
    if (launch.grid[d] <= limit && !negative) continue;
    findings::Finding finding;
    finding.kind = "launch-limit";
    finding.severity = findings::Severity::Error;
    finding.client = "sanitizer";
    finding.kernel = launch.kernel;
    finding.grid = launch.grid;
    finding.config = launch.config;
    finding.test = launch.test;
    if (const ir::LocationStorage* place = kernel.common().entry()->location.file()) {
      finding.location = {place->text, place->line, place->column, launch.kernel};
      finding.sourceLine = sourceLine(launch, place->text, place->line);
    }
    finding.message = negative ? fmt::format("grid.{} is {}, which is negative: no program runs", kAxis[d], launch.grid[d])
                               : fmt::format("grid.{} is {}, the device allows {}", kAxis[d], launch.grid[d], limit);
    finding.remedy = negative ? "look at how the grid is computed; an empty launch has a size of 0"
                     : d == 0 ? "launch fewer programs, each doing more" : "put the long axis on x, or fold two axes into one";
    __int128 programs = 1;
    for (int64_t size : launch.grid) programs = std::min<__int128>(programs * std::max<int64_t>(0, size), INT64_MAX);
    finding.countPrograms = static_cast<int64_t>(programs);
    report.findings.push_back(std::move(finding));
  }
}

void announce(ClientInstance& client, const launch::Launch& launch, const LaunchMemory& memory) {
  if (client.table->launch_begin) {
    ts_launch begin{};
    begin.size = sizeof begin;
    begin.kernel = launch.kernel.c_str();
    for (int d = 0; d < 3; ++d) begin.grid[d] = launch.grid[d];
    begin.argument_count = static_cast<uint32_t>(launch.arguments.size());
    client.table->launch_begin(client.self, &begin);
  }
  if (!client.table->argument) return;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const launch::Argument& a = launch.arguments[i];
    ts_argument argument{};
    argument.size = sizeof argument;
    argument.index = static_cast<uint32_t>(i);
    argument.name = a.name.c_str();
    argument.element = static_cast<uint32_t>(a.element);
    argument.bits = a.bits;
    if (const ViewInfo* view = memory.view(static_cast<int32_t>(i))) {
      argument.is_tensor = 1;
      argument.element = static_cast<uint32_t>(view->element);
      argument.rank = static_cast<uint32_t>(view->shape.size());
      argument.shape = view->shape.data();
      argument.strides = view->strides.data();
      argument.address = static_cast<uint64_t>(view->address);
      argument.allocation = static_cast<uint64_t>(memory.storages()[view->storage].base);
      argument.allocation_bytes = static_cast<uint64_t>(memory.storages()[view->storage].bytes);
    }
    client.table->argument(client.self, &argument);
  }
}

}  // namespace

Result<findings::LaunchReport> run(const Kernel& kernel, const launch::Launch& launch, const RunOptions& options) {
  auto start = Clock::now();
  LaunchContext context;
  for (const ClientInstance& client : options.clients) {
    const uint32_t needs = client.table->needs;
    context.needAccess = context.needAccess || (needs & (TS_NEED_ADDRESSES | TS_NEED_VALUES));
    context.needValues = context.needValues || (needs & TS_NEED_VALUES);
    context.needCompute = context.needCompute || (needs & TS_NEED_COMPUTE);
    context.needPrograms = context.needPrograms || (needs & TS_NEED_PROGRAMS);
    context.needLoops = context.needLoops || (needs & TS_NEED_LOOPS);
  }
  // Whoever looks at values asks for all that is read, used or not: so it must have been kept.
  const bool values = context.needValues || options.keepAllReads;
  const bool outputs = !options.addressOnly || values;
  auto plan = kernel.plan({outputs, values, context.needCompute, options.observer != nullptr});
  if (!plan) return failure(std::move(plan).error());
  auto matched = matchParameters(kernel, launch);
  if (!matched) return failure(std::move(matched).error());
  TS_CHECK(checkArguments(kernel, launch, *matched));

  findings::LaunchReport report;
  report.kernel = launch.kernel;
  if (const ir::LocationStorage* place = kernel.common().entry()->location.file()) report.file = place->text;
  report.grid = launch.grid;
  Stopper stopper(options.timeLimit, options.interrupted);
  LaunchMemory memory(launch, &stopper);
  context.kernel = &kernel;
  context.plan = *plan;
  context.launch = &launch;
  context.memory = &memory;
  context.argumentOfParameter = std::move(*matched);
  context.iterationLimit = options.iterationLimit;
  context.stopper = &stopper;
  context.keepsReads = options.keepReads != nullptr;
  context.keepsAllReads = options.keepReads && options.keepAllReads;
  context.observer = options.observer;
  context.silent = options.silent;
  const TouchedStorages touched = touchedStorages(kernel, launch, context.argumentOfParameter);
  memory.written(touched.written);
  if (options.keepReads || options.replay) context.mayChange = touched.written;
  for (size_t s = 0; s < touched.read.size(); ++s) context.readsChange = context.readsChange || (touched.read[s] && touched.written[s]);

  std::vector<ClientInstance> clients = options.clients;
  std::vector<std::unique_ptr<Guard>> guards;
  for (ClientInstance& client : clients) {
    if (!client.foreign) continue;
    guards.push_back(std::make_unique<Guard>(*client.table, client.self, host(), client.options));
    client.table = &guards.back()->table();
    client.self = guards.back()->self();
  }
  std::vector<bool> created(clients.size(), false);
  bool sanitizer = false;
  for (size_t i = 0; i < clients.size(); ++i) {
    const ts_client& table = *clients[i].table;
    if (!clients[i].self && table.create) {
      clients[i].self = table.create(&host(), clients[i].options.c_str());
      created[i] = true;
    }
    if (!context.promisesTo && (table.needs & TS_NEED_PROMISES)) context.promisesTo = table.name;
    sanitizer = sanitizer || std::strcmp(table.name, "sanitizer") == 0;
    announce(clients[i], launch, memory);
  }

  if (sanitizer) checkLimits(kernel, launch, report);
  // The device refuses a grid over its limits, so nothing runs here either.
  bool refused = false;
  __int128 total = 1;
  for (int d = 0; d < 3; ++d) {
    refused = refused || launch.grid[d] > (d == 0 ? kMaxGridX : kMaxGridYZ);
    total *= std::max<int64_t>(0, launch.grid[d]);
  }
  if (refused) {
    if (!sanitizer) report.unknowns.push_back({launch.kernel, "the grid is larger than the device allows", {}, {}});
  } else if (total > kMaxPrograms) {
    report.unknowns.push_back({launch.kernel, fmt::format("a grid of more than {} programs is not executed", kMaxPrograms), {}, {}});
    refused = true;
  }
  int64_t programs = refused ? 0 : static_cast<int64_t>(total);
  if (options.firstPrograms > 0) programs = std::min(programs, options.firstPrograms);
  if (programs > 0) {
    unsigned threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    Execution execution(kernel, context, clients, threads, options.alwaysDivide, options.ranges);
    if (options.replay) execution.replay(*options.replay);
    else execution.run(programs);
    if (options.work) *options.work = execution.collector().work();
    if (options.keepReads) *options.keepReads = execution.collector().takeReads();
    for (findings::Finding& finding : execution.collector().takeFindings()) {
      if (finding.message.empty()) finding.message = findings::sentence(finding);
      report.findings.push_back(std::move(finding));
    }
    report.unknowns = execution.collector().takeUnknowns();
    if (stopper.stopped())
      report.unknowns.push_back(stopper.place().value_or(findings::Unknown{launch.kernel, stopper.reason(), {}, {}}));
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  ts_summary summary{sizeof(ts_summary), programs, report.seconds};
  for (size_t i = 0; i < clients.size(); ++i) {
    if (clients[i].table->launch_end) clients[i].table->launch_end(clients[i].self, &summary);
    if (created[i] && clients[i].table->destroy) clients[i].table->destroy(clients[i].self);
  }
  for (const auto& guard : guards)
    if (const std::string why = guard->failure(); !why.empty())
      report.unknowns.push_back({launch.kernel, fmt::format("the client {} failed: {}", guard->table().name, why), {}, {}});
  if (sanitizer) report.checked = {"bounds", "alignment", "asserts"};
  else report.checked = {"asserts"};
  if (!sanitizer) report.notChecked = {"bounds", "alignment"};
  report.notChecked.push_back("races");
  report.notChecked.push_back("uninitialised");
  if (!(*plan)->program.outputs) report.notChecked.push_back("outputs (not computed)");
  return report;
}

}  // namespace tilesight::exec
