// Dialects of plugins: text with their operations is read, checked, changed by passes, and runs once they are lowered.
#include <fmt/format.h>

#include "../engine/engine_launch.h"
#include "ir/context.h"
#include "ir/verifier.h"
#include "passes/manager.h"
#include "plugins/catalog.h"
#include "plugins/dynamic.h"
#include "plugins/lowering.h"
#include "text/text.h"

namespace tilesight::plugins {
namespace {

std::string pathOf(const std::string& name) { return std::string(TILESIGHT_TEST_PLUGINS "/") + name + librarySuffix; }

const Catalog& blocks() {
  static const Catalog catalog = Catalog::load({pathOf("blocks")});
  EXPECT_EQ(catalog.libraries()[0].refused, "");
  return catalog;
}

/// y = scale * x, with a bound for the loads and the stores.
std::string kernel(const std::string& scale = "%v by 3 : i32", const std::string& bound = " below %n") {
  return "tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {\n"
         "  %i = blk.indices x : tensor<16xi32>\n"
         "  %v = blk.load %x[%i]" + bound + " : !tt.ptr<i32>, tensor<16xi32> -> tensor<16xi32>\n"
         "  %w = blk.scale " + scale + " : tensor<16xi32> loc(\"w\"(\"user.py\":7:3))\n"
         "  blk.store %w, %y[%i]" + bound + " : !tt.ptr<i32>, tensor<16xi32>, tensor<16xi32> loc(\"user.py\":8:1)\n"
         "  tt.return\n"
         "}\n";
}

/// The kernel after passes, or what is wrong.
std::string after(const std::string& pipeline, const std::string& text) {
  passes::Registry registry;
  blocks().addTo(registry);
  const auto steps = passes::parsePipeline(pipeline, registry);
  if (!steps) return steps.error().str();
  const auto outcome = passes::runPasses(text, "k.ttir", *steps);
  if (!outcome) return outcome.error().str();
  return outcome->status ? outcome->text : outcome->status.error().str();
}

std::string wrongWith(const std::string& text) {
  blocks();
  ir::Context context;
  const auto module = text::parse(text, "k.ttir", context);
  if (!module) return module.error().str();
  const Status status = ir::verify(*module);
  return status ? "" : status.error().str();
}

TEST(DialectText, IsReadWrittenAndVerified) {
  blocks();
  ir::Context context;
  const auto module = text::parse(kernel(), "k.ttir", context);
  ASSERT_TRUE(module) << module.error().str();
  EXPECT_TRUE(ir::verify(*module));
  const std::string printed = text::print(*module);
  EXPECT_NE(printed.find("blk.load %x[%i] below %n : !tt.ptr<i32>, tensor<16xi32> -> tensor<16xi32>"), std::string::npos) << printed;
  EXPECT_EQ(wrongWith(printed), "");
  ir::Context other;
  EXPECT_EQ(text::print(*text::parse(printed, "k.ttir", other)), printed);
}

TEST(DialectText, GenericFormAndDefaultsAreTheSame) {
  blocks();
  const std::string generic = R"(tt.func public @k(%v: tensor<4xi32>) {
  %w = "blk.scale"(%v) <{by = 2 : i32, mode = 0 : i32}> : (tensor<4xi32>) -> tensor<4xi32>
  %u = "blk.scale"(%v) <{by = 2 : i32, mode = 1 : i32}> : (tensor<4xi32>) -> tensor<4xi32>
  tt.return
}
)";
  ir::Context context;
  const auto module = text::parse(generic, "k.ttir", context);
  ASSERT_TRUE(module) << module.error().str();
  const std::string printed = text::print(*module);
  EXPECT_NE(printed.find("%w = blk.scale %v by 2 : i32 : tensor<4xi32>"), std::string::npos) << printed;
  EXPECT_NE(printed.find("%u = blk.scale %v by 2 : i32 {mode = 1 : i32} : tensor<4xi32>"), std::string::npos) << printed;
}

