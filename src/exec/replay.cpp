#include "exec/replay.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilesight::exec {

namespace {

using findings::Finding;

bool ofOneProgram(const Finding& finding) { return finding.kind != "deadlock" && finding.kind != "launch-limit"; }

std::string argumentOf(const Finding& finding) { return finding.operand ? finding.operand->argument : std::string(); }

bool samePlace(const findings::Frame& a, const findings::Frame& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column && a.function == b.function;
}

bool samePlace(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.operation == b.operation && argumentOf(a) == argumentOf(b) &&
         samePlace(a.location, b.location) &&
         std::equal(a.stack.begin(), a.stack.end(), b.stack.begin(), b.stack.end(),
                    [](const findings::Frame& x, const findings::Frame& y) { return samePlace(x, y); });
}

// Of two findings of one place: what of the witness is not the same, or "".
std::string difference(const Finding& first, const Finding& again) {
  if (again.program != first.program) return fmt::format("the witness is program {}", again.program);
  auto turns = [](const Finding& finding) {
    std::vector<std::tuple<std::string, int64_t, int64_t>> result;
    for (const findings::Iteration& i : finding.iterations) result.emplace_back(i.name, i.value, i.trip);
    return result;
  };
  if (turns(again) != turns(first)) return fmt::format("the iterations are {}, not {}", turns(again), turns(first));
  if (again.element != first.element) return fmt::format("the element is {}, not {}", again.element, first.element);
  if (again.accessBytes != first.accessBytes) return fmt::format("{} bytes are accessed, not {}", again.accessBytes, first.accessBytes);
  if (!first.operand) return {};
  if (again.operand->index != first.operand->index)
    return fmt::format("the element of {} is {}, not {}", first.operand->argument, again.operand->index, first.operand->index);
  if (again.operand->byteOffset != first.operand->byteOffset || again.operand->bytesPast != first.operand->bytesPast)
    return fmt::format("the address is {} bytes behind the first of {}, not {}", again.operand->byteOffset,
                       first.operand->argument, first.operand->byteOffset);
  return {};
}

}  // namespace

Result<std::vector<Replayed>> replayFindings(const Kernel& kernel, const launch::Launch& launch, const RunOptions& options) {
  ReadsOfPrograms reads;
  RunOptions whole = options;
  whole.keepReads = &reads;
  auto report = run(kernel, launch, whole);
  if (!report) return failure(std::move(report).error());
  std::vector<Replayed> result;
  for (Finding& first : report->findings) {
    if (!ofOneProgram(first)) continue;
    const int64_t program = first.program[0] + launch.grid[0] * (first.program[1] + launch.grid[1] * first.program[2]);
    Replayed& replayed = result.emplace_back();
    if (auto kept = reads.find(program); kept == reads.end()) {
      replayed.difference = "what its program read was not kept";
    } else {
      const ReadsOfPrograms only{*kept};
      RunOptions alone = options;
      alone.replay = &only;
      auto again = run(kernel, launch, alone);
      if (!again) return failure(std::move(again).error());
      auto same = std::find_if(again->findings.begin(), again->findings.end(),
                               [&](const Finding& other) { return samePlace(first, other); });
      replayed.difference = same == again->findings.end() ? "its program alone does not make it" : difference(first, *same);
    }
    replayed.finding = std::move(first);
  }
  return result;
}

}  // namespace tilesight::exec
