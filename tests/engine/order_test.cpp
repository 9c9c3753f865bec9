// Which programs may run side by side, in which order those take turns that may not, and that results are those of
// one order.
#include <algorithm>
#include <numeric>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "engine_launch.h"
#include "exec/kernel.h"

namespace tilesight::exec {
namespace {

RunOptions sideBySide(unsigned threads) {
  RunOptions options;
  options.clients.push_back({clients::find("sanitizer")});
  options.threads = threads;
  options.alwaysDivide = true;
  return options;
}

// y[pid] = pid
constexpr const char* kOwnNumbers = R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %p = tt.addptr %y, %pid : !tt.ptr<i32>, i32
    tt.store %p, %pid : !tt.ptr<i32>
    tt.return
  }
}
)";

// out[ticket] = pid
constexpr const char* kTickets = R"(
module {
  tt.func public @k(%next: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %ticket = tt.atomic_rmw add, acq_rel, gpu, %next, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %p = tt.addptr %out, %ticket : !tt.ptr<i32>, i32
    tt.store %p, %pid : !tt.ptr<i32>
    tt.return
  }
}
)";

std::vector<int32_t> tickets(uint64_t seed, uint32_t numSms, unsigned threads = 1) {
  constexpr int n = 40;
  Bench bench(kTickets);
  bench.array("next", {0}).array("out", std::vector<int32_t>(n, -1));
  bench.launch.seed = seed;
  bench.launch.numSms = numSms;
  bench.run(n, sideBySide(threads));
  return bench.arrays[1];
}

TEST(Order, WithoutASeedItIsThatOfNumbers) {
  std::vector<int32_t> expected(40);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(tickets(0, 0), expected);
  EXPECT_EQ(tickets(0, 7), expected);
  EXPECT_EQ(tickets(3, 1), expected) << "only one program is resident";
}

TEST(Order, ASeedGivesOneOrderForAnyNumberOfThreads) {
  std::set<std::vector<int32_t>> orders;
  for (uint64_t seed : {1u, 2u, 3u}) {
    const std::vector<int32_t> order = tickets(seed, 8);
    EXPECT_EQ(tickets(seed, 8), order);
    EXPECT_EQ(tickets(seed, 8, 3), order);
    std::vector<int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < 40; ++i) EXPECT_EQ(sorted[i], i);
    // The device starts programs in order: only those resident with it can overtake one.
    for (int i = 0; i < 40; ++i) EXPECT_LT(order[i], i + 8);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3u);
}

// Ranges of programs that ran side by side each have a state of this client.
TEST(Order, TheSanitizerKeepsNoLaunchFromRunningOnThreads) {
  static int states;
  states = 0;
  ts_client counter{};
  counter.size = sizeof counter;
  counter.abi = TS_CLIENT_ABI;
  counter.name = "counter";
  counter.fork = [](void* self) {
    ++states;
    return self;
  };
  Bench bench(kOwnNumbers);
  bench.array("y", std::vector<int32_t>(100, -1));
  RunOptions options = sideBySide(2);
  options.clients.push_back({&counter});
  bench.run(100, options);
  EXPECT_EQ(states, 5) << "one for the first programs, two a thread for the others";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bench.arrays[0][i], i);
}

// bins[x[i]] += w[i], floats: the result depends on the order of additions.
constexpr const char* kHistogram = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %w: !tt.ptr<f32>, %bins: !tt.ptr<f32>) {
    %pid = tt.get_program_id x : i32
    %c8 = arith.constant 8 : i32
    %true = arith.constant dense<true> : tensor<8xi1>
    %start = arith.muli %pid, %c8 : i32
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %s = tt.splat %start : i32 -> tensor<8xi32>
    %offs = arith.addi %s, %r : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %bin = tt.load %xp : tensor<8x!tt.ptr<i32>>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %wp = tt.addptr %ws, %offs : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %wp : tensor<8x!tt.ptr<f32>>
    %bs = tt.splat %bins : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %bp = tt.addptr %bs, %bin : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %bp, %v, %true : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
    tt.return
  }
}
)";