TEST(DialectText, MistakesAreSaidWhereTheyAre) {
  EXPECT_EQ(wrongWith("tt.func public @k(%x: i32) {\n  %i = blk.indices w : tensor<16xi32>\n  tt.return\n}\n"), "k.ttir:2:20: error: expected axis (one of x, y, z), found 'w'");
  EXPECT_EQ(wrongWith("tt.func public @k(%x: i32) {\n  %i = blk.indices x : i32\n  tt.return\n}\n"), "k.ttir:2:8: error: 'blk.indices': result 'result' must be a tensor of integers, but is i32");
  EXPECT_EQ(wrongWith("tt.func public @k(%p: !tt.ptr<i32>, %i: tensor<16xi32>) {\n  %v = blk.load %p[%i] : !tt.ptr<i32>, tensor<16xi32> -> tensor<8xi32>\n  tt.return\n}\n"),
            "k.ttir:2:8: error: 'blk.load': indices (tensor<16xi32>) and result (tensor<8xi32>) must have the same shape");
}

TEST(DialectPasses, UseWhatTheRowsSay) {
  EXPECT_EQ(after("cse", kernel()), kernel()) << "what no pass changes is as it was";
  std::string twice = kernel("%v by 1 : i32");
  twice.insert(twice.find("  %v ="), "  %again = blk.indices x : tensor<16xi32>\n  %unused = blk.load %x[%again] : !tt.ptr<i32>, tensor<16xi32> -> tensor<16xi32>\n");
  const std::string cleaned = after("cse,dce", twice);
  EXPECT_EQ(cleaned, kernel("%v by 1 : i32"));
  EXPECT_EQ(after("scale-by-one", cleaned).find("blk.scale"), std::string::npos);
}

TEST(DialectCatalog, ListsItAndRefusesTheSameTwice) {
  const Catalog both = Catalog::load({pathOf("blocks"), pathOf("other_blocks")});
  EXPECT_EQ(both.libraries()[0].refused, "");
  EXPECT_EQ(both.libraries()[1].refused, fmt::format("has a dialect 'blk', as {}", pathOf("blocks")));
  EXPECT_NE(listOf(both).find("  dialect blk (4 operations): blocks of a vector\n"), std::string::npos) << listOf(both);
  EXPECT_NE(listAsJson(both).find("\"blk.indices\""), std::string::npos);
}

// --- tables made here

struct Table {
  ts_op_row row = {.size = sizeof(ts_op_row), .name = "odd.op", .operands = "x: I32", .results = "result: I32", .format = "$x attr-dict"};
  ts_enum_row word = {.size = sizeof(ts_enum_row), .width = 32, .name = "word", .cases = "a=0 b=1"};
  const ts_op_row* rows[1] = {&row};
  const ts_enum_row* words[1] = {&word};
  ts_dialect dialect = {.size = sizeof(ts_dialect), .op_count = 1, .name = "odd", .ops = rows, .enums = words, .enum_count = 1};
  const ts_dialect* dialects[1] = {&dialect};
  ts_plugin plugin = {.size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 1, .id = "test.odd", .dialects = dialects, .dialect_count = 1};

  Library read() {
    Library library;
    library.path = "odd.so";
    readPlugin(&plugin, library);
    return library;
  }
  std::string refusal() { return read().refused; }
};

