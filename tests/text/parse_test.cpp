// What the parser makes of text: operands, attributes, types, names, blocks.
#include "support.h"

namespace tilesight::text_tests {
namespace {

using ir::AttributeKind;

TEST(Parse, LoadFillsItsOperandGroups) {
  Parsed all(inFunction("%z = tt.load %ps, %m, %w : tensor<8x!tt.ptr<f32>>"));
  EXPECT_EQ(all.find("tt.load")->operandSegments, (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(all.find("tt.load")->result()->type.str(), "tensor<8xf32>");

  Parsed pointerOnly(inFunction("%z = tt.load %p {isVolatile = true} : !tt.ptr<f32>"));
  ir::Operation* load = pointerOnly.find("tt.load");
  EXPECT_EQ(load->operandSegments, (std::vector<uint32_t>{1, 0, 0}));
  EXPECT_EQ(load->segment(1), nullptr);
  EXPECT_EQ(load->integer("isVolatile"), 1);
}

TEST(Parse, GenericFormFillsOperandGroupsToo) {
  Parsed parsed(inFunction(
      R"(%z = "tt.load"(%ps, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>, cache = 3 : i32, isVolatile = false}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<8xf32>)"));
  ir::Operation* load = parsed.find("tt.load");
  EXPECT_EQ(load->operandSegments, (std::vector<uint32_t>{1, 1, 0}));
  EXPECT_EQ(load->string("cache"), "cg") << "integers of enumerations become their keyword";
  EXPECT_FALSE(load->attribute("isVolatile")) << "defaults are not stored";
}

TEST(Parse, EnumerationsAreKeywords) {
  Parsed parsed(inFunction(R"(
    %a = tt.get_program_id y : i32
    %b = arith.cmpi slt, %i, %a : i32
    %true = arith.constant true
    %o = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %true : (!tt.ptr<f32>, f32, i1) -> f32
    %t = tt.fp_to_fp %x, rounding = rtz : f32 -> f16)"));
  EXPECT_EQ(parsed.find("tt.get_program_id")->attribute("axis").kind(), AttributeKind::Keyword);
  EXPECT_EQ(parsed.find("tt.get_program_id")->string("axis"), "y");
  EXPECT_EQ(parsed.find("arith.cmpi")->string("predicate"), "slt");
  EXPECT_EQ(parsed.find("tt.atomic_rmw")->string("atomic_rmw_op"), "fadd");
  EXPECT_EQ(parsed.find("tt.atomic_rmw")->string("sem"), "acq_rel");
  EXPECT_EQ(parsed.find("tt.atomic_rmw")->string("scope"), "gpu");
  EXPECT_EQ(parsed.find("tt.fp_to_fp")->string("rounding"), "rtz");
}

TEST(Parse, Functions) {
  Parsed parsed(R"mlir(
    tt.func public @"quoted name()"(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("x"("f.py":1:2)), %n: i32) -> (i32, f32) attributes {noinline = false} {
      %c = arith.constant 1.0 : f32
      tt.return %n, %c : i32, f32
    }
    tt.func private @declared(i32) -> f32)mlir");
  ir::Operation* function = parsed.module.function("quoted name()");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function, parsed.module.entry());
  EXPECT_EQ(function->string("sym_visibility"), "public");
  EXPECT_EQ(function->attribute("function_type")->type.str(), "(!tt.ptr<f16>, i32) -> (i32, f32)");
  EXPECT_EQ(function->attribute("arg_attrs").str(), "[{tt.divisibility = 16 : i32}, {}]");
  const ir::Block& entry = *function->region()->blocks[0];
  EXPECT_EQ(entry.arguments[0]->name, "x");
  EXPECT_EQ(entry.arguments[0]->location.name(), "x");
  EXPECT_EQ(entry.arguments[0]->location.file()->text, "f.py");
  EXPECT_TRUE(parsed.module.function("declared")->region()->empty());
}

TEST(Parse, NamesOfValues) {
  Parsed parsed(inFunction(R"(
    %acc.shape-0_3:2 = "foo.two"() : () -> (i32, i32)
    %0 = arith.addi %acc.shape-0_3#1, %acc.shape-0_3#0 : i32)"));
  ir::Operation* two = parsed.find("foo.two");
  EXPECT_EQ(two->result(0)->name, "acc.shape-0_3");
  EXPECT_EQ(two->result(1)->name, "acc.shape-0_3");
  ir::Operation* add = parsed.find("arith.addi");
  EXPECT_EQ(add->operands[0], two->result(1));
  EXPECT_EQ(add->operands[1], two->result(0));
  EXPECT_EQ(add->result()->name, "") << "numbers are no names";
}

TEST(Parse, PlacesInTheText) {
  Parsed parsed("module {\n  tt.func @f() {\n    %a, %b = \"x.y\"() : () -> (i32, i32)\n    tt.return\n  }\n}\n");
  EXPECT_EQ(parsed.find("x.y")->sourceLine, 3u);
  EXPECT_EQ(parsed.find("x.y")->sourceColumn, 14u);
}

// --- constants

/// The stored bytes of `arith.constant LITERAL`, in hexadecimal.
std::string dataOf(const std::string& literal) {
  Parsed parsed(inFunction("%k = arith.constant " + literal));
  if (!parsed.ok) return "";
  std::string out;
  for (unsigned char byte : parsed.find("arith.constant")->attribute("value")->data) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    out += digits;
  }
  return out;
}

TEST(Constants, DenseDataIsExact) {
  EXPECT_EQ(dataOf("dense<1.0> : tensor<4xf32>"), "0000803f") << "a splat is one element";
  EXPECT_EQ(dataOf("dense<0xFF800000> : tensor<4xf32>"), "000080ff") << "bits of -inf";
  EXPECT_EQ(dataOf("dense<0x7E00> : tensor<2xf16>"), "007e");
  EXPECT_EQ(dataOf("dense<[1, -2, 3]> : tensor<3xi16>"), "0100feff0300");
  EXPECT_EQ(dataOf("dense<[[true, false], [false, true]]> : tensor<2x2xi1>"), "01000001") << "i1 is a byte";
  EXPECT_EQ(dataOf("dense<\"0x0100000002000000\"> : tensor<2xi32>"), "0100000002000000");
  EXPECT_EQ(dataOf("dense<true> : tensor<8xi1>"), "01");
  EXPECT_EQ(dataOf("dense<1.5> : tensor<f64>"), "000000000000f83f");
  EXPECT_EQ(dataOf("dense<3.14159> : tensor<2xbf16>"), "4940");
  EXPECT_EQ(dataOf("dense<[1.0, 1.0]> : tensor<2xf8E5M2>"), "3c") << "equal elements are a splat";
}

TEST(Constants, Scalars) {
  Parsed integer(inFunction("%k = arith.constant -1 : i8"));
  EXPECT_EQ(integer.find("arith.constant")->integer("value"), -1);
  Parsed pattern(inFunction("%k = arith.constant 255 : i8"));
  EXPECT_EQ(pattern.find("arith.constant")->integer("value"), -1) << "one pattern, one attribute";
  Parsed large(inFunction("%k = arith.constant -9223372036854775808 : i64"));
  EXPECT_EQ(large.find("arith.constant")->integer("value"), INT64_MIN);
  Parsed boolean(inFunction("%k = arith.constant true"));
  EXPECT_EQ(boolean.find("arith.constant")->attribute("value").kind(), AttributeKind::Bool);
  EXPECT_EQ(boolean.find("arith.constant")->result()->type.str(), "i1");
  Parsed real(inFunction("%k = arith.constant 0x7FC00000 : f32"));
  EXPECT_EQ(real.find("arith.constant")->attribute("value")->bits, 0x7FC00000u);
  Parsed half(inFunction("%k = arith.constant 1.0e-7 : f16"));
  EXPECT_EQ(half.find("arith.constant")->attribute("value")->bits, 2u);
  Parsed index(inFunction("%k = arith.constant 3 : index"));
  EXPECT_EQ(index.find("arith.constant")->result()->type.str(), "index");
}

// --- types

TEST(Types, PrintAsTheyAreWritten) {
  for (const char* text :
       {"i1", "si8", "ui32", "i4", "bf16", "f8E4M3FN", "f8E8M0FNU", "tf32", "index", "none", "tensor<f32>",
        "tensor<128x64xf16>", "tensor<0x0x4xi1>", "tensor<128x!tt.ptr<f32>>", "tensor<8xf32, #ttg.blocked<{a = [1, 2]}>>",
        "!tt.ptr<f16>", "!tt.ptr<f16, 3>", "!tt.ptr<f16, \"constant\">", "!tt.ptr<i8, \"descriptor\">",
        "tensor<4x!tt.ptr<f32, \"constant\">>", "!tt.ptr<tensor<64x32xf16>>", "!tt.tensordesc<tensor<64x32xf16>>",
        "!tt.tensordesc<64x32xui8>", "!tile.view<16x16xf32>", "(i32, f32) -> i1", "() -> ()", "() -> (() -> i32)",
        "(i32) -> (i32, f32)", "!ttg.memdesc<2x64xf16, #shared, mutable>", "memref<4x?xf32, strided<[1, ?]>>",
        "vector<4xf32>", "tuple<i32, tuple<>>", "tensor<*xf32>", "tensor<?x4xf32>", "!ttg.async.token"}) {
    Parsed parsed(std::string("module attributes {t = ") + text + "} {}");
    ASSERT_TRUE(parsed.ok);
    EXPECT_EQ(parsed.module.top->attribute("t").str(), text);
  }
}

TEST(Types, AreInterned) {
  ir::Context context;
  EXPECT_EQ(context.tensor({4, 4}, context.integer(32)), context.tensor({4, 4}, context.integer(32)));
  EXPECT_FALSE(context.integer(32) == context.integer(32, ir::Signedness::Unsigned));
}

// --- attributes

TEST(Attributes, PrintAsTheyAreWritten) {
  for (const char* text :
       {"true", "1 : i32", "-1 : i64", "18446744073709551615 : ui64", "1.500000e+00 : f32", "\"a\\22b\\0A\\\\\"", "[1 : i8, \"x\", [], unit]",
        "{a = 1 : i32, b, \"c d\" = @f}", "@f", "@\"a b\"", "@a::@b", "array<i32: 1, 0>", "array<i64>", "array<i1: true, false>",
        "array<f32: 1.500000e+00>", "dense<0> : tensor<1xi32>", "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
        "dense<> : tensor<0xi32>", "#foo.bar", "#foo.bar<a = 1, b = [x -> y]>", "#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>",
        "affine_map<(d0) -> (d0 + 1)>", "0x7FC00000 : f32", "-0.000000e+00 : f64", "0.33333333333333331 : f64", "1.44269502 : f32", "0.00999999978 : f32", "4.6566126E-10 : f32", "0x1 : f32"}) {
    Parsed parsed(std::string("module attributes {t = ") + text + "} {}");
    ASSERT_TRUE(parsed.ok);
    const std::string printed = parsed.module.top->attribute("t").str();
    Parsed again("module attributes {t = " + printed + "} {}");
    ASSERT_TRUE(again.ok);
    EXPECT_EQ(again.module.top->attribute("t").str(), printed);
    if (std::string_view(text) != "0x1 : f32") {
      EXPECT_EQ(printed, text);
    }
  }
}

// --- aliases

TEST(Aliases, BeforeAndAfterUse) {
  Parsed parsed(R"(
#early = #foo.bar<1>
!vec = tensor<4xf32>
module attributes {a = #early, b = #late, t = !vec, u = !other, nested = #foo.wrap<#early, !vec>} {
} loc(#loc1)
#late = [1 : i32, #early]
!other = !tt.ptr<!vec>
#loc1 = loc("name"(#loc))
#loc = loc("f.py":3:4)
)");
  ir::Operation& module = *parsed.module.top;
  EXPECT_EQ(module.attribute("a").str(), "#foo.bar<1>");
  EXPECT_EQ(module.attribute("b").str(), "[1 : i32, #foo.bar<1>]");
  EXPECT_EQ(module.attribute("t").str(), "tensor<4xf32>");
  EXPECT_EQ(module.attribute("u").str(), "!tt.ptr<tensor<4xf32>>");
  EXPECT_EQ(module.attribute("nested").str(), "#foo.wrap<#foo.bar<1>, tensor<4xf32>>");
  EXPECT_EQ(module.location.str(), "loc(\"name\"(\"f.py\":3:4))");
}

// --- locations

TEST(Locations, EveryKind) {
  for (const char* text :
       {"loc(unknown)", "loc(\"f.py\":1:2)", "loc(\"f.py\":1:2 to 3:4)", "loc(\"name\")", "loc(\"x\"(\"f.py\":1:2))",
        "loc(callsite(\"f.py\":1:2 at \"y\"(\"g.py\":3:4)))", "loc(fused[\"f.py\":1:2, unknown])",
        "loc(fused<\"why\">[\"f.py\":1:2])", "loc(\"a\\22b\":0:0)"}) {
    Parsed parsed(std::string("module {} ") + text);
    ASSERT_TRUE(parsed.ok);
    EXPECT_EQ(parsed.module.top->location.str(), text);
    EXPECT_EQ(reprint(text::print(parsed.module)), text::print(parsed.module));
  }
}

TEST(Locations, RangesOnOneLineAndQueries) {
  Parsed parsed(R"(module {} loc(callsite("x"("a"("f.py":5:6 to :9)) at "g.py":1:1)))");
  const ir::Location location = parsed.module.top->location;
  EXPECT_EQ(location.file()->line, 5u);
  EXPECT_EQ(location.file()->endLine, 5u);
  EXPECT_EQ(location.file()->endColumn, 9u);
  EXPECT_EQ(location.name(), "a") << "the innermost name";
}

// --- control flow

TEST(ControlFlow, LoopsBranchesAndBlocks) {
  Parsed parsed(inFunction(R"(
    %zero = arith.constant 0 : i32
    %r:2 = scf.for unsigned %k = %zero to %i step %i iter_args(%a = %x, %b = %i) -> (f32, i32) : i32 {
      scf.yield %a, %b : f32, i32
    } {tt.num_stages = 3 : i32}
    scf.for %k = %zero to %i step %i : i32 {
    }
    %q = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %r#0 : f32
    }
    %w2 = scf.while (%n = %i) : (i32) -> f32 {
      scf.condition(%c) %x : f32
    } do {
    ^bb0(%y: f32 loc("y"("f.py":1:1))):
      scf.yield %i : i32
    } attributes {mark}
    cf.cond_br %c, ^one(%x : f32), ^two
  ^two:
    cf.br ^one(%q : f32)
  ^one(%arg: f32):)"));
  const Status valid = ir::verify(parsed.module);
  EXPECT_TRUE(valid) << valid.error().str();
  ir::Operation* loop = parsed.find("scf.for");
  EXPECT_TRUE(loop->attribute("unsignedCmp"));
  EXPECT_EQ(loop->integer("tt.num_stages"), 3);
  EXPECT_EQ(loop->operandSegments, (std::vector<uint32_t>{1, 1, 1, 2}));
  EXPECT_EQ(loop->region()->blocks[0]->arguments.size(), 3u);
  const ir::Block& body = *parsed.find("tt.func")->region()->blocks[0];
  ir::Operation* branch = body.operations.back().get();
  ASSERT_EQ(branch->name, "cf.cond_br");
  EXPECT_EQ(branch->operands.size(), 1u);
  EXPECT_EQ(branch->successors[0].operands.size(), 1u);
  EXPECT_EQ(branch->successors[0].block, parsed.find("tt.func")->region()->blocks[2].get());
  const std::string printed = text::print(parsed.module);
  EXPECT_EQ(reprint(printed), printed);
}

TEST(ControlFlow, AnOmittedYieldIsThere) {
  Parsed parsed(inFunction("scf.if %c {\n} else {\n tt.store %p, %x : !tt.ptr<f32>\n}"));
  ir::Operation* branch = parsed.find("scf.if");
  ASSERT_EQ(branch->regions.size(), 2u);
  EXPECT_EQ(branch->region(0)->blocks[0]->operations.back()->name, "scf.yield");
  EXPECT_EQ(branch->region(1)->blocks[0]->operations.back()->name, "scf.yield");
}

TEST(ControlFlow, ReduceWithAttributesBehindTheRegion) {
  const char* properties = R"(%r = "tt.reduce"(%w) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32)";
  const char* older = R"(%r = "tt.reduce"(%w) ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) {axis = 0 : i32} : (tensor<8xf32>) -> f32)";
  EXPECT_EQ(reprint(inFunction(properties)), reprint(inFunction(older)));
}

TEST(ControlFlow, ValuesMayBeUsedBeforeTheyAreListed) {
  Parsed parsed(inFunction(R"(
    cf.br ^second
  ^first:
    %b = arith.addf %a, %a : f32
    cf.br ^third
  ^second:
    %a = arith.mulf %x, %x : f32
    cf.br ^first
  ^third:)"));
  const Status valid = ir::verify(parsed.module);
  EXPECT_TRUE(valid) << valid.error().str();
  EXPECT_EQ(parsed.find("arith.addf")->operands[0], parsed.find("arith.mulf")->result());
}

TEST(Modules, MetadataAndImplicitModule) {
  const std::string text = "tt.func @f() {\n  tt.return\n}\n{-# dialect_resources: { x: \"#-}\" } #-}\n";
  Parsed parsed(text);
  EXPECT_EQ(parsed.module.trailingMetadata, "{-# dialect_resources: { x: \"#-}\" } #-}");
  const std::string printed = text::print(parsed.module);
  EXPECT_NE(printed.find("#-}\" } #-}"), std::string::npos);
  EXPECT_EQ(reprint(printed), printed);
}

}  // namespace
}  // namespace tilesight::text_tests
