// Loads that copy nothing: what no program writes to stays where it is, unless its memory is also that of an argument
// that is written.
#include <gtest/gtest.h>

#include "engine_launch.h"
#include "exec/kernel.h"

namespace tilesight::exec {
namespace {

// Loads 4 rows of 16 elements, 32 apart, from x; fills out[0 .. 128) with 7; then stores what it loaded to kept.
constexpr const char* kText = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %kept: !tt.ptr<i32>) {
    %seven = arith.constant dense<7> : tensor<128xi32>
    %wide = arith.constant dense<32> : tensor<4xi32>
    %narrow = arith.constant dense<16> : tensor<4xi32>
    %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %all = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %iw = arith.muli %i, %wide : tensor<4xi32>
    %in = arith.muli %i, %narrow : tensor<4xi32>
    %iw1 = tt.expand_dims %iw {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %iw2 = tt.broadcast %iw1 : tensor<4x1xi32> -> tensor<4x16xi32>
    %in1 = tt.expand_dims %in {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %in2 = tt.broadcast %in1 : tensor<4x1xi32> -> tensor<4x16xi32>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %j2 = tt.broadcast %j1 : tensor<1x16xi32> -> tensor<4x16xi32>
    %from = arith.addi %iw2, %j2 : tensor<4x16xi32>
    %to = arith.addi %in2, %j2 : tensor<4x16xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x16x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %from : tensor<4x16x!tt.ptr<i32>>, tensor<4x16xi32>
    %v = tt.load %xp : tensor<4x16x!tt.ptr<i32>>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %all : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    tt.store %outp, %seven : tensor<128x!tt.ptr<i32>>
    %ks = tt.splat %kept : !tt.ptr<i32> -> tensor<4x16x!tt.ptr<i32>>
    %kp = tt.addptr %ks, %to : tensor<4x16x!tt.ptr<i32>>, tensor<4x16xi32>
    tt.store %kp, %v : tensor<4x16x!tt.ptr<i32>>
    tt.return
  }
}
)";

TEST(Borrowed, TheLoadIsReadOnce) {
  const Bench bench(kText);
  const auto plan = bench.kernel->plan({});
  ASSERT_TRUE(plan);
  int once = 0;
  for (const plan::Instr& instr : (*plan)->program.code) once += instr.op == plan::Opcode::Load && (instr.flag & plan::kReadOnce);
  EXPECT_EQ(once, 1);
}

// x and out are allocations of their own, as far as the launch knows, and share memory from element `outAt` of x on, as
// views that two libraries made of one allocation do.
TEST(Borrowed, AllocationsThatShareMemory) {
  for (const int outAt : {0, 1, 40, 100, 111, 112, 128}) {
    SCOPED_TRACE(outAt);
    Bench bench(kText);
    std::vector<int32_t> memory(256), expected(64);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int32_t>(100 + i);
    for (int i = 0; i < 64; ++i) expected[i] = memory[i / 16 * 32 + i % 16];
    bench.array("x", memory).array("out", std::vector<int32_t>(128)).array("kept", std::vector<int32_t>(64));
    bench.launch.storages[0].bytes = 128 * 4;
    bench.launch.arguments[0].view.shape = {128};
    bench.launch.storages[1].data = bench.launch.storages[0].data + 4 * outAt;
    const auto report = bench.run(1);
    EXPECT_TRUE(report.findings.empty());
    EXPECT_EQ(bench.arrays[2], expected);
    for (int i = 0; i < 256; ++i)
      ASSERT_EQ(bench.arrays[0][i], i >= outAt && i < outAt + 128 ? 7 : 100 + i) << i;
  }
}

// y[i + 16 p] = x[i + 16 p] + 1, where y lies 16 elements behind x in the same memory: each program reads what the one
// before it wrote, whatever the number of threads.
TEST(Borrowed, AllocationsThatShareMemoryAndProgramsThatMeetThere) {
  constexpr const char* kStairs = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %c16 = arith.constant 16 : i32
    %one = arith.constant dense<1> : tensor<16xi32>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c16 : i32
    %starts = tt.splat %start : i32 -> tensor<16xi32>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %at = arith.addi %starts, %i : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %at : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %v = tt.load %xp : tensor<16x!tt.ptr<i32>>
    %w = arith.addi %v, %one : tensor<16xi32>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %at : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %yp, %w : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
)";
  constexpr int kPrograms = 300;
  for (const unsigned threads : {1u, 2u, 16u}) {
    SCOPED_TRACE(threads);
    Bench bench(kStairs);
    bench.array("x", std::vector<int32_t>(16 * (kPrograms + 1), 5)).array("y", {});
    bench.launch.storages[0].bytes = bench.launch.storages[1].bytes = 16 * kPrograms * 4;
    bench.launch.storages[1].data = bench.launch.storages[0].data + 16 * 4;
    for (launch::Argument& argument : bench.launch.arguments) argument.view.shape = {16 * kPrograms};
    RunOptions options;
    options.clients.push_back({clients::find("sanitizer")});
    options.threads = threads;
    options.alwaysDivide = true;
    Work work;
    options.work = &work;
    const auto report = bench.run(kPrograms, options);
    EXPECT_TRUE(report.findings.empty());
    EXPECT_EQ(work.ranges, 0);
    EXPECT_EQ(work.sweptPrograms, kPrograms);
    for (int e = 0; e < 16 * (kPrograms + 1); ++e) ASSERT_EQ(bench.arrays[0][e], 5 + e / 16) << e;
  }
}

}  // namespace
}  // namespace tilesight::exec