TEST(DialectRows, OfThePluginAreCheckedByName) {
  EXPECT_EQ(Table().refusal(), "");
  const auto with = [](auto&& change) {
    Table table;
    change(table);
    return table.refusal();
  };
  const std::string row = "has a dialect 'odd' with a wrong row: ";
  EXPECT_EQ(with([](Table& t) { t.row.format = "$y attr-dict"; }), row + "odd.op: unknown name '$y'");
  EXPECT_EQ(with([](Table& t) { t.row.format = "$x"; }), row + "odd.op: the format needs attr-dict, once");
  EXPECT_EQ(with([](Table& t) { t.row.format = "attr-dict"; }), row + "odd.op: operand 'x' is not in the format");
  EXPECT_EQ(with([](Table& t) { t.row.format = "$x `=>` attr-dict"; }), row + "odd.op: the literal `=>` is not one word or sign");
  EXPECT_EQ(with([](Table& t) { t.row.format = "custom"; }), row + "odd.op: the format 'custom' is for the core: it has a function of its own there");
  EXPECT_EQ(with([](Table& t) { t.row.operands = "x: Word"; }), row + "odd.op: unknown type class 'Word'");
  EXPECT_EQ(with([](Table& t) { t.row.operands = "x: Any"; }), row + "odd.op: the type of 'x' follows neither from the format nor from a type rule");
  EXPECT_EQ(with([](Table& t) { t.row.operands = "x: I32, x: I32"; }), row + "odd.op: 'x' is there twice");
  EXPECT_EQ(with([](Table& t) { t.row.rules = "result = twice(x)"; }), row + "odd.op: unknown type rule 'twice'");
  EXPECT_EQ(with([](Table& t) { t.row.rules = ")("; }), row + "odd.op: ')(' is neither 'target = rule(source)' nor 'rule(a, b)'");
  EXPECT_EQ(with([](Table& t) { t.row.traits = "pure writes"; }), row + "odd.op: it is pure, and reads or writes");
  EXPECT_EQ(with([](Table& t) { t.row.traits = "fast"; }), row + "odd.op: unknown trait 'fast'");
  EXPECT_EQ(with([](Table& t) { t.row.attributes = "w: enum:word = c"; }), row + "odd.op: attribute 'w' cannot have the default 'c'");
  EXPECT_EQ(with([](Table& t) { t.row.attributes = "w: enum:nothing"; }), row + "odd.op: unknown enum 'nothing'");
  EXPECT_EQ(with([](Table& t) { t.row.name = "even.op"; }), row + "'even.op' is no name of an operation of 'odd'");
  EXPECT_EQ(with([](Table& t) { t.word.cases = "a=0 b"; }), row + "enum 'word': 'b' is not 'keyword=integer'");
  EXPECT_EQ(with([](Table& t) { t.dialect.size = 8; }), fmt::format("has a table of a dialect of 8 bytes; the first version has {}", sizeof(ts_dialect)));
  EXPECT_EQ(with([](Table& t) { t.dialect.name = "Odd"; }), "has a dialect without a proper name");
  EXPECT_EQ(with([](Table& t) { t.plugin.size = offsetof(ts_plugin, dialects); t.dialect.size = 8; }), "") << "of 1.0: it has no dialects";
}

TEST(DialectRows, OfTheCoreWouldBeTakenFromAPlugin) {
  for (const dialects::OpInfo& info : dialects::allOperations()) {
    // What only the core may have: functions, calls, syntax that no format can express.
    if (info.isCustom() || info.has(dialects::Trait::Function) || info.has(dialects::Trait::Call) || !info.successors.empty()) continue;
    EXPECT_EQ(dialects::mistakeIn(info), "") << info.name;
  }
}

TEST(DialectRows, ADialectOfTheCoreStaysItsOwn) {
  dialects::Dialect dialect;
  dialect.name = "arith";
  EXPECT_EQ(dialects::clashOf(dialect), "has a dialect 'arith', as Tilesight itself");
}

// --- on the engine

TEST(DialectLowering, RunsOnTheEngine) {
  blocks();
  exec::Bench bench(kernel());
  std::vector<int32_t> x(40);
  for (int i = 0; i < 40; ++i) x[static_cast<size_t>(i)] = i - 7;
  bench.array("x", x).array("y", std::vector<int32_t>(40)).scalar("n", 40);
  const auto report = bench.run(3);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.unknowns.empty());
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(bench.arrays[1][i], 3 * x[i]) << i;
}

TEST(DialectLowering, FindingsAreAtTheUsersLine) {
  blocks();
  exec::Bench bench(kernel("%v by 3 : i32", ""));
  bench.array("x", std::vector<int32_t>(48, 1)).array("y", std::vector<int32_t>(40)).scalar("n", 40);
  const auto report = bench.run(3);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].location.file, "user.py");
  EXPECT_EQ(report.findings[0].location.line, 8u);
  EXPECT_EQ(bench.arrays[1], std::vector<int32_t>(40, 3));
}

TEST(DialectLowering, OneThatFailsIsUnknownWithItsReason) {
  blocks();
  exec::Bench bench(kernel("%v by 3 : i32 {mode = 1 : i32}"));
  bench.array("x", std::vector<int32_t>(40, 1)).array("y", std::vector<int32_t>(40)).scalar("n", 40);
  const auto report = bench.run(3);
  ASSERT_FALSE(report.unknowns.empty());
  EXPECT_EQ(report.unknowns[0].reason, "blk.scale cannot be executed: the lowering of the dialect 'blk' failed: it cannot saturate");
  EXPECT_EQ(report.unknowns[0].location.file, "user.py");
  EXPECT_EQ(report.unknowns[0].location.line, 7u);
}

