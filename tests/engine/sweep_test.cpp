// Programs one after another of which addresses and masks are known: memory and findings are those of the programs one
// by one, wherever the data end, meet or overlap.
#include <gtest/gtest.h>

#include "engine_launch.h"

namespace tilesight::exec {
namespace {

constexpr int kBlock = 64;

// out[i] = 3 x[i] + pid / 4 + pid % 4 for i < n, or x[i] as it is (`copies`).
std::string kernelText(bool copies) {
  return std::string(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32) {
    %c64 = arith.constant 64 : i32
    %c4 = arith.constant 4 : i32
    %c3 = arith.constant dense<3> : tensor<64xi32>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c64 : i32
    %q = arith.divsi %pid, %c4 : i32
    %r = arith.remsi %pid, %c4 : i32
    %s = arith.addi %q, %r : i32
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %starts = tt.splat %start : i32 -> tensor<64xi32>
    %offs = arith.addi %starts, %i : tensor<64xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %mask = arith.cmpi slt, %offs, %ns : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %v = tt.load %xp, %mask : tensor<64x!tt.ptr<i32>>
    %t = arith.muli %v, %c3 : tensor<64xi32>
    %ss = tt.splat %s : i32 -> tensor<64xi32>
    %sum = arith.addi %t, %ss : tensor<64xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %offs : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %outp, )") + (copies ? "%v" : "%sum") + R"(, %mask : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
)";
}

// Views of one storage: x from element `xAt`, out from `outAt`.
void runs(bool copies, int64_t n, int64_t xAt, int64_t outAt, unsigned threads) {
  SCOPED_TRACE(testing::Message() << "copies " << copies << " n " << n << " x " << xAt << " out " << outAt << " threads " << threads);
  const int64_t size = n + std::max(xAt, outAt);
  std::vector<int32_t> memory(size);
  for (int64_t i = 0; i < size; ++i) memory[i] = static_cast<int32_t>(i * 7919 % 1000);
  std::vector<int32_t> expected = memory;
  const int64_t programs = (n + kBlock - 1) / kBlock;
  for (int64_t p = 0; p < programs; ++p) {
    const int64_t count = std::min<int64_t>(kBlock, n - p * kBlock);
    const std::vector<int32_t> read(expected.begin() + xAt + p * kBlock, expected.begin() + xAt + p * kBlock + count);
    for (int64_t i = 0; i < count; ++i)
      expected[outAt + p * kBlock + i] =
          copies ? read[i] : static_cast<int32_t>(3u * static_cast<uint32_t>(read[i]) + static_cast<uint32_t>(p / 4 + p % 4));
  }
  Bench bench(kernelText(copies));
  bench.array("x", memory);
  launch::Argument out = bench.launch.arguments[0];
  out.name = "out";
  bench.launch.arguments[0].view.offset = 4 * xAt;
  out.view.offset = 4 * outAt;
  bench.launch.arguments[0].view.shape = out.view.shape = {n};
  bench.launch.arguments.push_back(out);
  bench.scalar("n", static_cast<int32_t>(n));
  RunOptions options;
  options.clients.push_back({clients::find("sanitizer")});
  options.threads = threads;
  options.alwaysDivide = threads > 1;
  const auto report = bench.run(programs, options);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  EXPECT_EQ(bench.arrays[0], expected);
}

TEST(Sweep, ViewsThatOverlap) {
  for (const bool copies : {false, true})
    for (const unsigned threads : {1u, 2u})
      for (const int64_t n : {64 * 40, 64 * 40 - 1, 64 * 9 + 1, 64 * 3})
        for (const auto& [x, out] : {std::pair{0, 0}, {0, 1}, {1, 0}, {0, 64}, {64, 0}, {0, 96}, {97, 3}})
          runs(copies, n, x, out, threads);
}

// out[row * cols + j] = 3 x[row * cols + j] + label[row] where label[row] > 0, in tiles of 64 columns, and twice over
// (`again`): loops that make no trip, one or several in every program, one in the other, and behind a branch on data.
void rowsInLoops(int32_t cols, int32_t again, int32_t room, unsigned threads) {
  SCOPED_TRACE(testing::Message() << "cols " << cols << " again " << again << " room " << room << " threads " << threads);
  constexpr int64_t kRows = 40;
  Bench bench(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %label: !tt.ptr<i32>, %out: !tt.ptr<i32>, %cols: i32, %again: i32, %row_size: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c3 = arith.constant dense<3> : tensor<64xi32>
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %pid = tt.get_program_id x : i32
    %row = arith.muli %pid, %row_size : i32
    %lp = tt.addptr %label, %pid : !tt.ptr<i32>, i32
    %l = tt.load %lp : !tt.ptr<i32>
    %kept = arith.cmpi sgt, %l, %c0 : i32
    scf.if %kept {
      scf.for %r = %c0 to %again step %c1 : i32 {
        scf.for %start = %c0 to %cols step %c64 : i32 {
          %starts = tt.splat %start : i32 -> tensor<64xi32>
          %offs = arith.addi %starts, %i : tensor<64xi32>
          %ns = tt.splat %cols : i32 -> tensor<64xi32>
          %mask = arith.cmpi slt, %offs, %ns : tensor<64xi32>
          %rows = tt.splat %row : i32 -> tensor<64xi32>
          %at = arith.addi %rows, %offs : tensor<64xi32>
          %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
          %xp = tt.addptr %xs, %at : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
          %v = tt.load %xp, %mask : tensor<64x!tt.ptr<i32>>
          %t = arith.muli %v, %c3 : tensor<64xi32>
          %ls = tt.splat %l : i32 -> tensor<64xi32>
          %sum = arith.addi %t, %ls : tensor<64xi32>
          %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
          %op = tt.addptr %outs, %at : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
          tt.store %op, %sum, %mask : tensor<64x!tt.ptr<i32>>
        }
      }
    }
    tt.return
  }
}
)");
  std::vector<int32_t> x(kRows * room), label(kRows), expected(kRows * room, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * 7919 % 1000);
  for (int64_t row = 0; row < kRows; ++row) {
    label[row] = row % 3 ? static_cast<int32_t>(row) : 0;
    if (label[row] <= 0 || again <= 0) continue;
    for (int64_t j = 0; j < cols; ++j) expected[row * room + j] = 3 * x[row * room + j] + label[row];
  }
  bench.array("x", x).array("label", label).array("out", std::vector<int32_t>(kRows * room, -1));
  bench.scalar("cols", cols).scalar("again", again).scalar("row_size", room);
  RunOptions options;
  options.clients.push_back({clients::find("sanitizer")});
  options.threads = threads;
  options.alwaysDivide = threads > 1;
  const auto report = bench.run(kRows, options);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  EXPECT_EQ(bench.arrays[2], expected);
}

