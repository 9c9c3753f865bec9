// Trips of a loop of which addresses and masks are known: memory and findings are those of the trips one by one.
#include <gtest/gtest.h>

#include "engine_launch.h"
#include "exec/kernel.h"

namespace tilesight::exec {
namespace {

// for k in 0, step, .. n: out[k + i] = 3 x[k + i] + k / 2 for k + i < n; i < 16. The pointers into x go from trip to trip.
constexpr const char* kCopies = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32, %end: i32, %step: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant dense<3> : tensor<16xi32>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %steps = tt.splat %step : i32 -> tensor<16xi32>
    %ns = tt.splat %n : i32 -> tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %first = tt.addptr %xs, %i : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %last:2 = scf.for %k = %c0 to %end step %step iter_args(%xp = %first, %sum = %c0) -> (tensor<16x!tt.ptr<i32>>, i32) : i32 {
      %ks = tt.splat %k : i32 -> tensor<16xi32>
      %offs = arith.addi %ks, %i : tensor<16xi32>
      %mask = arith.cmpi slt, %offs, %ns : tensor<16xi32>
      %v = tt.load %xp, %mask : tensor<16x!tt.ptr<i32>>
      %t = arith.muli %v, %c3 : tensor<16xi32>
      %h = arith.shrsi %k, %c1 : i32
      %hs = tt.splat %h : i32 -> tensor<16xi32>
      %y = arith.addi %t, %hs : tensor<16xi32>
      %outp = tt.addptr %outs, %offs : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
      tt.store %outp, %y, %mask : tensor<16x!tt.ptr<i32>>
      %next = tt.addptr %xp, %steps : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
      %more = arith.addi %sum, %k : i32
      scf.yield %next, %more : tensor<16x!tt.ptr<i32>>, i32
    }
    // What the loop leaves is used: the sum at the end of out, and the element of x that the pointers have come to.
    %w = tt.load %last#0 : tensor<16x!tt.ptr<i32>>
    %endp = tt.addptr %out, %n : !tt.ptr<i32>, i32
    tt.store %endp, %last#1 : !tt.ptr<i32>
    %ends = tt.splat %endp : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %i1 = tt.splat %c1 : i32 -> tensor<16xi32>
    %after = arith.addi %i, %i1 : tensor<16xi32>
    %afterp = tt.addptr %ends, %after : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %afterp, %w : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
)";

// x and out in one storage, x from element 0 and out from `outAt`.
void copies(int n, int end, int step, int64_t outAt) {
  SCOPED_TRACE(testing::Message() << "n " << n << " end " << end << " step " << step << " out " << outAt);
  const int64_t size = outAt + n + 64;
  std::vector<int32_t> memory(size);
  for (int64_t i = 0; i < size; ++i) memory[i] = static_cast<int32_t>(i * 7919 % 1000);
  std::vector<int32_t> expected = memory;
  int sum = 0, k = 0;
  for (; k < end; k += step) {
    const std::vector<int32_t> read(expected.begin() + k, expected.begin() + k + 16);
    for (int i = 0; i < 16 && k + i < n; ++i) expected[outAt + k + i] = 3 * read[i] + (k >> 1);
    sum += k;
  }
  const std::vector<int32_t> rest(expected.begin() + k, expected.begin() + k + 16);
  expected[outAt + n] = sum;
  for (int i = 0; i < 16; ++i) expected[outAt + n + 1 + i] = rest[i];
  Bench bench(kCopies);
  bench.array("x", memory);
  launch::Argument out = bench.launch.arguments[0];
  out.name = "out";
  out.view.offset = 4 * outAt;
  out.view.shape = {size - outAt};
  bench.launch.arguments.push_back(out);
  bench.scalar("n", n).scalar("end", end).scalar("step", step);
  const auto report = bench.run(1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  EXPECT_EQ(bench.arrays[0], expected);
}

TEST(Trips, MemoryIsThatOfTheTripsOneByOne) {
  for (const int trips : {0, 1, 2, 3, 4, 5, 6, 9, 40})
    for (const int step : {16, 1, 24})
      for (const int cut : {0, 5, 20})  // the last trips' masks are not whole
        for (const int64_t outAt : {0, 1, 16, 40, 2000}) {
          const int end = trips * step;
          copies(std::max(1, end + 16 - step - cut), end, step, outAt);
        }
}

TEST(Trips, PointersThatGoFromTripToTripAreFound) {
  const Bench bench(kCopies);
  const auto plan = bench.kernel->plan({});
  ASSERT_TRUE(plan);
  ASSERT_EQ((*plan)->program.loops.size(), 1u);
  const plan::Loop& loop = (*plan)->program.loops[0];
  EXPECT_EQ(loop.carried.size(), 1u);    // the sum is carried, too, but does not move evenly
  EXPECT_GE(loop.candidates.size(), 5u);
  EXPECT_EQ(loop.accesses.size(), 2u);
}

// Trips that run past the end are found, each with its iteration, and the trips before them are as they should be.
TEST(Trips, TripsThatLeaveTheData) {
  for (const int inside : {1, 3, 7, 8, 20}) {
    const int trips = 21, n = 16 * trips, size = 16 * inside + 4;
    Bench bench(kCopies);
    bench.array("x", std::vector<int32_t>(n + 64, 2)).array("out", std::vector<int32_t>(size, -1));
    bench.scalar("n", n).scalar("end", n).scalar("step", 16);
    const auto report = bench.run(1);
    ASSERT_FALSE(report.findings.empty());
    const findings::Finding& finding = report.findings[0];
    EXPECT_EQ(finding.kind, "out-of-bounds");
    ASSERT_EQ(finding.iterations.size(), 1u);
    EXPECT_EQ(finding.iterations[0].trip, inside);
    EXPECT_EQ(finding.countElements, 16 * (trips - inside) - 4);
    for (int i = 0; i < size; ++i) ASSERT_EQ(bench.arrays[1][i], 6 + i / 16 * 8) << i;
  }
}

}  // namespace
}  // namespace tilesight::exec
