// The analysis of ranges against evaluation: random programs on i8, every input.
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "passes/constants.h"
#include "passes/fold.h"
#include "passes/range.h"
#include "text/text.h"

namespace tilesight::passes {
namespace {

constexpr const char* kOperations[] = {"addi", "subi", "muli", "divsi", "remsi", "divui", "remui", "andi", "ori", "xori",
                                       "minsi", "maxsi", "minui", "maxui", "shli", "shrsi", "shrui"};
constexpr const char* kPredicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};

struct Random {
  std::mt19937 engine;
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
};

/// A function of two i8 arguments: constants, arithmetic, comparisons, selects, and an if.
std::string randomProgram(Random& random) {
  std::string text = "tt.func public @f(%a: i8 {tt.divisibility = 4 : i32}, %b: i8) {\n";
  std::vector<std::string> numbers = {"%a", "%b"}, truths;
  int next = 0;
  const auto any = [&] { return numbers[static_cast<size_t>(random.below(static_cast<int>(numbers.size())))]; };
  for (int i = 0; i < 12; ++i) {
    const std::string name = fmt::format("%v{}", next++);
    switch (random.below(6)) {
      case 0:
        text += fmt::format("  {} = arith.constant {} : i8\n", name, random.below(2) ? random.below(8) : random.below(256) - 128);
        numbers.push_back(name);
        break;
      case 1:
        text += fmt::format("  {} = arith.cmpi {}, {}, {} : i8\n", name, kPredicates[random.below(10)], any(), any());
        truths.push_back(name);
        break;
      case 2:
        if (truths.empty()) break;
        text += fmt::format("  {} = arith.select {}, {}, {} : i8\n", name, truths[static_cast<size_t>(random.below(static_cast<int>(truths.size())))], any(), any());
        numbers.push_back(name);
        break;
      default:
        text += fmt::format("  {} = arith.{} {}, {} : i8\n", name, kOperations[random.below(17)], any(), any());
        numbers.push_back(name);
    }
  }
  return text + "  tt.return\n}\n";
}

/// Values of all operations for one input; nothing after an operation without a defined value.
std::unordered_map<const ir::Value*, int64_t> evaluate(const ir::Block& body, int64_t a, int64_t b) {
  std::unordered_map<const ir::Value*, int64_t> values = {{body.arguments[0].get(), a}, {body.arguments[1].get(), b}};
  for (const auto& op : body.operations) {
    if (op->results.empty()) continue;
    std::optional<int64_t> value;
    bool defined = true;
    for (const ir::Value* operand : op->operands) defined = defined && values.count(operand);
    if (!defined) continue;
    if (op->name == "arith.constant") value = constantInteger(op->result());
    else if (op->name == "arith.select") value = values[op->operands[values[op->operands[0]] ? 1 : 2]];
    else value = foldInteger(op->name, op->string("predicate"), values[op->operands[0]], values[op->operands[1]], 8);
    if (value) values[op->result()] = *value;
  }
  return values;
}

TEST(Range, HoldsForEveryInputOfRandomPrograms) {
  Random random{std::mt19937(7)};
  int exact = 0, bounded = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string text = randomProgram(random);
    ir::Context context;
    auto module = text::parse(text, "r.mlir", context);
    ASSERT_TRUE(module) << module.error().str() << text;
    const ir::Block& body = *module->entry()->regions[0]->blocks[0];
    RangeAnalysis analysis;
    std::unordered_map<const ir::Value*, IntegerRange> ranges;
    for (const auto& op : body.operations)
      for (const auto& result : op->results) {
        const IntegerRange range = analysis.of(result.get());
        ranges[result.get()] = range;
        if (op->name == "arith.constant") continue;
        exact += range.isExact();
        bounded += range.low > -128 || range.high < 127 || range.modulus != 1;
      }
    for (int64_t a = -128; a < 128; a += 4)
      for (int64_t b = -128; b < 128; ++b)
        for (const auto& [value, number] : evaluate(body, a, b))
          if (auto range = ranges.find(value); range != ranges.end() && !range->second.contains(number)) {
            FAIL() << "%" << value->spelling << " is " << number << " for a = " << a << ", b = " << b << ", not in " << range->second.str() << "\n" << text;
          }
  }
  // Else the test would say nothing.
  EXPECT_GT(exact, 20);
  EXPECT_GT(bounded, 500);
}