TEST(Sweep, LoopsOfOneTrip) {
  for (const unsigned threads : {1u, 2u})
    for (const int32_t again : {0, 1, 2, 5})
      for (const int32_t cols : {-3, 0, 1, 63, 64, 65, 128, 400})
        for (const int32_t room : {400, 448}) rowsInLoops(cols, again, room, threads);
}

// The last programs run past the end: they are found, and counted, as if each program had been looked at by itself.
TEST(Sweep, ProgramsThatLeaveTheData) {
  for (const unsigned threads : {1u, 2u}) {
    const int64_t programs = 40, size = 64 * 37 + 5;
    Bench bench(kernelText(false));
    bench.array("x", std::vector<int32_t>(size, 2)).array("out", std::vector<int32_t>(64 * programs, -1));
    bench.scalar("n", 64 * programs);
    const auto report = bench.run(programs, threads);
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings[0].kind, "out-of-bounds");
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(bench.arrays[1][i], 6 + i / 64 / 4 + i / 64 % 4) << i;
  }
}

// Rows of programs whose tiles have rows of their own distance in memory: what a row left in a slot is not taken for
// what the next one loads. Distance 16, read where it lies, then 8, which is contiguous; and the other way round.
TEST(Sweep, TilesWhoseRowsAreElsewhereInEachRowOfPrograms) {
  constexpr int64_t kAcross = 40, kSize = 8192;
  for (const int first : {16, 8}) {
    const int step = first == 16 ? -8 : 8;
    Bench bench(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %first: i32, %step: i32) {
    %px = tt.get_program_id x : i32
    %py = tt.get_program_id y : i32
    %c64 = arith.constant 64 : i32
    %c4096 = arith.constant 4096 : i32
    %c1 = arith.constant dense<1> : tensor<8x8xi32>
    %c8 = arith.constant dense<8> : tensor<8x1xi32>
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %j = tt.broadcast %columns : tensor<1x8xi32> -> tensor<8x8xi32>
    %more = arith.muli %py, %step : i32
    %distance = arith.addi %first, %more : i32
    %distances = tt.splat %distance : i32 -> tensor<8x1xi32>
    %far = arith.muli %rows, %distances : tensor<8x1xi32>
    %fars = tt.broadcast %far : tensor<8x1xi32> -> tensor<8x8xi32>
    %near = arith.muli %rows, %c8 : tensor<8x1xi32>
    %nears = tt.broadcast %near : tensor<8x1xi32> -> tensor<8x8xi32>
    %start = arith.muli %px, %c64 : i32
    %starts = tt.splat %start : i32 -> tensor<8x8xi32>
    %from = arith.addi %fars, %j : tensor<8x8xi32>
    %froms = arith.addi %from, %starts : tensor<8x8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x8x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %froms : tensor<8x8x!tt.ptr<i32>>, tensor<8x8xi32>
    %v = tt.load %xp : tensor<8x8x!tt.ptr<i32>>
    %w = arith.addi %v, %c1 : tensor<8x8xi32>
    %half = arith.muli %py, %c4096 : i32
    %o = tt.addptr %out, %half : !tt.ptr<i32>, i32
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<8x8x!tt.ptr<i32>>
    %to = arith.addi %nears, %j : tensor<8x8xi32>
    %tos = arith.addi %to, %starts : tensor<8x8xi32>
    %op = tt.addptr %os, %tos : tensor<8x8x!tt.ptr<i32>>, tensor<8x8xi32>
    tt.store %op, %w : tensor<8x8x!tt.ptr<i32>>
    tt.return
  }
}
)");
    std::vector<int32_t> x(kSize);
    for (int64_t i = 0; i < kSize; ++i) x[i] = static_cast<int32_t>(i);
    bench.array("x", x).array("out", std::vector<int32_t>(kSize, -1)).scalar("first", first).scalar("step", step);
    RunOptions options;
    options.clients.push_back({clients::find("sanitizer")});
    options.threads = 1;  // each row of programs in one stretch
    const auto report = bench.run(std::array<int64_t, 3>{kAcross, 2, 1}, options);
    EXPECT_TRUE(report.findings.empty());
    for (int64_t py = 0; py < 2; ++py)
      for (int64_t px = 0; px < kAcross; ++px)
        for (int64_t e = 0; e < 64; ++e)
          ASSERT_EQ(bench.arrays[1][py * 4096 + px * 64 + e], e / 8 * (first + py * step) + e % 8 + px * 64 + 1)
              << "row " << py << " program " << px << " element " << e;
  }
}

}  // namespace
}  // namespace tilesight::exec
