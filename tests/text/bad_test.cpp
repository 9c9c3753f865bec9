// Malformed text: every file in bad/ is split at `// -----`; each part must be refused with the
// message that its comment asks for, at the line it asks for:
//   // expected-error @+1 {{part of the message}}     (@-1, @+2, or no @ for the same line)
#include <regex>

#include "support.h"

namespace tilesight::text_tests {
namespace {

class Bad : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Bad, IsRefusedWithItsReason) {
  std::vector<std::string> parts(1);
  std::istringstream in(readFile(GetParam()));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("// -----")) parts.emplace_back();
    else parts.back() += line + "\n";
  }
  const std::regex comment(R"(// expected-error( @([+-]\d+))? \{\{(.*)\}\})");
  for (const std::string& part : parts) {
    SCOPED_TRACE(part);
    uint32_t wantedLine = 0, number = 0;
    std::string wanted;
    std::istringstream lines(part);
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::smatch match;
      if (!std::regex_search(line, match, comment)) continue;
      wantedLine = number + (match[2].matched ? std::stoi(match[2]) : 0);
      wanted = match[3];
    }
    ASSERT_FALSE(wanted.empty()) << "no expected-error";
    ir::Context context;
    auto module = text::parse(part, "bad.mlir", context);
    Status status = module ? ir::verify(*module) : Status(tl::unexpected<Diagnostic>(module.error()));
    if (status) {
      ADD_FAILURE() << "accepted, expected: " << wanted;
      continue;
    }
    EXPECT_NE(status.error().message.find(wanted), std::string::npos) << status.error().str();
    EXPECT_EQ(status.error().line, wantedLine) << status.error().str();
    EXPECT_GT(status.error().column, 0u);
  }
}

std::string nameOf(const testing::TestParamInfo<std::filesystem::path>& info) { return info.param.stem().string(); }

INSTANTIATE_TEST_SUITE_P(Text, Bad, testing::ValuesIn(filesIn(std::filesystem::path(TILESIGHT_TEST_SOURCES) / "bad", ".mlir")), nameOf);

// --- texts that are better made than written

/// The message for `text`, which must be refused.
std::string refusal(const std::string& text) {
  ir::Context context;
  auto module = text::parse(text, "t", context);
  if (module) return "accepted";
  EXPECT_GT(module.error().line, 0u);
  return module.error().message;
}

std::string repeated(std::string_view piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(Limits, NestingIsBounded) {
  constexpr size_t deep = 100000;
  for (const std::string& text : {
           repeated("module {", deep), "module attributes {a = " + repeated("[", deep), "module attributes {a = " + repeated("{a = ", deep),
           "module {} loc(" + repeated("fused[", deep), "module {} loc(" + repeated("callsite(", deep), "module {} loc(" + repeated("\"a\"(", deep),
           "module attributes {a = " + repeated("tensor<1x", deep), "module attributes {a = " + repeated("(", deep),
           "module attributes {a = dense<" + repeated("[", deep), "module attributes {a = " + repeated("!tt.ptr<", deep),
           repeated("\"a.b\"() ({", deep)})
    EXPECT_NE(refusal(text).find("nested more than"), std::string::npos) << text.substr(0, 60) << ": " << refusal(text);
}

TEST(Limits, ChainsOfAliasesAreBounded) {
  std::string forward = "module {} loc(#l0)\n", backward;
  for (int i = 0; i < 5000; ++i) forward += "#l" + std::to_string(i) + " = loc(\"a\"(#l" + std::to_string(i + 1) + "))\n";
  EXPECT_NE(refusal(forward), "accepted");
  backward = "#l0 = loc(unknown)\n";
  for (int i = 1; i < 5000; ++i) backward += "#l" + std::to_string(i) + " = loc(\"a\"(#l" + std::to_string(i - 1) + "))\n";
  EXPECT_NE(refusal(backward + "module {} loc(#l4999)\n").find("nested more than"), std::string::npos);
}

TEST(Limits, AliasesCannotExplode) {
  std::string attributes = "#a0 = [1, 1, 1, 1, 1, 1, 1, 1]\n", types = "!a0 = tuple<i32, i32>\n", locations = "#a0 = loc(fused[\"f\":1:1])\n";
  for (int i = 1; i < 60; ++i) {
    const std::string now = std::to_string(i), before = std::to_string(i - 1);
    attributes += "#a" + now + " = [#a" + before + ", #a" + before + "]\n";
    types += "!a" + now + " = tuple<!a" + before + ", !a" + before + ">\n";
    locations += "#a" + now + " = loc(fused[#a" + before + ", #a" + before + "])\n";
  }
  EXPECT_NE(refusal(attributes + "module attributes {a = #a59} {}").find("stands for more than"), std::string::npos);
  EXPECT_NE(refusal(types + "module attributes {a = !a59} {}").find("stands for more than"), std::string::npos);
  EXPECT_NE(refusal(locations + "module {} loc(#a59)").find("stands for more than"), std::string::npos);
}

TEST(Limits, LocationsAsAttributesCannotExplode) {
  std::string text = "#a0 = loc(fused[\"f\":1:1])\n";
  for (int i = 1; i < 14; ++i)
    text += "#a" + std::to_string(i) + " = loc(fused[#a" + std::to_string(i - 1) + ", #a" + std::to_string(i - 1) + "])\n";
  EXPECT_NE(refusal(text + "module attributes {a = loc(fused[" + repeated("#a13, ", 500) + "#a13])} {}").find("stand for more than"), std::string::npos);
}

TEST(Limits, RankIsBounded) {
  EXPECT_NE(refusal("module attributes {a = dense<\"0x0102\"> : tensor<2x" + repeated("1x", 100000) + "i8>} {}").find("more than 64 dimensions"), std::string::npos);
}

TEST(Limits, ManyPartsTakeLinearTime) {
  std::string attributes = "module attributes {a", uses = "%x = foo.make\nfoo.use", labels;
  for (int i = 0; i < 20000; ++i) {
    attributes += ", a" + std::to_string(i);
    uses += " %x {%l" + std::to_string(i) + " = 1}";
    labels += "  cf.br ^b" + std::to_string(i) + "\n^b" + std::to_string(i) + ":\n";
  }
  EXPECT_TRUE(Parsed(attributes + "} {}").ok);
  const std::string printed = reprint(uses + "\n");
  EXPECT_EQ(reprint(printed), printed);
  Parsed blocks("tt.func @f(%a: i32) {\n" + labels + "  %b = arith.addi %a, %a : i32\n  tt.return\n}\n");
  ASSERT_TRUE(blocks.ok);
  EXPECT_TRUE(ir::verify(blocks.module));
}

TEST(Limits, HugeShapesCostNothing) {
  Parsed parsed("module attributes {a = dense<1> : tensor<1000000x1000000xi32>} {}");
  EXPECT_TRUE(parsed.ok);
  EXPECT_EQ(parsed.module.top->attribute("a")->data.size(), 4u);
  EXPECT_NE(refusal("module attributes {a = dense<[1, 2]> : tensor<9000000000000000000x9xi32>} {}"), "accepted");
}

TEST(Limits, EveryPrefixOfARealModuleIsRefusedOrRead) {
  const std::string text = readFile(std::filesystem::path(TILESIGHT_TEST_DATA) / "ttir/3.9/attention.ttir");
  for (size_t size = 0; size < text.size(); size += 7) {
    ir::Context context;
    auto module = text::parse(std::string_view(text).substr(0, size), "t", context);
    if (!module) {
      EXPECT_FALSE(module.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace tilesight::text_tests
