// The common IR that each dump is lowered to: valid by the tables of the tile dialect, and its text
// survives printing.
#include <algorithm>

#include "frontends/triton/lower.h"
#include "support.h"

namespace tilesight::text_tests {
namespace {

class CommonIr : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(CommonIr, IsValidAndSurvivesPrinting) {
  Parsed parsed(readFile(GetParam()));
  ASSERT_TRUE(parsed.ok);
  auto lowered = frontends::triton::lower(parsed.module, parsed.context);
  ASSERT_TRUE(lowered) << lowered.error().str();
  const Status valid = ir::verify(*lowered);
  EXPECT_TRUE(valid) << valid.error().str();
  const std::string printed = text::print(*lowered);
  EXPECT_EQ(reprint(printed), printed);
}

std::string nameOf(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ttir, CommonIr, testing::ValuesIn(filesIn(std::filesystem::path(TILESIGHT_TEST_DATA) / "ttir", ".ttir")), nameOf);

}  // namespace
}  // namespace tilesight::text_tests
