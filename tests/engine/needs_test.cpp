// What clients need decides what is computed and what they are told.
#include <cstring>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "engine_launch.h"
#include "exec/kernel.h"
#include "tilesight/client.hpp"

namespace tilesight::exec {
namespace {

// y[i] = 2 x[i] + i for the 8 elements of the program's block that are below n; x is read once more for nothing;
// the sum of the products goes to s[pid].
constexpr const char* kScaled = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %s: !tt.ptr<i32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %c8 = arith.constant 8 : i32
    %two = arith.constant dense<2> : tensor<8xi32>
    %start = arith.muli %pid, %c8 : i32
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %ss = tt.splat %start : i32 -> tensor<8xi32>
    %offs = arith.addi %ss, %r : tensor<8xi32>
    %ns = tt.splat %n : i32 -> tensor<8xi32>
    %m = arith.cmpi slt, %offs, %ns : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %unused = tt.load %xp, %m : tensor<8x!tt.ptr<i32>>
    %v = tt.load %xp, %m : tensor<8x!tt.ptr<i32>>
    %d = arith.muli %v, %two : tensor<8xi32>
    %w = arith.addi %d, %offs : tensor<8xi32>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %offs : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %yp, %w, %m : tensor<8x!tt.ptr<i32>>
    %sum = "tt.reduce"(%d) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b : i32
      tt.reduce.return %t : i32
    }) : (tensor<8xi32>) -> i32
    %sp = tt.addptr %s, %pid : !tt.ptr<i32>, i32
    tt.store %sp, %sum : !tt.ptr<i32>
    tt.return
  }
}
)";

struct Scaled : Bench {
  Scaled() : Bench(kScaled) {
    std::vector<int32_t> x(13);
    for (int i = 0; i < 13; ++i) x[i] = 10 * i;
    array("x", x).array("y", std::vector<int32_t>(13, -1)).array("s", {-1, -1}).scalar("n", 13);
  }
};

using Values = std::vector<int32_t>;

// Counts what it is told, and takes the values of loads and stores.
struct Watcher {
  static constexpr const char* name = "watcher";
  static constexpr uint32_t needs = 0;  // each test has its own
  Watcher(const ts_host& host, const char*) : host(&host) {}

  void on_load(const ts_access& access) { take(access, loads); }
  void on_store(const ts_access& access) { take(access, stores); }
  void on_atomic(const ts_access& access) { take(access, atomics); }
  void on_copy(const ts_access&) { ++copies; }
  void on_reduce(const ts_compute& compute) { reduces.push_back({compute.m, compute.n, compute.k}); }
  void program_begin(const ts_program&) { ++programs; }
  void loop_iteration(const ts_iteration& iteration) { iterations.push_back(iteration.value); }

  struct Seen {
    std::map<uint32_t, Values> values;  // by ts_which
    uint32_t sem, scope, element;
  };
  void take(const ts_access& access, std::vector<Seen>& into) {
    Seen& seen = into.emplace_back(Seen{{}, access.sem, access.scope, access.element});
    for (uint32_t which : {TS_VALUE, TS_BEFORE, TS_COMPARED}) {
      Values values(static_cast<size_t>(access.elements));
      if (host->values(&access, which, values.data())) seen.values[which] = values;
    }
  }

  const ts_host* host;
  std::vector<Seen> loads, stores, atomics;
  std::vector<std::tuple<int64_t, int64_t, int64_t>> reduces;
  std::vector<int64_t> iterations;
  int copies = 0, programs = 0;
};

// Runs `bench` with a watcher that has these needs.
Watcher watch(Bench& bench, int64_t grid, uint32_t needs, bool addressOnly) {
  ts_client table = client_table<Watcher>();
  table.needs = needs;
  Watcher watcher(host(), "");
  RunOptions options;
  options.threads = 1;
  options.addressOnly = addressOnly;
  options.clients.push_back({&table, "", &watcher});
  auto report = bench.run(grid, options);
  EXPECT_TRUE(report.unknowns.empty());
  return watcher;
}

size_t count(const Kernel& kernel, const plan::PlanOptions& options, plan::Opcode opcode, bool computed = true) {
  auto plan = kernel.plan(options);
  EXPECT_TRUE(plan) << plan.error().str();
  size_t result = 0;
  for (const plan::Instr& instr : (*plan)->program.code) result += instr.op == opcode && instr.valueNeeded == computed;
  return result;
}