/// Why `odd.op` cannot be executed when `lower` lowers it.
std::string reasonWith(decltype(ts_dialect::lower) lower) {
  static std::vector<std::unique_ptr<Table>> tables;  // as those of libraries, which stay
  Table& table = *tables.emplace_back(std::make_unique<Table>());
  table.dialect.lower = lower;
  const Library library = table.read();
  EXPECT_EQ(library.refused, "");
  EXPECT_EQ(dialects::add(library.dialects[0]), "");
  addLowering(table.dialect, *library.dialects[0]);
  const auto kernel = exec::compile("tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {\n  %y = odd.op %x\n  tt.store %p, %y : !tt.ptr<i32>\n  tt.return\n}\n", "k.ttir");
  if (!kernel) return kernel.error().str();
  const auto info = exec::info(**kernel);
  return info.notExecutable.empty() ? "" : info.notExecutable[0].reason;
}

TEST(DialectLowering, ThatDoesHarmLeavesTheOperationAsItWas) {
  const std::string begin = "odd.op cannot be executed: the lowering of the dialect 'odd' failed: ";
  EXPECT_EQ(reasonWith(nullptr), "odd.op cannot be executed: the dialect 'odd' has no lowering");
  EXPECT_EQ(reasonWith([](void*, const ts_plugin_host*, ts_context, ts_op, ts_error*) -> int32_t { return 0; }), begin + "it is still there afterwards");
  EXPECT_EQ(reasonWith([](void*, const ts_plugin_host*, ts_context, ts_op, ts_error*) -> int32_t { return 7; }), begin + "it returned 7 without a reason");
  EXPECT_EQ(reasonWith([](void*, const ts_plugin_host*, ts_context, ts_op, ts_error*) -> int32_t { throw 1; }), begin + "an exception left it");
  EXPECT_EQ(reasonWith([](void*, const ts_plugin_host* host, ts_context context, ts_op op, ts_error*) -> int32_t {
              host->op_erase(context, host->op_next(context, op));
              return 0;
            }),
            begin + "op_erase: tt.store is not what is lowered");
  EXPECT_EQ(reasonWith([](void*, const ts_plugin_host* host, ts_context context, ts_op op, ts_error*) -> int32_t {
              host->op_erase(context, op);
              return 0;
            }),
            begin + "op_erase: results of odd.op are still used");
  // The same operation again, without an end.
  EXPECT_EQ(reasonWith([](void*, const ts_plugin_host* host, ts_context context, ts_op op, ts_error*) -> int32_t {
              const ts_op copy = host->op_copy(context, op, {nullptr, op});
              host->value_replace_uses(context, host->op_result(context, op, 0), host->op_result(context, copy, 0));
              host->op_erase(context, op);
              return 0;
            }),
            "odd.op cannot be executed: lowering does not end: odd.op is still made after 64 rounds");
  // A sum of values of two types.
  const std::string invalid = reasonWith([](void*, const ts_plugin_host* host, ts_context context, ts_op op, ts_error*) -> int32_t {
    const ts_value x = host->op_operand(context, op, 0);
    const ts_value operands[] = {x, host->constant(context, {nullptr, op}, host->type_parse(context, ts_text("i64")), 1, nullptr)};
    const ts_type type = host->value_type(context, x);
    ts_op_description d{};
    d.size = sizeof d;
    d.operand_count = 2;
    d.name = ts_text("arith.addi");
    d.at = {nullptr, op};
    d.operands = operands;
    d.result_count = 1;
    d.results = &type;
    host->value_replace_uses(context, host->op_result(context, op, 0), host->op_result(context, host->op_create(context, &d), 0));
    host->op_erase(context, op);
    return 0;
  });
  EXPECT_TRUE(invalid.starts_with("odd.op cannot be executed: what its lowering made is not valid: ")) << invalid;
}

}  // namespace
}  // namespace tilesight::plugins
