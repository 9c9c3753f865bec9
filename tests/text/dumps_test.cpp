// Real TTIR of every Triton release: all of it is known, valid, and survives printing.
#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "support.h"

namespace tilesight::text_tests {
namespace {

class Dump : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Dump, IsReadAndPrintedWithoutLoss) {
  const std::string text = readFile(GetParam());
  Parsed parsed(text);
  ASSERT_TRUE(parsed.ok);
  const Status valid = ir::verify(parsed.module);
  EXPECT_TRUE(valid) << valid.error().str();
  ir::walk(*parsed.module.top, [](ir::Operation& op) {
    EXPECT_FALSE(op.isOpaque()) << op.name << " has no row in the tables";
    EXPECT_TRUE(op.location) << op.name << " lost its location";
    return true;
  });
  ASSERT_NE(parsed.module.entry(), nullptr);

  const std::string printed = text::print(parsed.module);
  EXPECT_EQ(reprint(printed), printed) << "printing is not stable";

  text::PrintOptions generic;
  generic.generic = true;
  const std::string genericText = text::print(parsed.module, generic);
  EXPECT_EQ(reprint(genericText), printed) << "the generic form means something else";
}

/// Without locations, comments and blank lines, our text is Triton's own, but for aliases of
/// attributes, which we write out, a doubled space in loops, and last digits of floats.
TEST_P(Dump, LooksAsItCame) {
  const auto lines = [](const std::string& source) {
    std::vector<std::string> kept;
    std::istringstream in(source);
    for (std::string line; std::getline(in, line);) {
      for (size_t at; (at = line.find(" loc(")) != std::string::npos;) {
        size_t end = at + 5;
        for (int open = 1; open && end < line.size(); ++end) open += (line[end] == '(') - (line[end] == ')');
        line.erase(at, end - at);
      }
      if (size_t comment = line.find("  //"); comment != std::string::npos && line.find('^') != std::string::npos) line.resize(comment);
      if (size_t twice = line.find("  : i"); twice != std::string::npos) line.erase(twice, 1);
      if (size_t alias = line.find("loop_annotation"); alias != std::string::npos) line.resize(alias);
      // The last of nine digits: MLIR's own rounding is not always to nearest.
      static const std::regex longFloat(R"(\d\.\d{7,})");
      for (std::smatch match; std::regex_search(line, match, longFloat);)
        line = match.prefix().str() + fmt::format("{:g}", std::stof(match.str())) + match.suffix().str();
      if (!line.empty() && line[0] != '#') kept.push_back(line);
    }
    return kept;
  };
  const std::string text = readFile(GetParam());
  EXPECT_EQ(lines(reprint(text)), lines(text));
}

std::vector<std::filesystem::path> dumps() {
  return filesIn(std::filesystem::path(TILESIGHT_TEST_DATA) / "ttir", ".ttir");
}

std::string nameOf(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ttir, Dump, testing::ValuesIn(dumps()), nameOf);

TEST(Dumps, AreThereForFourReleases) {
  for (const char* release : {"3.6", "3.7", "3.8", "3.9"})
    EXPECT_GE(filesIn(std::filesystem::path(TILESIGHT_TEST_DATA) / "ttir" / release, ".ttir").size(), 70u) << release;
}

}  // namespace
}  // namespace tilesight::text_tests
