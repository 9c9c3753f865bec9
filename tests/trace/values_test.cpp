// Values of programs, computed again after the launch.
#include <cstring>

#include <gtest/gtest.h>

#include "../engine/engine_launch.h"
#include "trace/values.h"

namespace tilesight::trace {
namespace {

using exec::Bench;

std::vector<int32_t> ints(const Value& value) {
  std::vector<int32_t> result(value.bytes.size() / 4);
  std::memcpy(result.data(), value.bytes.data(), result.size() * 4);
  return result;
}

std::shared_ptr<Values> valuesOf(const Bench& bench) {
  auto values = Values::of(bench.kernel, std::make_shared<launch::Launch>(bench.launch));
  EXPECT_TRUE(values) << values.error().str();
  return values ? *values : nullptr;
}

std::string problem(const Values& values, const Query& query) {
  auto value = values.at(query);
  EXPECT_FALSE(value);
  return value ? std::string() : value.error().message;
}

// y[pid] = the sum of x[4 i + pid] over i = 0, 2, 4; what is read on the way is squared for nothing.
constexpr const char* kSum = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32> loc("x"("k.py":1:1)), %y: !tt.ptr<i32> loc("y"("k.py":1:1))) {
    %pid = tt.get_program_id x : i32 loc("pid"("k.py":2:5))
    %c0 = arith.constant 0 : i32 loc("k.py":4:5)
    %c2 = arith.constant 2 : i32 loc("k.py":4:5)
    %c4 = arith.constant 4 : i32 loc("k.py":4:5)
    %c6 = arith.constant 6 : i32 loc("k.py":4:5)
    %r = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32> loc("r"("k.py":3:5))
    %acc = scf.for %i = %c0 to %c6 step %c2 iter_args(%acc_1 = %c0) -> (i32)  : i32 {
      %at = arith.muli %i, %c4 : i32 loc("at"("k.py":5:5))
      %at_2 = arith.addi %at, %pid : i32 loc("at"("k.py":5:5))
      %p = tt.addptr %x, %at_2 : !tt.ptr<i32>, i32 loc("p"("k.py":6:5))
      %v = tt.load %p : !tt.ptr<i32> loc("v"("k.py":7:5))
      %vs = tt.splat %v : i32 -> tensor<2xi32> loc("unused"("k.py":8:5))
      %sq = arith.muli %vs, %r : tensor<2xi32> loc("unused"("k.py":8:9))
      %more = arith.addi %acc_1, %v : i32 loc("acc"("k.py":9:5))
      scf.yield %more : i32 loc("k.py":4:5)
    } loc("k.py":4:5)
    %yp = tt.addptr %y, %pid : !tt.ptr<i32>, i32 loc("k.py":10:5)
    tt.store %yp, %acc : !tt.ptr<i32> loc("k.py":10:5)
    tt.return loc("k.py":1:1)
  } loc("k.py":1:1)
}
)";

struct Sum : Bench {
  Sum() : Bench(kSum) {
    std::vector<int32_t> x(24);
    for (int i = 0; i < 24; ++i) x[i] = 100 + i;
    array("x", x).array("y", {0, 0, 0, 0});
    launch.grid = {4, 1, 1};
  }
};

