// Sweeps are entered, and with 1, 2 and 16 threads a launch gives the same bytes, findings and accesses in the same
// order, whatever axis of the grid the programs are on and however their tiles lie in memory.
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine_launch.h"
#include "findings/json.h"

namespace tilesight::exec {
namespace {

constexpr int kTile = 16;
constexpr int64_t kPrograms = 700;  // 32 ranges of more than 8

// -- a client that writes down all that it hears --------------------------------------------------------------------

std::string& textOf(void* state) { return *static_cast<std::string*>(state); }

const ts_host* listened = nullptr;

void heard(void* state, const ts_access* access) {
  std::vector<int64_t> addresses(static_cast<size_t>(access->elements));
  std::vector<uint8_t> mask(addresses.size());
  listened->addresses(access, addresses.data());
  listened->mask_bytes(access, mask.data());
  int64_t sum = 0;  // of the addresses, each by its place
  for (size_t i = 0; i < addresses.size(); ++i) sum = sum * 31 + (mask[i] ? addresses[i] : -1);
  textOf(state) += fmt::format("{} {} {} {} {:x} {}\n", access->program->linear, access->op, access->argument, access->active, sum, access->faults);
}

ts_client listener() {
  ts_client client{};
  client.size = sizeof client;
  client.abi = TS_CLIENT_ABI;
  client.name = "listener";
  client.needs = TS_NEED_ADDRESSES | TS_NEED_PROGRAMS | TS_NEED_LOOPS;
  client.fork = [](void*) -> void* { return new std::string; };
  client.merge = [](void* self, void* state) {
    textOf(self) += textOf(state);
    delete static_cast<std::string*>(state);
  };
  client.discard = [](void*, void* state) { delete static_cast<std::string*>(state); };
  client.program_begin = [](void* state, const ts_program* p) { textOf(state) += fmt::format("({}, {}, {})\n", p->id[0], p->id[1], p->id[2]); };
  client.loop_iteration = [](void* state, const ts_iteration* i) { textOf(state) += fmt::format("trip {} {}\n", i->trip, i->value); };
  client.on_load = client.on_store = heard;
  return client;
}

// -- launches -------------------------------------------------------------------------------------------------------

using Grid = std::array<int64_t, 3>;

struct Ran {
  std::vector<std::vector<int32_t>> arrays;
  std::string findings, accesses;
  Work work;
};

// `threads` and `ranges` as RunOptions.
Ran runOnce(const std::function<Bench()>& make, const Grid& grid, unsigned threads, size_t ranges) {
  Bench bench = make();
  Ran ran;
  static const ts_client table = listener();
  listened = &host();
  RunOptions options;
  options.clients.push_back({clients::find("sanitizer")});
  options.clients.push_back({&table, "", &ran.accesses});
  options.threads = threads;
  options.alwaysDivide = threads > 1;
  options.ranges = ranges;
  options.work = &ran.work;
  const auto report = bench.run(grid, options);
  EXPECT_TRUE(report.unknowns.empty());
  for (const findings::Finding& finding : report.findings) ran.findings += findings::findingJson(finding) + "\n";
  ran.arrays = bench.arrays;
  return ran;
}

// Runs with several thread counts; all must be as with one. `work` looks at what each did.
Ran same(const std::function<Bench()>& make, const Grid& grid, const std::function<void(const Work&)>& work) {
  const Ran one = runOnce(make, grid, 1, 0);
  EXPECT_EQ(one.work.ranges, 0);
  work(one.work);
  for (const auto& [threads, ranges] : {std::pair{2u, size_t{0}}, {2u, size_t{3}}, {16u, size_t{0}}}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const Ran other = runOnce(make, grid, threads, ranges);
    EXPECT_EQ(other.work.ranges, ranges ? static_cast<int64_t>(ranges) : 2 * threads);
    EXPECT_FALSE(other.work.redone);
    work(other.work);
    EXPECT_EQ(other.arrays, one.arrays);
    EXPECT_EQ(other.findings, one.findings);
    EXPECT_TRUE(other.accesses == one.accesses);
  }
  return one;
}

void replaceAll(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

// out[16 p + i] = 3 x[16 p + step i] + p for 16 p + i < n; p: the program's number along AXIS.
std::string vectors(const std::string& axis) {
  std::string text = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32, %step: i32) {
    %c16 = arith.constant 16 : i32
    %c3 = arith.constant dense<3> : tensor<16xi32>
    %pid = tt.get_program_id AXIS : i32
    %start = arith.muli %pid, %c16 : i32
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %starts = tt.splat %start : i32 -> tensor<16xi32>
    %offs = arith.addi %starts, %i : tensor<16xi32>
    %ns = tt.splat %n : i32 -> tensor<16xi32>
    %mask = arith.cmpi slt, %offs, %ns : tensor<16xi32>
    %steps = tt.splat %step : i32 -> tensor<16xi32>
    %apart = arith.muli %i, %steps : tensor<16xi32>
    %from = arith.addi %starts, %apart : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %from : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %v = tt.load %xp, %mask : tensor<16x!tt.ptr<i32>> loc("k.py":3:5)
    %t = arith.muli %v, %c3 : tensor<16xi32>
    %ps = tt.splat %pid : i32 -> tensor<16xi32>
    %sum = arith.addi %t, %ps : tensor<16xi32>
    %outs = tt.splat %out : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %outp = tt.addptr %outs, %offs : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %outp, %sum, %mask : tensor<16x!tt.ptr<i32>> loc("k.py":4:5)
    tt.return
  }
}
)";
  replaceAll(text, "AXIS", axis);
  return text;
}

