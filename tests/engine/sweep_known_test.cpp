// What a sweep says of programs is what each program computes by itself: for each operation that addresses and masks are
// made of, where it moves evenly and where it only seems to from the first and the last program.
#include <functional>

#include <gtest/gtest.h>

#include "engine_launch.h"
#include "findings/json.h"

namespace tilesight::exec {
namespace {

// A client that wants values: programs are not swept then.
ts_client reader() {
  ts_client client{};
  client.size = sizeof client;
  client.abi = TS_CLIENT_ABI;
  client.name = "reader";
  client.needs = TS_NEED_VALUES;
  client.fork = [](void* self) { return self; };
  client.merge = [](void*, void*) {};
  client.discard = [](void*, void*) {};
  return client;
}

struct Ran {
  std::vector<std::vector<int32_t>> arrays;
  std::string findings;
  Work work;
};

Ran runOnce(Bench bench, const std::array<int64_t, 3>& grid, bool oneByOne) {
  for (size_t i = 0; i < bench.arrays.size(); ++i)  // the copy's own
    bench.launch.storages[i].data = reinterpret_cast<uint8_t*>(bench.arrays[i].data());
  static const ts_client values = reader();
  Ran ran;
  RunOptions options;
  options.clients.push_back({clients::find("sanitizer")});
  if (oneByOne) options.clients.push_back({&values, "", &ran});
  options.threads = 1;
  options.work = &ran.work;
  const auto report = bench.run(grid, options);
  EXPECT_TRUE(report.unknowns.empty());
  for (const findings::Finding& finding : report.findings) ran.findings += findings::findingJson(finding) + "\n";
  ran.arrays = bench.arrays;
  return ran;
}

// Runs swept and one by one: memory and findings are equal.
Ran same(const Bench& bench, const std::array<int64_t, 3>& grid) {
  const Ran swept = runOnce(bench, grid, false), alone = runOnce(bench, grid, true);
  EXPECT_EQ(alone.work.sweptPrograms + alone.work.sweptTrips, 0);
  EXPECT_EQ(swept.arrays, alone.arrays);
  EXPECT_EQ(swept.findings, alone.findings);
  return swept;
}

std::vector<int32_t> numbers(size_t count) {
  std::vector<int32_t> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<int32_t>(i * 7919 % 1000);
  return result;
}

// -- numbers ----------------------------------------------------------------------------------------------------------

// Mask: the sweep looks at fewer programs where it is not the same for all.
enum class Is { Known, Unknown, Mask, NoIndex };

struct Expression {
  const char* name;
  int32_t programs;
  const char* text;  // of %v, from the program's number %pid
  int64_t (*value)(int64_t pid);
  Is is;
};

constexpr int64_t kLeast = -2147483648;

const Expression kExpressions[] = {
    {"sum", 12, "%v = arith.addi %pid, %c5 : i32", [](int64_t p) { return p + 5; }, Is::Known},
    {"difference", 12, "%t = arith.muli %pid, %c3 : i32\n %v = arith.subi %t, %pid : i32", [](int64_t p) { return 2 * p; }, Is::Known},
    {"difference from a constant", 12, "%v = arith.subi %c100, %pid : i32", [](int64_t p) { return 100 - p; }, Is::Known},
    {"product", 12, "%v = arith.muli %pid, %c3 : i32", [](int64_t p) { return 3 * p; }, Is::Known},
    {"product, the other way round", 12, "%v = arith.muli %c3, %pid : i32", [](int64_t p) { return 3 * p; }, Is::Known},
    {"square", 12, "%v = arith.muli %pid, %pid : i32", [](int64_t p) { return p * p; }, Is::Unknown},
    // -6 .. 6 squared: the same at both ends
    {"square that is the same at both ends", 13, "%t = arith.subi %pid, %c6 : i32\n %v = arith.muli %t, %t : i32", [](int64_t p) { return (p - 6) * (p - 6); }, Is::Unknown},
    {"shift", 12, "%v = arith.shli %pid, %c3 : i32", [](int64_t p) { return 8 * p; }, Is::Known},
    // -8 << 0 .. 0 << 8: the ends are as far apart as a shift by 0 would have it
    {"shift by what moves", 9, "%t = arith.subi %pid, %c8 : i32\n %v = arith.shli %t, %pid : i32", [](int64_t p) { return (p - 8) * (int64_t{1} << p); }, Is::NoIndex},
    {"remainder", 12, "%t = arith.addi %pid, %c64 : i32\n %v = arith.remsi %t, %c100 : i32", [](int64_t p) { return p + 64; }, Is::Known},
    {"unsigned remainder", 12, "%t = arith.addi %pid, %c64 : i32\n %v = arith.remui %t, %c100 : i32", [](int64_t p) { return p + 64; }, Is::Known},
    {"remainder that starts again", 12, "%v = arith.remsi %pid, %c5 : i32", [](int64_t p) { return p % 5; }, Is::Unknown},
    {"unsigned remainder that starts again", 11, "%v = arith.remui %pid, %c5 : i32", [](int64_t p) { return p % 5; }, Is::Unknown},
    // 12 % 1 .. 12 % 12: nothing is left at both ends
    {"remainder by what moves", 12, "%t = arith.addi %pid, %c1 : i32\n %v = arith.remsi %c12, %t : i32", [](int64_t p) { return 12 % (p + 1); }, Is::Unknown},
    {"unsigned remainder by what moves", 12, "%t = arith.addi %pid, %c1 : i32\n %v = arith.remui %c12, %t : i32", [](int64_t p) { return 12 % (p + 1); }, Is::Unknown},
    {"quotient that stays", 12, "%t = arith.addi %pid, %c64 : i32\n %v = arith.divsi %t, %c100 : i32", [](int64_t) { return int64_t{0}; }, Is::Known},
    {"unsigned quotient that stays", 12, "%t = arith.addi %pid, %c64 : i32\n %v = arith.divui %t, %c100 : i32", [](int64_t) { return int64_t{0}; }, Is::Known},
    {"quotient", 12, "%v = arith.divsi %pid, %c5 : i32", [](int64_t p) { return p / 5; }, Is::Unknown},
    {"unsigned quotient", 12, "%v = arith.divui %pid, %c5 : i32", [](int64_t p) { return p / 5; }, Is::Unknown},
    // From -2^31 to 2^31 - 1 in 15 steps: a third of either end, as an unsigned number, is the same.
    {"unsigned quotient of what changes its sign", 16,
     "%a = arith.muli %pid, %c95443717 : i32\n %b = arith.muli %pid, %c95443718 : i32\n %d = arith.addi %least, %a : i32\n"
     "%e = arith.addi %d, %b : i32\n %f = arith.addi %e, %b : i32\n %v = arith.divui %f, %c3 : i32",
     [](int64_t p) { return static_cast<int64_t>(static_cast<uint32_t>(kLeast + p * 286331153) / 3); }, Is::NoIndex},
    {"less", 12, "%t = arith.cmpi slt, %pid, %c100 : i32\n %v = arith.extui %t : i1 to i32", [](int64_t) { return int64_t{1}; }, Is::Known},
    {"less, not everywhere", 12, "%t = arith.cmpi slt, %pid, %c5 : i32\n %v = arith.extui %t : i1 to i32", [](int64_t p) { return int64_t{p < 5}; }, Is::NoIndex},
    // -5 .. 10: neither end is below 5 as an unsigned number
    {"unsigned less in the middle", 16, "%t = arith.subi %pid, %c5 : i32\n %u = arith.cmpi ult, %t, %c5 : i32\n %v = arith.extui %u : i1 to i32",
     [](int64_t p) { return int64_t{p >= 5 && p < 10}; }, Is::Mask},
    {"equal in the middle", 16, "%t = arith.cmpi eq, %pid, %c6 : i32\n %v = arith.extui %t : i1 to i32", [](int64_t p) { return int64_t{p == 6}; }, Is::Mask},
    {"unequal in the middle", 16, "%t = arith.cmpi ne, %pid, %c6 : i32\n %v = arith.extui %t : i1 to i32", [](int64_t p) { return int64_t{p != 6}; }, Is::Mask},
    {"wider", 12, "%t = arith.extsi %pid : i32 to i64\n %v = arith.trunci %t : i64 to i32", [](int64_t p) { return p; }, Is::Known},
    // 0, 64, .. 1024: the last byte is 0 at both ends
    {"cut off", 17, "%s = arith.muli %pid, %c64 : i32\n %t = arith.trunci %s : i32 to i8\n %v = arith.extui %t : i8 to i32", [](int64_t p) { return p * 64 % 256; }, Is::Unknown},
};

class Expressions : public testing::TestWithParam<Expression> {};

Bench benchOf(const std::string& expression, int64_t programs, bool isIndex) {
  Bench bench(R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %read: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    %c6 = arith.constant 6 : i32
    %c8 = arith.constant 8 : i32
    %c12 = arith.constant 12 : i32
    %c64 = arith.constant 64 : i32
    %c100 = arith.constant 100 : i32
    %c95443717 = arith.constant 95443717 : i32
    %c95443718 = arith.constant 95443718 : i32
    %least = arith.constant -2147483648 : i32
    %pid = tt.get_program_id x : i32
    )" + expression + R"(
    %op = tt.addptr %out, %pid : !tt.ptr<i32>, i32
    tt.store %op, %v : !tt.ptr<i32>
)" + (isIndex ? R"(
    %xp = tt.addptr %x, %v : !tt.ptr<i32>, i32
    %l = tt.load %xp : !tt.ptr<i32>
    %rp = tt.addptr %read, %pid : !tt.ptr<i32>, i32
    tt.store %rp, %l : !tt.ptr<i32>
)" : "") + R"(
    tt.return
  }
}
)");
  const auto size = static_cast<size_t>(programs);
  bench.array("x", numbers(256)).array("out", std::vector<int32_t>(size, -1)).array("read", std::vector<int32_t>(size, -1));
  return bench;
}