TEST(Values, ByLineAndName) {
  Sum bench;
  auto values = valuesOf(bench);
  ASSERT_TRUE(values);
  EXPECT_FALSE(values->needsReads());
  auto last = values->at({.program = {3, 0, 0}, .line = 7, .name = "v"});
  ASSERT_TRUE(last) << last.error().str();
  EXPECT_EQ(ints(*last), std::vector<int32_t>{119}) << "of the last turn";
  EXPECT_EQ(last->occurrences, 3);
  EXPECT_EQ(last->occurrence, 2);
  ASSERT_EQ(last->iterations.size(), 1u);
  EXPECT_EQ(last->iterations[0].name, "i");
  EXPECT_EQ(last->iterations[0].value, 4);
  EXPECT_EQ(last->iterations[0].trip, 2);
  auto first = values->at({.program = {3, 0, 0}, .line = 7, .name = "v", .trips = {{"i", 0}}});
  ASSERT_TRUE(first);
  EXPECT_EQ(ints(*first), std::vector<int32_t>{103});
  auto second = values->at({.program = {3, 0, 0}, .line = 7, .name = "v", .trips = {{"i", 2, true}}});
  ASSERT_TRUE(second);
  EXPECT_EQ(ints(*second), std::vector<int32_t>{111}) << "by the variable's value";
  auto at = values->at({.program = {3, 0, 0}, .line = 5, .name = "at", .occurrence = 1});
  ASSERT_TRUE(at);
  EXPECT_EQ(ints(*at), std::vector<int32_t>{11}) << "what the variable is after its line";
}

TEST(Values, NothingIsCutAway) {
  Sum bench;
  auto values = valuesOf(bench);
  auto unused = values->at({.program = {1, 0, 0}, .name = "unused", .trips = {{"i", 1}}});
  ASSERT_TRUE(unused) << unused.error().str();
  EXPECT_EQ(ints(*unused), (std::vector<int32_t>{0, 109}));
  EXPECT_EQ(unused->shape, std::vector<int64_t>{2});
}

TEST(Values, WhatLoopsCarryAndGive) {
  Sum bench;
  auto values = valuesOf(bench);
  auto carried = values->at({.program = {0, 0, 0}, .name = "%acc_1", .trips = {{"i", 2}}});
  ASSERT_TRUE(carried) << carried.error().str();
  EXPECT_EQ(ints(*carried), std::vector<int32_t>{208}) << "before the turn";
  auto given = values->at({.program = {0, 0, 0}, .name = "%acc"});
  ASSERT_TRUE(given);
  EXPECT_EQ(ints(*given), std::vector<int32_t>{324});
  auto all = values->all({.program = {0, 0, 0}, .line = 9, .name = "acc"});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ(ints((*all)[0]), std::vector<int32_t>{100});
  EXPECT_EQ(ints((*all)[2]), std::vector<int32_t>{324});
}

TEST(Values, PointersTellArgumentAndElement) {
  Sum bench;
  auto values = valuesOf(bench);
  auto pointer = values->at({.program = {2, 0, 0}, .line = 6, .name = "p"});
  ASSERT_TRUE(pointer);
  EXPECT_EQ(pointer->element, ir::ElementKind::Pointer);
  EXPECT_EQ(pointer->arguments, std::vector<int32_t>{0});
  EXPECT_EQ(pointer->offsets, std::vector<int64_t>{18});
}

TEST(Values, OperandsOfAStore) {
  Sum bench;
  auto values = valuesOf(bench);
  uint32_t store = 0;
  for (const Site& site : values->sites())
    if (site.operation == "tt.store") store = site.op;
  EXPECT_EQ(problem(*values, {.op = store}), "operation " + std::to_string(store) + " (tt.store) has no result");
  auto stored = values->at({.program = {0, 0, 0}, .op = store, .operand = 1});
  ASSERT_TRUE(stored) << stored.error().str();
  EXPECT_EQ(ints(*stored), std::vector<int32_t>{324});
}

TEST(Values, StepsAndWhatTheyMake) {
  Sum bench;
  auto values = valuesOf(bench);
  auto steps = values->steps({0, 0, 0});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->total, static_cast<int64_t>(steps->steps.size()));
  int loads = 0;
  for (int64_t s = 0; s < steps->total; ++s) {
    const Step& step = steps->steps[static_cast<size_t>(s)];
    if (values->sites()[step.site].operation != "tt.load") continue;
    EXPECT_EQ(step.trips, std::vector<int64_t>{loads});
    auto made = values->valuesAt({0, 0, 0}, s);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->size(), 2u) << "its operand and its result";
    EXPECT_TRUE((*made)[0].operand);
    EXPECT_EQ(ints((*made)[1]), std::vector<int32_t>{100 + 8 * loads});
    ++loads;
  }
  EXPECT_EQ(loads, 3);
  EXPECT_FALSE(values->valuesAt({0, 0, 0}, steps->total));
  auto some = values->steps({0, 0, 0}, 2, 3);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->steps.size(), 3u);
  EXPECT_EQ(some->total, steps->total);
}

