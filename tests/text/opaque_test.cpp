// Operations that no table has: they stay as they came, and keep their place among the others.
#include "support.h"

namespace tilesight::text_tests {
namespace {

TEST(Opaque, CustomFormIsKept) {
  Parsed parsed(inFunction(
      "%t:2 = ttx.async_copy %ps, %m {hint = \"a, %b\"} : tensor<8x!tt.ptr<f32>> -> <8xf32, #ttg.shared<1>> loc(\"f.py\":1:2)"));
  ir::Operation* op = parsed.find("ttx.async_copy");
  ASSERT_NE(op, nullptr);
  EXPECT_TRUE(op->isOpaque());
  EXPECT_EQ(op->opaqueText, " %ps, %m {hint = \"a, %b\"} : tensor<8x!tt.ptr<f32>> -> <8xf32, #ttg.shared<1>>");
  ASSERT_EQ(op->operands.size(), 2u);
  EXPECT_EQ(op->operands[0]->name, "ps");
  EXPECT_EQ(op->operands[1]->name, "m");
  EXPECT_EQ(op->results.size(), 2u);
  EXPECT_EQ(op->location.str(), "loc(\"f.py\":1:2)");
  const std::string printed = text::print(parsed.module);
  EXPECT_NE(printed.find("%t:2 = ttx.async_copy %ps, %m {hint = \"a, %b\"} : tensor<8x!tt.ptr<f32>> -> <8xf32, #ttg.shared<1>> loc(#loc"), std::string::npos) << printed;
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, EndsAtTheEndOfItsLineOrGoesOn) {
  Parsed parsed(inFunction(R"(
    foo.one
    foo.two %x, %i :
      f32, i32
    %r = foo.three -> i32 {
      ^bb0(%inner: f32):
        foo.nested %inner, %x
    } {
      a = 1
    }
    foo.four)"));
  const auto& body = *parsed.find("tt.func")->region()->blocks[0];
  ASSERT_EQ(body.operations.size(), 5u);
  EXPECT_EQ(body.operations[1]->operands.size(), 2u);
  EXPECT_EQ(body.operations[2]->operands.size(), 1u) << "%inner is its own";
  EXPECT_EQ(body.operations[3]->name, "foo.four");
  const std::string printed = text::print(parsed.module);
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, NamesFollowTheirValues) {
  // The function's %7 becomes %0 in print; so it does in the text of the unknown operation. The
  // name %0 that it defines inside stays its own.
  Parsed parsed("tt.func @f() {\n  %7 = tt.get_program_id x : i32\n  foo.use %7 { %9 = foo.in %7 }\n  tt.return\n}\n");
  const std::string printed = text::print(parsed.module);
  EXPECT_NE(printed.find("foo.use %0 { %9 = foo.in %0 }"), std::string::npos) << printed;
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, UsesBeforeDefinitionsAndBlocks) {
  Parsed parsed(inFunction(R"(
    foo.switch %i, ^later, ^last(%late)
  ^later:
    %late = arith.addi %i, %i : i32
    foo.jump ^last(%late)
  ^last:)"));
  ir::Operation* jump = parsed.find("foo.switch");
  ASSERT_EQ(jump->successors.size(), 2u);
  EXPECT_EQ(jump->operands.size(), 2u);
  const std::string printed = text::print(parsed.module);
  EXPECT_NE(printed.find("foo.switch %i, ^bb1, ^bb2(%late)"), std::string::npos) << printed;
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, AliasesInTheTextAreWrittenOut) {
  Parsed parsed(R"(
#layout = #ttg.shared<1>
!small = tensor<4xf32>
module {
  foo.outer #layout, !small {note = #loc2} {
    %0 = foo.inner loc(callsite(#loc1 at #loc2))
  } loc(#loc1)
}
#loc1 = loc("f.py":1:2)
#loc2 = loc("x"(#loc1))
)");
  EXPECT_EQ(parsed.find("foo.outer")->opaqueText,
            " #ttg.shared<1>, tensor<4xf32> {note = loc(\"x\"(\"f.py\":1:2))} {\n"
            "    %0 = foo.inner loc(callsite(\"f.py\":1:2 at \"x\"(\"f.py\":1:2)))\n  }");
  const std::string printed = text::print(parsed.module);
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, NamesOfAliasesInTheTextDoNotBeginToMeanSomething) {
  const std::string printed = reprint("module {\n  foo.bar #loc, #loc1\n} loc(\"x\"(\"f.py\":1:2))\n");
  EXPECT_NE(printed.find("foo.bar #loc, #loc1\n} loc(#loc_1)"), std::string::npos) << printed;
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, GenericFormIsUnderstood) {
  Parsed parsed(inFunction(R"(
    %r = "foo.op"(%i, %x) <{a = 1 : i32}> ({
    ^bb0(%z: f32):
      "foo.end"(%z) : (f32) -> ()
    }) {b} : (i32, f32) -> tensor<4xf32>
    %s = arith.negf %r : tensor<4xf32>)"));
  ir::Operation* op = parsed.find("foo.op");
  EXPECT_TRUE(op->isOpaque());
  EXPECT_TRUE(op->opaqueText.empty());
  EXPECT_EQ(op->result()->type.str(), "tensor<4xf32>");
  EXPECT_EQ(op->regions.size(), 1u);
  const std::string printed = text::print(parsed.module);
  EXPECT_EQ(reprint(printed), printed);
}

TEST(Opaque, ResultsGetTheTypeOfTheirUse) {
  Parsed parsed(inFunction("%u = foo.make\n%s = arith.addi %u, %i : i32"));
  EXPECT_EQ(parsed.find("foo.make")->result()->type.str(), "i32");
}

TEST(Opaque, GenericFormOfEverythingReadsBack) {
  text::PrintOptions generic;
  generic.generic = true;
  const std::string printed = reprint(inFunction("%u = foo.make %i\nfoo.use %u"), generic);
  EXPECT_EQ(reprint(printed, generic), printed);
}

TEST(Opaque, BuiltWithoutTypesTheyStillPrint) {
  Parsed parsed("module {}");
  ir::Builder builder(parsed.context, &parsed.module.body());
  builder.create("tile.opaque", {}, {ir::Type()}, {{"name", parsed.context.string("tt.new")}}, {});
  const std::string printed = text::print(parsed.module);
  EXPECT_NE(printed.find("%0 = \"tile.opaque\"() {name = \"tt.new\"} : () -> none"), std::string::npos) << printed;
}

TEST(Opaque, ModulesWithThemAreValid) {
  Parsed parsed(inFunction("%u = foo.make\n%s = arith.addi %u, %i : i32\nfoo.use %s"));
  const Status valid = ir::verify(parsed.module);
  EXPECT_TRUE(valid) << valid.error().str();
}

}  // namespace
}  // namespace tilesight::text_tests