std::vector<int32_t> numbers(int64_t count) {
  std::vector<int32_t> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result[static_cast<size_t>(i)] = static_cast<int32_t>(i * 7919 % 1000);
  return result;
}

TEST(SweepThreads, EachAxisOfTheGrid) {
  for (const int axis : {0, 1, 2})
    for (const int step : {1, 2, 0})
      for (const int cut : {0, 5, kTile, 30}) {
        SCOPED_TRACE(testing::Message() << "axis " << axis << " step " << step << " cut " << cut);
        Grid grid{1, 1, 1};
        grid[static_cast<size_t>(axis)] = kPrograms;
        const int64_t n = kPrograms * kTile - cut;
        const std::vector<int32_t> x = numbers(n + 2 * kTile);
        const auto make = [&] {
          Bench bench(vectors(std::string(1, static_cast<char>('x' + axis))));
          bench.array("x", x).array("out", std::vector<int32_t>(static_cast<size_t>(n), -1));
          bench.scalar("n", static_cast<int32_t>(n)).scalar("step", step);
          return bench;
        };
        const Ran ran = same(make, grid, [&](const Work& work) {
          const int64_t tails = (cut + kTile - 1) / kTile;  // programs whose masks are not whole
          EXPECT_GE(work.sweptPrograms, kPrograms - tails);
          EXPECT_GE(work.sweptAccesses, 2 * (kPrograms - 8 * tails));  // before a tail a stretch is halved
          EXPECT_LE(work.sweptAccesses, 2 * kPrograms);
        });
        EXPECT_EQ(ran.findings, "");
        for (int64_t e = 0; e < n; ++e)
          ASSERT_EQ(ran.arrays[1][static_cast<size_t>(e)], 3 * x[static_cast<size_t>(e / kTile * kTile + e % kTile * step)] + e / kTile) << e;
      }
}

TEST(SweepThreads, ProgramsThatLeaveTheData) {
  const int64_t n = kPrograms * kTile, size = n - 300;  // the last programs are outside, or partly
  const auto make = [&] {
    Bench bench(vectors("x"));
    bench.array("x", std::vector<int32_t>(static_cast<size_t>(size), 2)).array("out", std::vector<int32_t>(static_cast<size_t>(n), -1));
    bench.scalar("n", static_cast<int32_t>(n)).scalar("step", 1);
    return bench;
  };
  const Ran ran = same(make, {kPrograms, 1, 1}, [&](const Work& work) { EXPECT_GE(work.sweptAccesses, kPrograms / 2); });
  EXPECT_NE(ran.findings.find("out-of-bounds"), std::string::npos);
  for (int64_t e = 0; e < size; ++e) ASSERT_EQ(ran.arrays[1][static_cast<size_t>(e)], 6 + e / kTile) << e;
}