TEST_P(Expressions, IsWhatEachProgramComputes) {
  const Expression& e = GetParam();
  const bool isIndex = e.is != Is::NoIndex;
  const Ran ran = same(benchOf(e.text, e.programs, isIndex), {e.programs, 1, 1});
  EXPECT_EQ(ran.findings, "");
  const std::vector<int32_t> x = numbers(256);
  for (int64_t p = 0; p < e.programs; ++p) {
    const auto at = static_cast<size_t>(p);
    EXPECT_EQ(ran.arrays[1][at], static_cast<int32_t>(e.value(p))) << "program " << p;
    if (isIndex) {
      EXPECT_EQ(ran.arrays[2][at], x[static_cast<size_t>(e.value(p))]) << "program " << p;
    }
  }
  if (e.is == Is::Known || e.is == Is::Unknown) {
    EXPECT_EQ(ran.work.sweptAccesses, (e.is == Is::Known ? 3 : 2) * e.programs) << "the stores, and the load if its address is known";
  }
}

INSTANTIATE_TEST_SUITE_P(Sweep, Expressions, testing::ValuesIn(kExpressions),
                         [](const testing::TestParamInfo<Expression>& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

// What an operation has to say of its operands is said by the program that it is said of, and once.
TEST(SweepKnown, WhatOperationsSayOfTheirOperands) {
  for (const char* text : {
           "%t = arith.subi %c12, %pid : i32\n %v = arith.divsi %c100, %t : i32",  // 0 in the last program of 13
           "%v = arith.divui %c100, %pid : i32",                                   // in the first one
           "%t = arith.subi %pid, %c6 : i32\n %v = arith.remsi %c100, %t : i32",   // in the middle
           "%s = arith.addi %pid, %c12 : i32\n %t = arith.addi %s, %c8 : i32\n %v = arith.shli %c1, %t : i32",  // by 32 in the last one
           "%t = arith.subi %c12, %pid : i32\n %u = arith.divsi %c100, %t : i32\n %w = arith.addi %u, %c1 : i32\n %v = arith.remsi %c100, %w : i32"}) {
    SCOPED_TRACE(text);
    const Ran ran = same(benchOf(text, 13, false), {13, 1, 1});
    EXPECT_NE(ran.findings, "");
    EXPECT_EQ(ran.findings.find("\"elements\":2"), std::string::npos) << ran.findings;
  }
}

}  // namespace
}  // namespace tilesight::exec