TEST(Needs, AddressesAloneComputeNoValues) {
  Scaled bench;
  const plan::PlanOptions addresses{false, false, false};
  EXPECT_EQ(count(*bench.kernel, addresses, plan::Opcode::Load), 0u);
  EXPECT_EQ(count(*bench.kernel, addresses, plan::Opcode::Load, false), 2u) << "judged all the same";
  EXPECT_EQ(count(*bench.kernel, addresses, plan::Opcode::Reduce), 0u);
  EXPECT_EQ(count(*bench.kernel, addresses, plan::Opcode::Store), 0u);
  Watcher watcher = watch(bench, 2, TS_NEED_ADDRESSES, true);
  ASSERT_EQ(watcher.loads.size(), 4u);
  ASSERT_EQ(watcher.stores.size(), 4u);
  EXPECT_TRUE(watcher.loads[0].values.empty());
  EXPECT_EQ(bench.arrays[1], Values(13, -1)) << "outputs are not computed";
}

TEST(Needs, OutputsNeedWhatTheyAreMadeOf) {
  Scaled bench;
  EXPECT_EQ(count(*bench.kernel, {}, plan::Opcode::Load), 1u);
  EXPECT_EQ(count(*bench.kernel, {}, plan::Opcode::Load, false), 1u) << "nothing uses it";
  Watcher watcher = watch(bench, 2, TS_NEED_ADDRESSES, false);
  EXPECT_EQ(watcher.loads.size(), 4u);
  EXPECT_EQ(bench.arrays[1][12], 2 * 120 + 12);
  EXPECT_EQ(bench.arrays[2], (Values{560, 1000}));
}

TEST(Needs, ValuesAreHandedOverUsedOrNot) {
  for (bool addressOnly : {false, true}) {
    Scaled bench;
    Watcher watcher = watch(bench, 2, TS_NEED_VALUES, addressOnly);
    ASSERT_EQ(watcher.loads.size(), 4u);
    const Values second{80, 90, 100, 110, 120, 0, 0, 0};
    EXPECT_EQ(watcher.loads[2].values[TS_VALUE], second) << "the unused load";
    EXPECT_EQ(watcher.loads[3].values[TS_VALUE], second);
    EXPECT_EQ(watcher.loads[3].element, static_cast<uint32_t>(ir::ElementKind::I32));
    ASSERT_EQ(watcher.stores.size(), 4u);
    EXPECT_EQ(watcher.stores[2].values[TS_VALUE], (Values{168, 189, 210, 231, 252, 13, 14, 15})) << "masked elements, too";
    EXPECT_EQ(watcher.stores[3].values[TS_VALUE], Values{1000});
    EXPECT_FALSE(watcher.stores[3].values.count(TS_BEFORE));
    EXPECT_EQ(bench.arrays[2], (Values{560, 1000})) << "what is computed is written";
  }
}

TEST(Needs, ClientsThatNeedNoValuesGetNone) {
  Scaled bench;
  Watcher watcher = watch(bench, 2, TS_NEED_ADDRESSES, false);
  EXPECT_TRUE(watcher.loads[0].values.empty());
  EXPECT_TRUE(watcher.stores[0].values.empty());
}

TEST(Needs, ReductionsAreAnnouncedWhetherComputedOrNot) {
  for (bool addressOnly : {false, true}) {
    Scaled bench;
    Watcher watcher = watch(bench, 2, TS_NEED_COMPUTE, addressOnly);
    ASSERT_EQ(watcher.reduces.size(), 2u);
    EXPECT_EQ(watcher.reduces[0], std::make_tuple(int64_t{1}, int64_t{1}, int64_t{8}));
    EXPECT_TRUE(watcher.loads.empty()) << "clean accesses are for those who need addresses";
    EXPECT_EQ(bench.arrays[2][1], addressOnly ? -1 : 1000);
  }
}

TEST(Needs, ProgramsAndLoopsComeOnRequest) {
  constexpr const char* kLoop = R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c6 = arith.constant 6 : i32
    scf.for %i = %c0 to %c6 step %c3 : i32 {
      tt.store %y, %i : !tt.ptr<i32>
    }
    tt.return
  }
}
)";
  Bench bench(kLoop);
  bench.array("y", {0});
  EXPECT_EQ(watch(bench, 3, TS_NEED_PROGRAMS, false).programs, 3);
  EXPECT_EQ(watch(bench, 1, TS_NEED_LOOPS, false).iterations, (std::vector<int64_t>{0, 3}));
  Watcher neither = watch(bench, 1, TS_NEED_ADDRESSES, true);
  EXPECT_TRUE(neither.iterations.empty());
  EXPECT_EQ(neither.programs, 0);
}

// c[0] is counted up by an atomic add, c[1] is compared and swapped.
constexpr const char* kAtomics = R"(
module {
  tt.func public @k(%c: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %true = arith.constant true
    %one = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %old = tt.atomic_rmw add, acq_rel, gpu, %c, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %p1 = tt.addptr %c, %one : !tt.ptr<i32>, i32
    %was = tt.atomic_cas acquire, sys, %p1, %pid, %c9 : (!tt.ptr<i32>, i32, i32) -> i32
    tt.return
  }
}
)";

