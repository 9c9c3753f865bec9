// Elementwise operations in groups: the values are those of the operations one by one, whatever form the operands have,
// and what only a group reads is no tile.
#include <gtest/gtest.h>

#include "engine_launch.h"
#include "exec/kernel.h"

namespace tilesight::exec {
namespace {

constexpr int kRows = 64, kColumns = 32;

// out[i, j] = 3 x[i, j] + (x[i, j] xor 5) + x[i, 0] + j, or -1 where x[i, j] > n; a tile of several strips. x[i, 0] comes
// when a strip has been read for the last time: it must not be put there, since it is filled before all others.
constexpr const char* kRowsAndColumns = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32) {
    %c3 = arith.constant dense<3> : tensor<64x32xi32>
    %c5 = arith.constant dense<5> : tensor<64x32xi32>
    %none = arith.constant dense<-1> : tensor<64x32xi32>
    %width = arith.constant dense<32> : tensor<64xi32>
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %start = arith.muli %i, %width : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %firstp = tt.addptr %xs, %start : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %first = tt.load %firstp : tensor<64x!tt.ptr<i32>>
    %start1 = tt.expand_dims %start {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %start2 = tt.broadcast %start1 : tensor<64x1xi32> -> tensor<64x32xi32>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %j2 = tt.broadcast %j1 : tensor<1x32xi32> -> tensor<64x32xi32>
    %offs = arith.addi %start2, %j2 : tensor<64x32xi32>
    %xs2 = tt.splat %x : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>>
    %xp = tt.addptr %xs2, %offs : tensor<64x32x!tt.ptr<i32>>, tensor<64x32xi32>
    %v = tt.load %xp : tensor<64x32x!tt.ptr<i32>>
    %first1 = tt.expand_dims %first {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %first2 = tt.broadcast %first1 : tensor<64x1xi32> -> tensor<64x32xi32>
    %a = arith.muli %v, %c3 : tensor<64x32xi32>
    %b = arith.xori %v, %c5 : tensor<64x32xi32>
    %both = arith.addi %a, %b : tensor<64x32xi32>
    %c = arith.addi %both, %first2 : tensor<64x32xi32>
    %d = arith.addi %c, %j2 : tensor<64x32xi32>
    %ns = tt.splat %n : i32 -> tensor<64x32xi32>
    %large = arith.cmpi sgt, %v, %ns : tensor<64x32xi32>
    %e = arith.select %large, %none, %d : tensor<64x32xi1>, tensor<64x32xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %offs : tensor<64x32x!tt.ptr<i32>>, tensor<64x32xi32>
    tt.store %outp, %e : tensor<64x32x!tt.ptr<i32>>
    tt.return
  }
}
)";

TEST(Strips, OperandsOfEveryFormMeet) {
  std::vector<int32_t> x(kRows * kColumns), expected(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * 7919 % 1000);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      const int32_t value = x[i * kColumns + j];
      expected[i * kColumns + j] = value > 900 ? -1 : 3 * value + (value ^ 5) + x[i * kColumns] + j;
    }
  Bench bench(kRowsAndColumns);
  bench.array("x", x).array("out", std::vector<int32_t>(x.size())).scalar("n", 900);
  const auto report = bench.run(1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  EXPECT_EQ(bench.arrays[1], expected);
}

TEST(Strips, WhatAGroupAloneReadsIsLocal) {
  const Bench bench(kRowsAndColumns);
  const auto plan = bench.kernel->plan({});
  ASSERT_TRUE(plan);
  ASSERT_EQ((*plan)->program.groups.size(), 1u);
  const plan::Group group = (*plan)->program.groups[0];
  int local = 0, kept = 0;
  for (uint32_t at = group.begin; at < group.end; ++at) {
    local += (*plan)->program.code[at].fusing == plan::Fusing::Local;
    kept += (*plan)->program.code[at].fusing == plan::Fusing::Kept;
  }
  EXPECT_EQ(local, 6);  // a, b, both, c, d and the condition
  EXPECT_EQ(kept, 1);   // what is stored
}

// What is done with a group is kept from program to program: programs that shift by another amount, choose the other
// side, or meet another form of an operand, must not be done as the one before.
TEST(Strips, ProgramsThatDoOtherwise) {
  // out[64 pid + i] = (pid % 3 == 1 ? 7 : x[64 pid + i]) << (pid % 5), where the load is of one element for all if pid % 4 == 3.
  const std::string text = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %c64 = arith.constant 64 : i32
    %c5 = arith.constant 5 : i32
    %c4 = arith.constant 4 : i32
    %c3 = arith.constant 3 : i32
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c7 = arith.constant dense<7> : tensor<64xi32>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c64 : i32
    %r5 = arith.remsi %pid, %c5 : i32
    %r4 = arith.remsi %pid, %c4 : i32
    %r3 = arith.remsi %pid, %c3 : i32
    %one = arith.cmpi eq, %r4, %c3 : i32
    %step = arith.select %one, %c0, %c1 : i32
    %second = arith.cmpi eq, %r3, %c1 : i32
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %starts = tt.splat %start : i32 -> tensor<64xi32>
    %steps = tt.splat %step : i32 -> tensor<64xi32>
    %moved = arith.muli %i, %steps : tensor<64xi32>
    %from = arith.addi %starts, %moved : tensor<64xi32>
    %to = arith.addi %starts, %i : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %from : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %v = tt.load %xp : tensor<64x!tt.ptr<i32>>
    %shift = tt.splat %r5 : i32 -> tensor<64xi32>
    %seconds = tt.splat %second : i1 -> tensor<64xi1>
    %chosen = arith.select %seconds, %c7, %v : tensor<64xi1>, tensor<64xi32>
    %w = arith.addi %chosen, %v : tensor<64xi32>
    %y = arith.shli %w, %shift : tensor<64xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %to : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %outp, %y : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
)";
  constexpr int programs = 60;
  std::vector<int32_t> x(64 * programs), expected(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * 7919 % 1000);
  for (int pid = 0; pid < programs; ++pid)
    for (int i = 0; i < 64; ++i) {
      const int32_t v = x[64 * pid + (pid % 4 == 3 ? 0 : i)];
      expected[64 * pid + i] = ((pid % 3 == 1 ? 7 : v) + v) << (pid % 5);
    }
  Bench bench(text);
  bench.array("x", x).array("out", std::vector<int32_t>(x.size()));
  const auto report = bench.run(programs);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(bench.arrays[1], expected);
}