TEST(Order, AdditionsAreMadeInTheOrderOfProgramsToTheLastBit) {
  constexpr int programs = 200, n = 8 * programs;
  std::vector<int32_t> x(n), w(n), none(4, 0);
  uint32_t state = 1;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525 + 1013904223;
    x[i] = static_cast<int32_t>(state >> 30);
    float value = static_cast<float>(state >> 8) * 1e-3f;
    std::memcpy(&w[i], &value, 4);
  }
  std::vector<float> expected(4, 0.0f);
  for (int i = 0; i < n; ++i) {
    float value;
    std::memcpy(&value, &w[i], 4);
    expected[x[i]] += value;
  }
  for (unsigned threads : {1u, 2u, 5u}) {
    Bench bench(kHistogram);
    bench.array("x", x).array("w", w).array("bins", none);
    EXPECT_EQ(bench.run(programs, sideBySide(threads)).verdict(), findings::Verdict::Ok);
    EXPECT_EQ(std::memcmp(bench.arrays[2].data(), expected.data(), 16), 0) << threads << " threads";
  }
}

// Adds to c[0] and then reads it: the sum so far must be there.
constexpr const char* kAddsAndReads = R"(
module {
  tt.func public @k(%c: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %true = arith.constant true
    %old = tt.atomic_rmw add, relaxed, gpu, %c, %pid, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %sum = tt.load %c : !tt.ptr<i32>
    %p = tt.addptr %y, %pid : !tt.ptr<i32>, i32
    tt.store %p, %sum : !tt.ptr<i32>
    tt.return
  }
}
)";

TEST(Order, AProgramReadsWhatItHasAdded) {
  constexpr int n = 60;
  std::vector<int32_t> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = i * (i + 1) / 2;
  for (unsigned threads : {1u, 2u, 4u}) {
    Bench bench(kAddsAndReads);
    bench.array("c", {0}).array("y", std::vector<int32_t>(n, -1));
    bench.run(n, sideBySide(threads));
    EXPECT_EQ(bench.arrays[1], expected) << threads << " threads";
  }
}

// y[pid] = steps of a bisection for pid in the sorted array x of 64 elements: a `while` loop that reads memory.
constexpr const char* kBisection = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %lo, %hi = scf.while (%a = %c0, %b = %c64) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi slt, %a, %b : i32
      scf.condition(%go) %a, %b : i32, i32
    } do {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      %mid = arith.divsi %s, %c2 : i32
      %p = tt.addptr %x, %mid : !tt.ptr<i32>, i32
      %v = tt.load %p : !tt.ptr<i32>
      %less = arith.cmpi slt, %v, %pid : i32
      %next = arith.addi %mid, %c1 : i32
      %na = arith.select %less, %next, %a : i32
      %nb = arith.select %less, %b, %mid : i32
      scf.yield %na, %nb : i32, i32
    }
    %yp = tt.addptr %y, %pid : !tt.ptr<i32>, i32
    tt.store %yp, %lo : !tt.ptr<i32>
    tt.return
  }
}
)";

TEST(Order, WhileLoopsThatReadWhatNobodyWritesAreLoopsLikeOthers) {
  std::vector<int32_t> x(64);
  for (int i = 0; i < 64; ++i) x[i] = 2 * i;
  for (unsigned threads : {1u, 3u}) {
    Bench bench(kBisection);
    bench.array("x", x).array("y", std::vector<int32_t>(100, -1));
    EXPECT_EQ(bench.run(100, sideBySide(threads)).verdict(), findings::Verdict::Ok);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(bench.arrays[1][i], (i + 1) / 2);
  }
}

TEST(Order, PrintsComeInTheOrderOfPrograms) {
  constexpr const char* kPrints = R"(
module {
  tt.func public @k() {
    %pid = tt.get_program_id x : i32
    tt.print " pid: " {hex = false, isSigned = array<i32: 1>} : %pid : i32
    tt.return
  }
}
)";
  Bench bench(kPrints);
  std::string expected;
  for (int i = 0; i < 50; ++i) expected += "pid (" + std::to_string(i) + ", 0, 0) idx () pid: " + std::to_string(i) + "\n";
  for (unsigned threads : {1u, 4u}) {
    testing::internal::CaptureStdout();
    bench.run(50, sideBySide(threads));
    EXPECT_EQ(testing::internal::GetCapturedStdout(), expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace tilesight::exec
