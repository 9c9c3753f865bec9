// Runs launches that come in on standard input, with several thread counts, in as many ranges side by side as may be,
// or in so many as "ranges" says (a number for each thread count; 0: as may be): what test programs in Python use to see bytes that do not come by way of the Python module (and, built for another
// machine, run under an emulator).
//
// A request is a line of JSON and then the bytes of its storages, one after the other; the answer likewise.
//   {"text": IR, "grid": [x, y, z], "threads": [1, 2, ..], "ranges"?: [0, 2, ..], "storages": [bytes, ..],
//    "arguments": [{"name", "element", "shape", "strides", "offset", "storage", "block"?, "padding_nan"?}   a tensor
//                  | {"name", "element", "bits"} | {"name", "text"}, ..]}
//   {"isa": name, "runs": [{"threads", "unknowns": [text, ..], "findings": [kind, ..], "messages": [text, ..],
//                            "swept": {"programs", "trips", "accesses"}}, ..]}   all storages of each run
//   {"error": text}                                                                            no bytes
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "clients/registry.h"
#include "exec/kernels/kernels.h"
#include "exec/run.h"
#include "findings/text.h"

using namespace tilesight;
using nlohmann::json;

namespace {

using Memory = std::vector<std::vector<uint8_t>>;

ir::ElementKind elementOf(const std::string& name) {
  for (int kind = 1; kind <= static_cast<int>(ir::ElementKind::Pointer); ++kind)
    if (name == ir::elementName(static_cast<ir::ElementKind>(kind))) return static_cast<ir::ElementKind>(kind);
  return ir::ElementKind::Invalid;
}

launch::Argument argumentOf(const json& row) {
  launch::Argument argument;
  argument.name = row["name"];
  if (row.contains("text")) {
    argument.kind = launch::Argument::Kind::Specialized;
    argument.text = row["text"];
    return argument;
  }
  argument.element = elementOf(row["element"]);
  if (row.contains("bits")) {
    argument.bits = row["bits"];
    return argument;
  }
  argument.kind = launch::Argument::Kind::Tensor;
  argument.view.element = argument.element;
  argument.view.shape = row["shape"].get<std::vector<int64_t>>();
  argument.view.strides = row["strides"].get<std::vector<int64_t>>();
  argument.view.offset = row["offset"];
  argument.view.storage = row["storage"];
  if (row.contains("block")) {
    argument.kind = launch::Argument::Kind::Descriptor;
    argument.blockShape = row["block"].get<std::vector<int64_t>>();
    argument.paddingNan = row["padding_nan"];
  }
  return argument;
}

json runOnce(const exec::Kernel& kernel, launch::Launch& launch, Memory& memory, unsigned threads, size_t ranges) {
  for (size_t s = 0; s < memory.size(); ++s) launch.storages[s].data = memory[s].data();
  exec::RunOptions options;
  options.clients = {{clients::find("sanitizer")}};
  options.threads = threads;
  options.alwaysDivide = true;
  options.ranges = ranges;
  exec::Work work;
  options.work = &work;
  options.iterationLimit = 1'000'000;
  const auto report = exec::run(kernel, launch, options);
  if (!report) return {{"error", report.error().str()}};
  json run = {{"threads", threads}, {"unknowns", json::array()}, {"findings", json::array()}, {"messages", json::array()},
              {"swept", {{"programs", work.sweptPrograms}, {"trips", work.sweptTrips}, {"accesses", work.sweptAccesses}}}};
  for (const auto& unknown : report->unknowns) run["unknowns"].push_back(unknown.reason);
  for (const auto& finding : report->findings) {
    run["findings"].push_back(finding.kind);
    run["messages"].push_back(findings::findingText(finding, false, ""));
  }
  return run;
}

void answer(const json& request, const Memory& before) {
  Memory after;
  json reply = {{"isa", exec::kernels().name}, {"runs", json::array()}};
  launch::Launch launch;
  launch.kernel = "kernel";
  launch.grid = request["grid"].get<std::array<int64_t, 3>>();
  for (const json& row : request["arguments"]) launch.arguments.push_back(argumentOf(row));
  for (const auto& bytes : before) {
    launch::Storage storage;
    storage.bytes = bytes.size();
    storage.recordedBase = (launch.storages.size() + 1) << 32;
    launch.storages.push_back(storage);
  }
  const auto kernel = exec::compile(request["text"], "launch.ttir");
  if (!kernel) reply = {{"error", kernel.error().str()}};
  else
    for (size_t r = 0; r < request["threads"].size(); ++r) {
      Memory memory = before;
      json run = runOnce(**kernel, launch, memory, request["threads"][r], request.contains("ranges") ? request["ranges"][r].get<size_t>() : 0);
      if (run.contains("error")) {
        reply = run;
        after.clear();
        break;
      }
      reply["runs"].push_back(run);
      for (auto& bytes : memory) after.push_back(std::move(bytes));
    }
  std::cout << reply.dump() << "\n";
  for (const auto& bytes : after) std::cout.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::cout.flush();
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line);
    Memory memory;
    for (size_t size : request["storages"]) {
      memory.emplace_back(size);
      std::cin.read(reinterpret_cast<char*>(memory.back().data()), static_cast<std::streamsize>(size));
    }
    if (!std::cin) return 1;
    answer(request, memory);
  }
}