// out[p, j, i] = a[j] + b[p, i]: a column that all programs read, and a row of their own; both spread over the tile. Where
// `rows` is 2, x is half of the grid and the other axis has the rest.
TEST(SweepThreads, RowsAndColumnsThatAreBroadcast) {
  constexpr const char* kText = R"(
module {
  tt.func public @k(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %out: !tt.ptr<i32>, %across: i32) {
    %c16 = arith.constant 16 : i32
    %c64 = arith.constant 64 : i32
    %w = arith.constant dense<16> : tensor<4x1xi32>
    %px = tt.get_program_id x : i32
    %py = tt.get_program_id y : i32
    %row = arith.muli %py, %across : i32
    %p = arith.addi %row, %px : i32
    %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %j1 = tt.expand_dims %j {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %j2 = tt.broadcast %j1 : tensor<4x1xi32> -> tensor<4x16xi32>
    %i2 = tt.broadcast %i1 : tensor<1x16xi32> -> tensor<4x16xi32>
    %as = tt.splat %a : !tt.ptr<i32> -> tensor<4x16x!tt.ptr<i32>>
    %ap = tt.addptr %as, %j2 : tensor<4x16x!tt.ptr<i32>>, tensor<4x16xi32>
    %av = tt.load %ap : tensor<4x16x!tt.ptr<i32>>
    %b0 = arith.muli %p, %c16 : i32
    %bp = tt.addptr %b, %b0 : !tt.ptr<i32>, i32
    %bs = tt.splat %bp : !tt.ptr<i32> -> tensor<4x16x!tt.ptr<i32>>
    %bq = tt.addptr %bs, %i2 : tensor<4x16x!tt.ptr<i32>>, tensor<4x16xi32>
    %bv = tt.load %bq : tensor<4x16x!tt.ptr<i32>>
    %sum = arith.addi %av, %bv : tensor<4x16xi32>
    %o0 = arith.muli %p, %c64 : i32
    %op = tt.addptr %out, %o0 : !tt.ptr<i32>, i32
    %jw = arith.muli %j1, %w : tensor<4x1xi32>
    %jw2 = tt.broadcast %jw : tensor<4x1xi32> -> tensor<4x16xi32>
    %to = arith.addi %jw2, %i2 : tensor<4x16xi32>
    %os = tt.splat %op : !tt.ptr<i32> -> tensor<4x16x!tt.ptr<i32>>
    %oq = tt.addptr %os, %to : tensor<4x16x!tt.ptr<i32>>, tensor<4x16xi32>
    tt.store %oq, %sum : tensor<4x16x!tt.ptr<i32>>
    tt.return
  }
}
)";
  for (const int64_t rows : {1, 2}) {
    SCOPED_TRACE(testing::Message() << rows << " rows");
    const int64_t across = kPrograms / rows;
    const std::vector<int32_t> a = numbers(4), b = numbers(kPrograms * 16);
    const auto make = [&] {
      Bench bench(kText);
      bench.array("a", a).array("b", b).array("out", std::vector<int32_t>(static_cast<size_t>(kPrograms * 64), -1));
      bench.scalar("across", static_cast<int32_t>(across));
      return bench;
    };
    const Ran ran = same(make, {across, rows, 1}, [&](const Work& work) {
      EXPECT_GE(work.sweptPrograms, kPrograms - 16 * (rows - 1));  // a range may have few programs of a row
      EXPECT_GE(work.sweptAccesses, 3 * (kPrograms - 16 * (rows - 1)));
    });
    for (int64_t e = 0; e < kPrograms * 64; ++e)
      ASSERT_EQ(ran.arrays[2][static_cast<size_t>(e)], a[static_cast<size_t>(e / 16 % 4)] + b[static_cast<size_t>(e / 64 * 16 + e % 16)]) << e;
  }
}

// out[p, i] = x[p, i] + count of the tiles before it, for i < cols, in a loop over tiles of 16; p along z.
TEST(SweepThreads, LoopsOfOneTripAndOfMany) {
  constexpr const char* kText = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %cols: i32, %room: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %ns = tt.splat %cols : i32 -> tensor<16xi32>
    %pid = tt.get_program_id z : i32
    %row = arith.muli %pid, %room : i32
    %xr = tt.addptr %x, %row : !tt.ptr<i32>, i32
    %or = tt.addptr %out, %row : !tt.ptr<i32>, i32
    %xs = tt.splat %xr : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %os = tt.splat %or : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %count = scf.for %start = %c0 to %cols step %c16 iter_args(%before = %c0) -> (i32) : i32 {
      %starts = tt.splat %start : i32 -> tensor<16xi32>
      %offs = arith.addi %starts, %i : tensor<16xi32>
      %mask = arith.cmpi slt, %offs, %ns : tensor<16xi32>
      %xp = tt.addptr %xs, %offs : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
      %v = tt.load %xp, %mask : tensor<16x!tt.ptr<i32>>
      %bs = tt.splat %before : i32 -> tensor<16xi32>
      %sum = arith.addi %v, %bs : tensor<16xi32>
      %op = tt.addptr %os, %offs : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
      tt.store %op, %sum, %mask : tensor<16x!tt.ptr<i32>>
      %next = arith.addi %before, %c1 : i32
      scf.yield %next : i32
    }
    tt.return
  }
}
)";
  for (const int32_t cols : {0, 1, 15, 16, 17, 96, 100}) {
    SCOPED_TRACE(testing::Message() << cols << " columns");
    constexpr int32_t kRoom = 100;
    const int64_t trips = (cols + 15) / 16;
    const std::vector<int32_t> x = numbers(kPrograms * kRoom);
    const auto make = [&] {
      Bench bench(kText);
      bench.array("x", x).array("out", std::vector<int32_t>(static_cast<size_t>(kPrograms * kRoom), -1));
      bench.scalar("cols", cols).scalar("room", kRoom);
      return bench;
    };
    const Ran ran = same(make, {1, 1, kPrograms}, [&](const Work& work) {
      EXPECT_EQ(work.sweptPrograms, kPrograms);
      const int64_t whole = cols / 16;  // trips without a tail
      EXPECT_EQ(work.sweptTrips, trips < 4 ? 0 : kPrograms * whole);
      if (trips == 1) {
        EXPECT_EQ(work.sweptAccesses, 2 * kPrograms) << "the loop's accesses are the programs'";
      } else if (trips >= 4) {
        EXPECT_EQ(work.sweptAccesses, 2 * kPrograms * whole);
      }
    });
    EXPECT_EQ(ran.findings, "");
    for (int64_t e = 0; e < kPrograms * kRoom; ++e) {
      const int64_t i = e % kRoom;
      ASSERT_EQ(ran.arrays[1][static_cast<size_t>(e)], i < cols ? x[static_cast<size_t>(e)] + i / 16 : -1) << e;
    }
  }
}

}  // namespace
}  // namespace tilesight::exec