// A group that turns out to be another one is begun again: what stands among its operations is then executed twice.
TEST(Strips, WhatStandsAmongOperationsMayBeExecutedTwice) {
  // out[pid, i, j] = (pid is odd ? 0 : 2 x[i, j]) + 2 x[i, 0]
  const std::string text = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<64x32xf32>
    %width = arith.constant dense<32> : tensor<64xi32>
    %pid = tt.get_program_id x : i32
    %r = arith.remsi %pid, %c2 : i32
    %odd = arith.cmpi eq, %r, %c1 : i32
    %odds = tt.splat %odd : i1 -> tensor<64x32xi1>
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %start = arith.muli %i, %width : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %firstp = tt.addptr %xs, %start : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %firsti = tt.load %firstp : tensor<64x!tt.ptr<i32>>
    %first = arith.sitofp %firsti : tensor<64xi32> to tensor<64xf32>
    %start1 = tt.expand_dims %start {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %start2 = tt.broadcast %start1 : tensor<64x1xi32> -> tensor<64x32xi32>
    %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %j2 = tt.broadcast %j1 : tensor<1x32xi32> -> tensor<64x32xi32>
    %offs = arith.addi %start2, %j2 : tensor<64x32xi32>
    %xs2 = tt.splat %x : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>>
    %xp = tt.addptr %xs2, %offs : tensor<64x32x!tt.ptr<i32>>, tensor<64x32xi32>
    %vi = tt.load %xp : tensor<64x32x!tt.ptr<i32>>
    %v = arith.sitofp %vi : tensor<64x32xi32> to tensor<64x32xf32>
    %twice = arith.addf %v, %v : tensor<64x32xf32>
    %first_ = math.absf %first : tensor<64xf32>
    %more = arith.addf %first_, %first_ : tensor<64xf32>
    %again = arith.mulf %more, %more : tensor<64xf32>
    %root = math.sqrt %again : tensor<64xf32>
    %first1 = tt.expand_dims %root {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %first2 = tt.broadcast %first1 : tensor<64x1xf32> -> tensor<64x32xf32>
    %chosen = arith.select %odds, %none, %twice : tensor<64x32xi1>, tensor<64x32xf32>
    %sum = arith.addf %chosen, %first2 : tensor<64x32xf32>
    %yi = arith.fptosi %sum : tensor<64x32xf32> to tensor<64x32xi32>
    %size = arith.constant 2048 : i32
    %at = arith.muli %pid, %size : i32
    %mine = tt.addptr %out, %at : !tt.ptr<i32>, i32
    %outs = tt.splat %mine : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %offs : tensor<64x32x!tt.ptr<i32>>, tensor<64x32xi32>
    tt.store %outp, %yi : tensor<64x32x!tt.ptr<i32>>
    tt.return
  }
}
)";
  constexpr int programs = 6;
  std::vector<int32_t> x(kRows * kColumns), expected;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * 7919 % 1000);
  for (int pid = 0; pid < programs; ++pid)
    for (size_t i = 0; i < x.size(); ++i) expected.push_back((pid % 2 ? 0 : 2 * x[i]) + 2 * x[i / kColumns * kColumns]);
  Bench bench(text);
  bench.array("x", x).array("out", std::vector<int32_t>(expected.size()));
  const auto report = bench.run(programs);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  EXPECT_EQ(bench.arrays[1], expected);
}