TEST(Needs, AtomicsTellOperandBeforeComparedAndOrder) {
  Bench bench(kAtomics);
  bench.array("c", {40, 0});
  Watcher watcher = watch(bench, 2, TS_NEED_VALUES, false);
  ASSERT_EQ(watcher.atomics.size(), 4u);
  Watcher::Seen& add = watcher.atomics[2];
  EXPECT_EQ(add.values[TS_VALUE], Values{1});
  EXPECT_EQ(add.values[TS_BEFORE], Values{41});
  EXPECT_EQ(add.sem, static_cast<uint32_t>(TS_ACQ_REL));
  EXPECT_EQ(add.scope, static_cast<uint32_t>(TS_SCOPE_GPU));
  Watcher::Seen& swap = watcher.atomics[3];
  EXPECT_EQ(swap.values[TS_VALUE], Values{9});
  EXPECT_EQ(swap.values[TS_BEFORE], Values{9});
  EXPECT_EQ(swap.values[TS_COMPARED], Values{1});
  EXPECT_EQ(swap.sem, static_cast<uint32_t>(TS_ACQUIRE));
  EXPECT_EQ(swap.scope, static_cast<uint32_t>(TS_SCOPE_SYSTEM));
  EXPECT_EQ(bench.arrays[0], (Values{42, 9}));
}

TEST(Needs, AtomicLoadsAndStoresAreLoadsAndStoresWithAnOrder) {
  Bench bench(R"(
module {
  tt.func public @k(%c: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    %v = tt.atomic_load acquire, gpu, %c : (!tt.ptr<i32>) -> i32
    %w = arith.addi %v, %one : i32
    tt.atomic_store release, cta, %c, %w : !tt.ptr<i32>
    %plain = tt.load %c : !tt.ptr<i32>
    tt.return
  }
}
)");
  bench.array("c", {6});
  Watcher watcher = watch(bench, 1, TS_NEED_VALUES, false);
  ASSERT_EQ(watcher.loads.size(), 2u);
  ASSERT_EQ(watcher.stores.size(), 1u);
  EXPECT_EQ(watcher.loads[0].sem, static_cast<uint32_t>(TS_ACQUIRE));
  EXPECT_EQ(watcher.loads[1].sem, static_cast<uint32_t>(TS_NOT_ATOMIC));
  EXPECT_EQ(watcher.loads[1].values[TS_VALUE], Values{7});
  EXPECT_EQ(watcher.stores[0].sem, static_cast<uint32_t>(TS_RELEASE));
  EXPECT_EQ(watcher.stores[0].scope, static_cast<uint32_t>(TS_SCOPE_CTA));
}

TEST(Needs, NoTritonOperationIsACopy) {
  Scaled bench;
  Watcher watcher = watch(bench, 2, TS_NEED_ADDRESSES | TS_NEED_VALUES | TS_NEED_COMPUTE, false);
  EXPECT_EQ(watcher.copies, 0);
}

// A float that is added up is output, as what is stored is; an integer may be a lock.
TEST(Needs, AddressesAloneAddNoFloats) {
  constexpr const char* kSum = R"(
module {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %true = arith.constant true
    %v = tt.load %x : !tt.ptr<f32>
    %w = arith.mulf %v, %v : f32
    %old = tt.atomic_rmw fadd, relaxed, gpu, %y, %w, %true : (!tt.ptr<f32>, f32, i1) -> f32
    tt.return
  }
}
)";
  auto kernel = compile(kSum, "test.ttir");
  ASSERT_TRUE(kernel) << kernel.error().str();
  EXPECT_EQ(count(**kernel, {false, false, false}, plan::Opcode::Binary), 0u);
  EXPECT_EQ(count(**kernel, {}, plan::Opcode::Binary), 1u);
}

// Who waits for a flag waits for what another program stores.
TEST(Needs, ProgramsThatWaitGetWhatOthersStoreEvenForAddresses) {
  Bench bench(R"(
module {
  tt.func public @k(%f: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi eq, %pid, %c0 : i32
    scf.if %first {
      %r = scf.while (%v = %c0) : (i32) -> i32 {
        %w = tt.load %f {isVolatile = true} : !tt.ptr<i32>
        %go = arith.cmpi eq, %w, %c0 : i32
        scf.condition(%go) %w : i32
      } do {
      ^bb0(%z: i32):
        scf.yield %z : i32
      }
    } else {
      tt.store %f, %c1 : !tt.ptr<i32>
    }
    tt.return
  }
}
)");
  bench.array("f", {0});
  auto report = bench.run(2, 1, true);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  EXPECT_EQ(bench.arrays[0][0], 1);
}

}  // namespace
}  // namespace tilesight::exec