TEST(Values, SaysWhatThereIs) {
  Sum bench;
  auto values = valuesOf(bench);
  EXPECT_EQ(problem(*values, {.program = {4, 0, 0}, .name = "v"}), "there is no program (4, 0, 0): the grid is (4, 1, 1)");
  EXPECT_EQ(problem(*values, {.line = 7, .name = "w"}), "no \"w\" gets a value on line 7 of k.py: there are v");
  EXPECT_EQ(problem(*values, {.line = 6, .name = "v"}), "no \"v\" gets a value on line 6 of k.py: there are p");
  EXPECT_EQ(problem(*values, {.line = 7, .name = "v", .trips = {{"i", 5}}}),
            "program (0, 0, 0) comes to \"v\" in turns 0 to 2 of i, not in turn 5");
  EXPECT_EQ(problem(*values, {.line = 7, .name = "v", .trips = {{"j", 0}}}), "\"v\" is in no loop over \"j\"");
  EXPECT_EQ(problem(*values, {.name = "v", .occurrence = 3}), "program (0, 0, 0) comes to \"v\" 3 times, so there is no occurrence 3");
  EXPECT_EQ(problem(*values, {.op = 1000}), "the kernel has no operation 1000");
}

// Each program takes a ticket from c[0], reads what the one before it left in c[1], and leaves its own number.
constexpr const char* kTickets = R"(
module {
  tt.func public @k(%c: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %true = arith.constant true
    %one = arith.constant 1 : i32
    %ticket = tt.atomic_rmw add, acq_rel, gpu, %c, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %p = tt.addptr %c, %one : !tt.ptr<i32>, i32
    %before = tt.load %p : !tt.ptr<i32>
    tt.store %p, %pid : !tt.ptr<i32>
    %after = tt.load %p : !tt.ptr<i32>
    tt.return
  }
}
)";

TEST(Values, ReadsOfOthersAndAtomicsComeAsTheyWere) {
  Bench bench(kTickets);
  bench.array("c", {40, 9});
  bench.launch.grid = {5, 1, 1};
  auto values = valuesOf(bench);
  EXPECT_TRUE(values->needsReads());
  for (int64_t p : {3, 0}) {
    for (auto [name, expected] : {std::pair<const char*, int64_t>{"ticket", 40 + p}, {"before", p ? p - 1 : 9}, {"after", p}}) {
      auto value = values->at({.program = {p, 0, 0}, .name = name});
      ASSERT_TRUE(value) << value.error().str();
      EXPECT_EQ(ints(*value), std::vector<int32_t>{static_cast<int32_t>(expected)}) << name << " of " << p;
    }
  }
  EXPECT_EQ(bench.arrays[0], (std::vector<int32_t>{40, 9})) << "the launch stays as it is";
}

// A load that leaves its tensor is no read of what others wrote.
TEST(Values, OutOfBoundsLoadsAreReplayed) {
  Bench bench(kSum);
  bench.array("x", {1, 2, 3, 4, 5, 6, 7, 8}).array("y", {0, 0, 0, 0});
  bench.launch.grid = {4, 1, 1};
  auto values = valuesOf(bench);
  ASSERT_TRUE(values);
  auto acc = values->at({.program = {3, 0, 0}, .line = 9, .name = "acc"});
  ASSERT_TRUE(acc) << acc.error().str();
  EXPECT_EQ(ints(*acc), std::vector<int32_t>{4}) << "4 + 0 + 0";
}