// Groups write what is only stored into memory at once, but not where an operand still lies.
TEST(Strips, WhatIsStoredOverlapsOperands) {
  // out[i] = x[i] + 2 y[i], over several strips of a tile; x and out lie in one storage.
  const std::string text = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %c4096 = arith.constant 4096 : i32
    %two = arith.constant dense<2> : tensor<4096xi32>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c4096 : i32
    %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %starts = tt.splat %start : i32 -> tensor<4096xi32>
    %offs = arith.addi %starts, %i : tensor<4096xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %a = tt.load %xp : tensor<4096x!tt.ptr<i32>>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %offs : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %b = tt.load %yp : tensor<4096x!tt.ptr<i32>>
    %c = arith.muli %b, %two : tensor<4096xi32>
    %d = arith.addi %a, %c : tensor<4096xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %offs : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    tt.store %outp, %d : tensor<4096x!tt.ptr<i32>>
    tt.return
  }
}
)";
  const Bench plans(text);
  const auto plan = plans.kernel->plan({});
  ASSERT_TRUE(plan);
  ASSERT_EQ((*plan)->program.groups.size(), 1u);
  EXPECT_NE((*plan)->program.groups[0].store, 0u);
  constexpr int64_t programs = 12, n = 4096 * programs;
  for (const unsigned threads : {1u, 2u})
    for (const auto& [xAt, outAt] : {std::pair<int64_t, int64_t>{0, 0}, {0, 1}, {1, 0}, {0, 700}, {700, 0}, {0, 4096}, {4096, 0}, {0, n}, {n, 0}}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, x at " << xAt << ", out at " << outAt);
      std::vector<int32_t> memory(2 * n), y(n);
      for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int32_t>(i * 7919 % 1000);
      for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<int32_t>(i * 104729 % 1000);
      std::vector<int32_t> expected = memory;
      for (int64_t p = 0; p < programs; ++p) {
        const std::vector<int32_t> read(expected.begin() + xAt + p * 4096, expected.begin() + xAt + (p + 1) * 4096);
        for (int64_t i = 0; i < 4096; ++i) expected[outAt + p * 4096 + i] = read[i] + 2 * y[p * 4096 + i];
      }
      Bench bench(text);
      bench.array("x", memory).array("y", y);
      launch::Argument out = bench.launch.arguments[0];
      out.name = "out";
      bench.launch.arguments[0].view.offset = 4 * xAt;
      out.view.offset = 4 * outAt;
      bench.launch.arguments[0].view.shape = out.view.shape = {n};
      bench.launch.arguments.push_back(out);
      RunOptions options;
      options.clients.push_back({clients::find("sanitizer")});
      options.threads = threads;
      options.alwaysDivide = threads > 1;
      const auto report = bench.run(programs, options);
      EXPECT_TRUE(report.findings.empty());
      EXPECT_EQ(bench.arrays[0], expected);
    }
}

// A masked load whose mask comes of data: findings explain masks by their values, so these stay tiles.
TEST(Strips, WhatAMaskComesOfStaysATile) {
  const Bench bench(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %zero = arith.constant dense<0> : tensor<64xi32>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %v = tt.load %xp : tensor<64x!tt.ptr<i32>>
    %twice = arith.addi %v, %v : tensor<64xi32>
    %m = arith.cmpi sgt, %twice, %zero : tensor<64xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %outp, %v, %m : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
)");
  const auto plan = bench.kernel->plan({});
  ASSERT_TRUE(plan);
  EXPECT_TRUE((*plan)->program.groups.empty());
}

// Found by generated kernels (seed 808363800): `twice`, which the mask comes of, is a tile, so that it is executed
// before `less` and `sum`, which are a group. `v` is read for the last time there, but `less` has still to read it.
TEST(Strips, WhatMovesUpLeavesTheOperandsOfTheGroup) {
  Bench bench(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %c2 = arith.constant dense<2.0> : tensor<64xf32>
    %c5 = arith.constant dense<5.0> : tensor<64xf32>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %loaded = tt.load %xp : tensor<64x!tt.ptr<i32>>
    %floats = arith.sitofp %loaded : tensor<64xi32> to tensor<64xf32>
    %v = "tt.scan"(%floats) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.scan.return %t : f32
    }) : (tensor<64xf32>) -> tensor<64xf32>
    %less = arith.subf %v, %c5 : tensor<64xf32>
    %twice = arith.mulf %v, %c2 : tensor<64xf32>
    %sum = arith.addf %less, %twice : tensor<64xf32>
    %m = arith.cmpf ogt, %twice, %c5 : tensor<64xf32>
    %result = arith.fptosi %sum : tensor<64xf32> to tensor<64xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %outp, %result, %m : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
)");
  std::vector<int32_t> x(64, 1), expected(64);
  for (int32_t i = 0; i < 64; ++i)
    if (const int32_t v = i + 1; 2 * v > 5) expected[i] = v - 5 + 2 * v;
  bench.array("x", x).array("out", std::vector<int32_t>(64));
  EXPECT_TRUE(bench.run(1).findings.empty());
  EXPECT_EQ(bench.arrays[1], expected);
}

}  // namespace
}  // namespace tilesight::exec
