// Launches of small kernels written as TTIR: results, findings, and the same outcome for any number of
// threads.
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "clients/registry.h"
#include "clients/tracer/records.h"
#include "clients/tracer/tracer.h"
#include "engine_launch.h"
#include "exec/run.h"

namespace tilesight::exec {
namespace {

// y[i] = y[i - 1] + x[i], one element a program, with busy work so that ranges do run side by side.
constexpr const char* kPrefix = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c200 = arith.constant 200 : i32
    %busy = scf.for %i = %c0 to %c200 step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %t = arith.addi %s, %i : i32
      scf.yield %t : i32
    }
    %zero = arith.muli %busy, %c0 : i32
    %at = arith.addi %pid, %zero : i32
    %next = arith.addi %at, %c1 : i32
    %xp = tt.addptr %x, %at : !tt.ptr<i32>, i32
    %v = tt.load %xp : !tt.ptr<i32>
    %yp = tt.addptr %y, %at : !tt.ptr<i32>, i32
    %w = tt.load %yp : !tt.ptr<i32>
    %sum = arith.addi %v, %w : i32
    %yn = tt.addptr %y, %next : !tt.ptr<i32>, i32
    tt.store %yn, %sum : !tt.ptr<i32>
    tt.return
  }
}
)";

TEST(Run, ProgramsThatReadWhatEarlierOnesWroteSeeItForAnyNumberOfThreads) {
  constexpr int n = 3000;
  std::vector<int32_t> x(n), expected(n + 1, 0);
  std::iota(x.begin(), x.end(), 1);
  for (int i = 0; i < n; ++i) expected[i + 1] = expected[i] + x[i];
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    Bench bench(kPrefix);
    bench.array("x", x).array("y", std::vector<int32_t>(n + 1, 0));
    auto report = bench.run(n, threads);
    EXPECT_EQ(report.verdict(), findings::Verdict::Ok);
    EXPECT_EQ(bench.arrays[1], expected) << threads << " threads";
  }
}

// All programs write the same cell: the last one wins.
constexpr const char* kLastWins = R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c300 = arith.constant 300 : i32
    %busy = scf.for %i = %c0 to %c300 step %c1 iter_args(%s = %pid) -> (i32) : i32 {
      %t = arith.addi %s, %c0 : i32
      scf.yield %t : i32
    }
    tt.store %y, %busy : !tt.ptr<i32>
    tt.return
  }
}
)";

TEST(Run, TheLastProgramWinsForAnyNumberOfThreads) {
  for (unsigned threads : {1u, 2u, 5u}) {
    Bench bench(kLastWins);
    bench.array("y", {-1});
    bench.run(2000, threads);
    EXPECT_EQ(bench.arrays[0][0], 1999) << threads << " threads";
  }
}

// The text form takes extents that are no powers of two; no vector of 4 fits into 6 elements.
constexpr const char* kSixElements = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %start = arith.addi %n, %c0 {tt.divisibility = dense<4> : tensor<1xi32>} : i32
    %r = tt.make_range {end = 6 : i32, start = 0 : i32} : tensor<6xi32>
    %s = tt.splat %start : i32 -> tensor<6xi32>
    %offs = arith.addi %s, %r : tensor<6xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<6x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<6x!tt.ptr<i32>>, tensor<6xi32>
    %v = tt.load %xp : tensor<6x!tt.ptr<i32>>
    tt.store %xp, %v : tensor<6x!tt.ptr<i32>>
    tt.return
  }
}
)";

TEST(Run, AVectorDoesNotReachPastAnExtentThatIsNoPowerOfTwo) {
  auto severityFrom = [](int32_t start) {
    Bench bench(kSixElements);
    bench.array("x", std::vector<int32_t>(16, 7)).scalar("n", start);
    auto report = bench.run(1);
    EXPECT_EQ(report.findings.size(), 1u);
    if (report.findings.empty()) return findings::Severity::Note;
    EXPECT_EQ(report.findings[0].kind, "hint-violation");
    EXPECT_EQ(report.findings[0].countElements, 12);
    return report.findings[0].severity;
  };
  EXPECT_EQ(severityFrom(2), findings::Severity::Warning);  // pairs begin at multiples of 8 bytes
  EXPECT_EQ(severityFrom(1), findings::Severity::Error);
}