TEST(Values, ReadsThatWereKeptServeAfterTheLaunch) {
  Bench bench(kTickets);
  bench.array("c", {40, 9});
  auto reads = std::make_shared<exec::ReadsOfPrograms>();
  exec::RunOptions options;
  options.keepReads = reads.get();
  options.keepAllReads = true;
  bench.run(5, options);
  EXPECT_EQ(bench.arrays[0], (std::vector<int32_t>{45, 4}));
  auto values = Values::of(bench.kernel, std::make_shared<launch::Launch>(bench.launch), reads);
  ASSERT_TRUE(values);
  auto ticket = (*values)->at({.program = {3, 0, 0}, .name = "ticket"});
  ASSERT_TRUE(ticket) << ticket.error().str();
  EXPECT_EQ(ints(*ticket), std::vector<int32_t>{43});
}

// Does one program's store agree with what the launch left, and if not, who is it?
TEST(Agreement, OfWhatOneProgramStoresAlone) {
  Sum bench;
  bench.run(4);
  auto values = valuesOf(bench);
  ASSERT_TRUE(values);
  values->compareWith(std::make_shared<launch::Launch>(bench.launch));
  const Query query{.program = {1, 0, 0}, .line = 7, .name = "v"};
  EXPECT_TRUE(values->at(query));
  bench.arrays[0][17] = 5;  // the last that program 1 reads
  EXPECT_NE(problem(*values, query).find("program (1, 0, 0) stores to tensor y something else than it holds now"), std::string::npos);
  EXPECT_TRUE(values->at({.program = {2, 0, 0}, .line = 7, .name = "v"}));
}

TEST(Agreement, NothingIsComparedWithoutData) {
  Sum bench;
  bench.run(4);
  auto values = valuesOf(bench);
  ASSERT_TRUE(values);
  auto left = std::make_shared<launch::Launch>(bench.launch);
  left->storages[1].data = nullptr;
  values->compareWith(left, {false, true});
  bench.arrays[0][17] = 5;
  EXPECT_TRUE(values->at({.program = {1, 0, 0}, .line = 7, .name = "v"}));
  EXPECT_TRUE(values->lost(1));
  EXPECT_FALSE(values->lost(0));
  values->compareWith(nullptr);
  EXPECT_FALSE(values->lost(1));
}

TEST(Copies, OnlyWhatIsReadAndWrittenIsCopied) {
  Sum bench;
  const auto later = copyForLater(*bench.kernel, bench.launch);
  EXPECT_EQ(later->storages[0].data, bench.launch.storages[0].data);
  EXPECT_EQ(later->storages[1].data, bench.launch.storages[1].data);
  const auto run = copyForRun(*bench.kernel, bench.launch);
  EXPECT_EQ(run->storages[0].data, bench.launch.storages[0].data);
  EXPECT_NE(run->storages[1].data, bench.launch.storages[1].data);
  bench.launch.arguments[1].view.storage = 0;  // one storage for both
  EXPECT_NE(copyForLater(*bench.kernel, bench.launch)->storages[0].data, bench.launch.storages[0].data);
}

TEST(Copies, MemoryOfCopiesIsUsedAgainAndHoldsWhatItShould) {
  Sum bench;
  bench.launch.arguments[1].view.storage = 0;
  const uint8_t* first = copyForLater(*bench.kernel, bench.launch)->storages[0].data;
  bench.arrays[0].assign(bench.arrays[0].size(), 0);
  const auto again = copyForLater(*bench.kernel, bench.launch);
  EXPECT_EQ(again->storages[0].data, first);
  EXPECT_EQ(std::memcmp(again->storages[0].data, bench.arrays[0].data(), bench.launch.storages[0].bytes), 0);
  const auto other = copyForLater(*bench.kernel, bench.launch);
  EXPECT_NE(other->storages[0].data, again->storages[0].data);
}

}  // namespace
}  // namespace tilesight::trace
