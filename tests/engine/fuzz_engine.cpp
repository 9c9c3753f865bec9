// Any text that compiles also runs without a crash, whatever its arguments point to, and what comes of it
// does not depend on the number of threads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "clients/registry.h"
#include "clients/tracer/tracer.h"
#include "exec/kernel.h"
#include "exec/run.h"
#include "findings/json_values.h"

using namespace tilesight;

namespace {

using Memory = std::vector<std::vector<uint8_t>>;

/// A launch that gives the kernel's parameters something to work on. Its storages are in `memory`.
launch::Launch launchOf(const exec::Kernel& kernel, size_t size, Memory& memory) {
  launch::Launch launch;
  launch.kernel = "fuzz";
  launch.grid = {3, 1, 2};
  const auto& parameters = kernel.common().entry()->regions[0]->blocks[0]->arguments;
  memory.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    ir::Type type = parameters[i]->type;
    launch::Argument argument;
    argument.name = "p" + std::to_string(i);
    bool view = type.kind() == ir::TypeKind::View;
    if (type.isPointer() || view) {
      // Some parameters show the same memory. Some memory holds small integers, so that they make good indices.
      if (memory.empty() || (size + i) % 4 != 3) {
        std::vector<uint8_t>& bytes = memory.emplace_back(256, static_cast<uint8_t>(i * 37 + size));
        if ((size + i) % 2)
          for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = at % 4 ? 0 : (at / 4 * 5 + i) % 8;
        launch::Storage storage;
        storage.data = bytes.data();
        storage.bytes = bytes.size();
        launch.storages.push_back(storage);
      }
      argument.kind = view ? launch::Argument::Kind::Descriptor : launch::Argument::Kind::Tensor;
      argument.view.element = ir::ElementKind::I32;
      size_t rank = view ? type->shape.size() : 1;
      argument.view.shape.assign(rank, 2);
      argument.view.strides.assign(rank, rank > 4 ? 1 : 3);
      argument.view.storage = static_cast<uint32_t>(launch.storages.size() - 1);
      if (view) i += 2 * rank;  // its sizes and strides
    } else {
      argument.element = exec::machineKind(type);
      argument.bits = static_cast<uint64_t>(i * 5 + 1);
    }
    launch.arguments.push_back(std::move(argument));
  }
  return launch;
}

/// What a launch leaves behind.
struct Outcome {
  bool ran = false, complete = false;
  Memory memory;
  std::string findings;
  clients::Trace trace;
};

Outcome outcomeOf(const exec::Kernel& kernel, size_t size, bool addressOnly, unsigned threads) {
  Outcome outcome;
  launch::Launch launch = launchOf(kernel, size, outcome.memory);
  const ts_client* tracer = clients::find("tracer");
  void* self = tracer->create(&exec::host(), "");
  exec::RunOptions options;
  options.clients = {{clients::find("sanitizer")}, {tracer, "", self}};
  options.threads = threads;
  options.alwaysDivide = true;
  options.addressOnly = addressOnly;
  options.iterationLimit = 200;
  if (auto report = exec::run(kernel, launch, options)) {
    outcome.ran = true;
    outcome.complete = report->unknowns.empty();
    for (const findings::Finding& finding : report->findings)
      outcome.findings += findings::dumped(findings::toJson(finding), 1) + "\n";
    outcome.trace = clients::traceOf(self);
  }
  tracer->destroy(self);
  return outcome;
}

void check(bool same, const char* what) {
  if (same) return;
  std::fprintf(stderr, "%s differ between 1 and 3 threads\n", what);
  std::abort();
}

void checkSame(const Outcome& one, const Outcome& three) {
  check(one.ran == three.ran && one.complete == three.complete, "verdicts");
  if (!one.complete) return;  // where an interrupted launch stood when it ended is nobody's promise
  if (one.findings != three.findings) std::fprintf(stderr, "%s\n---\n%s", one.findings.c_str(), three.findings.c_str());
  check(one.findings == three.findings, "findings");
  check(one.memory == three.memory, "outputs");
  check(one.trace.patterns == three.trace.patterns && one.trace.records.size() == three.trace.records.size(), "traces");
  for (size_t i = 0; i < one.trace.records.size(); ++i) {
    const clients::TraceRecord &a = one.trace.records[i], &b = three.trace.records[i];
    check(a.program == b.program && a.base == b.base && a.op == b.op && a.pattern == b.pattern && a.active == b.active &&
              a.faults == b.faults, "trace records");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto kernel = exec::compile(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ttir");
  if (!kernel) return 0;
  exec::info(**kernel);
  for (bool addressOnly : {false, true})
    checkSame(outcomeOf(**kernel, size, addressOnly, 1), outcomeOf(**kernel, size, addressOnly, 3));
  return 0;
}