constexpr const char* kTail = R"(
#loc = loc("k.py":1:1)
#p = loc("k.py":4:9)
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %c64 = arith.constant 64 : i32
    %start = arith.muli %pid, %c64 : i32 loc("start"(#loc))
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %start : i32 -> tensor<64xi32>
    %offs = arith.addi %s, %r : tensor<64xi32> loc("offs"(#loc))
    %nn = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %offs, %nn : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %v = tt.load %xp : tensor<64x!tt.ptr<i32>> loc(#p)
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %offs : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %yp, %v, %m : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
)";

TEST(Run, ATailLoadIsFoundWithItsWitnessForAnyNumberOfThreads) {
  constexpr int n = 64 * 4000 - 24;
  for (unsigned threads : {1u, 2u, 7u}) {
    Bench bench(kTail);
    bench.array("x", std::vector<int32_t>(n, 7)).array("y", std::vector<int32_t>(n, 0)).scalar("n", n);
    auto report = bench.run(4000, threads);
    ASSERT_EQ(report.findings.size(), 1u);
    const findings::Finding& f = report.findings[0];
    EXPECT_EQ(f.kind, "out-of-bounds");
    EXPECT_EQ(f.location.line, 4u);
    EXPECT_EQ(f.program[0], 3999);
    EXPECT_EQ(f.element, std::vector<int64_t>{40});
    ASSERT_TRUE(f.operand);
    EXPECT_EQ(f.operand->argument, "x");
    EXPECT_EQ(f.operand->index, std::vector<int64_t>{n});
    EXPECT_EQ(f.maxBytesPast, 24 * 4);
    EXPECT_EQ(f.countElements, 24);
    EXPECT_EQ(f.countPrograms, 1);
    ASSERT_FALSE(f.because.empty());
    EXPECT_EQ(f.because[0].name, "offs");
    EXPECT_EQ(f.because[0].expression, "start + arange(0, 64)");
    EXPECT_EQ(bench.arrays[1], std::vector<int32_t>(n, 7));
  }
}

TEST(Run, AddressOnlyFindsTheSameAndLeavesOutputs) {
  Bench bench(kTail);
  bench.array("x", std::vector<int32_t>(100, 7)).array("y", std::vector<int32_t>(100, 0)).scalar("n", 100);
  auto report = bench.run(2, 1, true);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, "out-of-bounds");
  EXPECT_EQ(report.findings[0].severity, findings::Severity::Error);
  EXPECT_EQ(bench.arrays[1], std::vector<int32_t>(100, 0));
}

TEST(Run, TheTracerRecordsEveryAccessInProgramOrder) {
  Bench bench(kTail);
  constexpr int n = 64 * 3000;
  bench.array("x", std::vector<int32_t>(n, 7)).array("y", std::vector<int32_t>(n, 0)).scalar("n", n);
  bench.launch.grid = {3000, 1, 1};
  for (unsigned threads : {1u, 4u}) {
    const ts_client* tracer = clients::find("tracer");
    void* self = tracer->create(nullptr, "");
    RunOptions options;
    options.threads = threads;
    options.clients.push_back({tracer, "", self});
    auto report = exec::run(*bench.kernel, bench.launch, options);
    ASSERT_TRUE(report) << report.error().str();
    const clients::Trace& trace = clients::traceOf(self);
    ASSERT_EQ(trace.records.size(), 6000u);
    for (size_t i = 0; i < trace.records.size(); ++i) {
      const clients::TraceRecord& record = trace.records[i];
      EXPECT_EQ(record.program, static_cast<int64_t>(i / 2));
      EXPECT_EQ(record.kind, i % 2 ? clients::TraceKind::Store : clients::TraceKind::Load);
      EXPECT_EQ(record.active, 64u);
      EXPECT_EQ(record.argument, i % 2);
      EXPECT_EQ(trace.patterns[record.pattern].form, static_cast<uint32_t>(TS_FORM_AFFINE));
    }
    EXPECT_EQ(trace.patterns.size(), 1u) << "loads and stores of one layout share a pattern";
    tracer->destroy(self);
  }
}

TEST(Run, RecordsThatAreKeptAreAllRecords) {
  using clients::TraceRecord;
  std::mt19937 random(7);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  for (int round = 0; round < 300; ++round) {
    // Programs of equal length that move evenly, with and without exceptions, in parts of any size.
    const int64_t programs = below(40), length = 1 + below(5), step = below(2) ? 64 : INT64_MAX / 3;
    const int64_t everyNth = below(2) ? 0 : 1 + below(20);
    std::vector<TraceRecord> all;
    for (int64_t p = 0; p < programs; ++p)
      for (int64_t i = 0; i < length + (everyNth && below(everyNth) == 0); ++i) {
        TraceRecord record;
        record.program = p;
        record.base = static_cast<int64_t>(static_cast<uint64_t>(i) * 4096 + static_cast<uint64_t>(p) * static_cast<uint64_t>(step));
        record.op = static_cast<uint32_t>(i);
        record.active = everyNth && below(everyNth) == 0 ? 3 : 64;
        all.push_back(record);
      }
    std::vector<std::vector<TraceRecord>> parts(1);
    for (const TraceRecord& record : all) {
      while (below(7) == 0) parts.emplace_back();
      parts.back().push_back(record);
    }
    const clients::KeptRecords kept(parts);
    EXPECT_EQ(kept.count(), all.size());
    EXPECT_EQ(kept.all(), all) << "round " << round;
    if (!everyNth && programs >= 2) EXPECT_EQ(kept.stored(), static_cast<size_t>(2 * length));
  }
}

TEST(Run, WhatCannotBeExecutedIsUnknownByName) {
  Bench bench(R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>) {
    %v = "tt.not_an_op"(%y) : (!tt.ptr<i32>) -> i32 loc("k.py":3:5)
    tt.store %y, %v : !tt.ptr<i32>
    tt.return
  }
}
)");
  bench.array("y", {1});
  auto report = bench.run(1);
  EXPECT_EQ(report.verdict(), findings::Verdict::Unknown);
  ASSERT_EQ(report.unknowns.size(), 1u);
  EXPECT_EQ(report.unknowns[0].reason, "tt.not_an_op cannot be executed yet");
  EXPECT_EQ(report.unknowns[0].location.line, 3u);
  EXPECT_EQ(bench.arrays[0][0], 1);
}

// Program 0 reads outside the view of one element, the others outside the allocation of two.
TEST(Run, WhatComesOfAFaultIsToldOfThatFaultForAnyNumberOfThreads) {
  for (unsigned threads : {1u, 2u}) {
    Bench bench(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %c1 = arith.constant 1 : i32
    %at = arith.addi %pid, %c1 : i32
    %xp = tt.addptr %x, %at : !tt.ptr<i32>, i32
    %v = tt.load %xp : !tt.ptr<i32> loc("k.py":3:5)
    tt.store %y, %v : !tt.ptr<i32> loc("k.py":4:5)
    tt.return
  }
}
)");
    bench.array("x", {1, 2}).array("y", {0});
    bench.launch.arguments[0].view.shape = {1};
    RunOptions options;
    options.clients.push_back({clients::find("sanitizer")});
    options.threads = threads;
    options.alwaysDivide = true;
    auto report = bench.run(3, options);
    ASSERT_EQ(report.findings.size(), 2u);
    EXPECT_EQ(report.findings[0].kind, "out-of-view");
    EXPECT_EQ(report.findings[0].consequences, std::vector<std::string>{}) << threads << " threads: the read takes effect";
    EXPECT_EQ(report.findings[1].kind, "out-of-bounds");
    EXPECT_EQ(report.findings[1].consequences, std::vector<std::string>{"line 4: the value of this store depends on it"});
  }
}