TEST(Range, HoldsForLoopsOfAllSmallBoundsAndSteps) {
  // Every low, high and step: the values that the loop's variable and what it carries really have.
  for (int64_t low = -6; low <= 6; low += 3)
    for (int64_t high = -4; high <= 12; ++high)
      for (int64_t step = 1; step <= 5; ++step)
        for (int64_t by : {-7, 0, 3, 40}) {
          const std::string text = fmt::format(R"(tt.func public @f(%b: i8) {{
  %low = arith.constant {} : i8
  %high = arith.constant {} : i8
  %step = arith.constant {} : i8
  %by = arith.constant {} : i8
  %r = scf.for %i = %low to %high step %step iter_args(%x = %low) -> (i8)  : i8 {{
    %y = arith.addi %x, %by : i8
    scf.yield %y : i8
  }}
  tt.return
}}
)", low, high, step, by);
          ir::Context context;
          auto module = text::parse(text, "r.mlir", context);
          ASSERT_TRUE(module) << module.error().str();
          const ir::Operation& loop = *module->entry()->regions[0]->blocks[0]->operations[4];
          const ir::Block& body = *loop.regions[0]->blocks[0];
          RangeAnalysis analysis;
          const IntegerRange variable = analysis.of(body.arguments[0].get()), carried = analysis.of(body.arguments[1].get()), result = analysis.of(loop.result());
          int64_t x = low;
          for (int64_t i = low; i < high; i += step) {
            ASSERT_TRUE(variable.contains(i)) << i << " not in " << variable.str() << "\n" << text;
            ASSERT_TRUE(carried.contains(x)) << x << " not in " << carried.str() << "\n" << text;
            x = wrapped(x + by, 8);
          }
          ASSERT_TRUE(result.contains(x)) << x << " not in " << result.str() << "\n" << text;
        }
}

IntegerRange rangeOf(const std::string& text, const std::string& name, const std::string& assumptions = "") {
  ir::Context context;
  auto module = text::parse(text, "r.mlir", context);
  EXPECT_TRUE(module) << module.error().str();
  auto assumed = Assumptions::parse(assumptions);
  EXPECT_TRUE(assumed);
  RangeAnalysis analysis(*assumed);
  IntegerRange range = IntegerRange::exactly(INT64_MIN);
  ir::walk(*module->top, [&](ir::Operation& op) {
    for (const auto& result : op.results)
      if (result->spelling == name) range = analysis.of(result.get());
    return true;
  });
  return range;
}

TEST(Range, AVariableThatMayWrapIsNotBoundedFromBelow) {
  const std::string loop = R"(tt.func public @f(%n: i32) {{
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  scf.for %i = %c0 to %n step %c64  : i32 {{
    %x = arith.addi %i, %c0 : i32
  }}
  tt.return
}}
)";
  EXPECT_EQ(rangeOf(fmt::format(fmt::runtime(loop)), "x").low, INT32_MIN);
  EXPECT_EQ(rangeOf(fmt::format(fmt::runtime(loop)), "x", "n=0..1000000").low, 0);
  EXPECT_EQ(rangeOf(fmt::format(fmt::runtime(loop)), "x", "n%64=0").low, 0) << "it meets its bound";
}

TEST(Range, OfProgramsNeedsTheGrid) {
  const std::string text = R"(tt.func public @f() {
  %p = tt.get_program_id x : i32
  %c64 = arith.constant 64 : i32
  %o = arith.muli %p, %c64 : i32
  tt.return
}
)";
  EXPECT_EQ(rangeOf(text, "p").low, 0);
  EXPECT_EQ(rangeOf(text, "p").high, INT32_MAX - 1);
  EXPECT_EQ(rangeOf(text, "o").low, INT32_MIN) << "the product may wrap";
  EXPECT_EQ(rangeOf(text, "o", "grid.x=16").str(), "0..960, 0 mod 64");
}

TEST(Range, AssumptionsAreReadStrictly) {
  for (const char* wrong : {"N", "=3", "N=", "N=4..2", "K%0=1", "grid.x=0", "grid.x=1..4", "N=1x"})
    EXPECT_FALSE(Assumptions::parse(wrong)) << wrong;
  const auto read = Assumptions::parse("grid.x=4, N=16..128 N%16=0 M=-3");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->grid[0], 4);
  EXPECT_EQ(read->arguments.at("N").str(), "16..128, 0 mod 16");
  EXPECT_EQ(read->arguments.at("M").str(), "-3");
}

}  // namespace
}  // namespace tilesight::passes