TEST(Run, AKernelWithoutABodyIsRefused) {
  auto kernel = compile("module {\n  tt.func public @k(!tt.ptr<i32>)\n}\n", "test.ttir");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().str(), "test.ttir:2:3: error: the kernel is declared, but has no body");
}

// What stands at the end of a region is read by the operation that has the region.
TEST(Run, ARegionThatEndsWithAnUnknownOperationIsRefused) {
  const std::string while_ = R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>, %n: i32) {
    %r = scf.while (%a = %n) : (i32) -> (i32) {
      %c0 = arith.constant 0 : i32
      %go = arith.cmpi sgt, %a, %c0 : i32
      CONDITION
    } do {
    ^bb0(%a: i32):
      YIELD
    }
    tt.store %y, %r : !tt.ptr<i32>
    tt.return
  }
}
)";
  const std::string for_ = R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>, %n: i32) {
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c1 to %n step %c1 iter_args(%a = %n) -> (i32) : i32 {
      YIELD
    }
    tt.store %y, %r : !tt.ptr<i32>
    tt.return
  }
}
)";
  const auto problemOf = [](std::string text, const std::string& condition, const std::string& yield) {
    for (const auto& [what, by] : {std::pair{"CONDITION", condition}, std::pair{"YIELD", yield}})
      if (size_t at = text.find(what); at != std::string::npos) text.replace(at, std::strlen(what), by);
    auto kernel = compile(text, "test.ttir");
    return kernel ? "" : kernel.error().str();
  };
  const std::string condition = "scf.condition(%go) %a : i32", yield = "scf.yield %a : i32", unknown = "\"scf.other\"() : () -> ()";
  EXPECT_EQ(problemOf(while_, condition, yield), "");
  EXPECT_EQ(problemOf(for_, "", yield), "");
  EXPECT_EQ(problemOf(while_, condition, unknown), "test.ttir:10:7: error: a region of 'scf.while' ends with 'scf.other', which cannot end one");
  EXPECT_EQ(problemOf(while_, unknown, yield), "test.ttir:7:7: error: a region of 'scf.while' ends with 'scf.other', which cannot end one");
  EXPECT_EQ(problemOf(for_, "", unknown), "test.ttir:6:7: error: a region of 'scf.for' ends with 'scf.other', which cannot end one");
}

TEST(Run, ArgumentsThatDoNotFitAreAnError) {
  Bench bench(kTail);
  bench.array("x", {1}).scalar("y", 3).scalar("n", 1);
  RunOptions options;
  auto report = exec::run(*bench.kernel, bench.launch, options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("argument y"), std::string::npos) << report.error().message;
}

TEST(Run, AViewBeyondItsStorageIsRefused) {
  Bench bench(kTail);
  bench.array("x", {1, 2}).array("y", {1, 2}).scalar("n", 1);
  bench.launch.arguments[0].view.shape = {3};
  RunOptions options;
  auto report = exec::run(*bench.kernel, bench.launch, options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("reaches beyond its storage"), std::string::npos);
}

}  // namespace
}  // namespace tilesight::exec
