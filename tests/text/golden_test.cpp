// Texts and what they print to: golden/NAME.mlir gives NAME.custom (and NAME.generic in generic
// form). `text_golden --rebase` rewrites the expected files.
#include <set>
#include <string_view>

#include "dialects/table.h"
#include "support.h"

namespace tilesight::text_tests {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(TILESIGHT_TEST_SOURCES) / "golden";

bool rebase = false;

class Golden : public testing::TestWithParam<std::filesystem::path> {};

void compare(const std::string& found, std::filesystem::path expected, const char* extension) {
  expected.replace_extension(extension);
  if (rebase) std::ofstream(expected, std::ios::binary) << found;
  EXPECT_EQ(found, readFile(expected)) << expected;
}

TEST_P(Golden, PrintsAsExpected) {
  Parsed parsed(readFile(GetParam()));
  ASSERT_TRUE(parsed.ok);
  const Status valid = ir::verify(parsed.module);
  EXPECT_TRUE(valid) << valid.error().str();
  const std::string custom = text::print(parsed.module);
  compare(custom, GetParam(), ".custom");
  EXPECT_EQ(reprint(custom), custom);

  text::PrintOptions options;
  options.generic = true;
  const std::string generic = text::print(parsed.module, options);
  compare(generic, GetParam(), ".generic");
  EXPECT_EQ(reprint(generic), custom) << "both forms mean the same";
}

std::string nameOf(const testing::TestParamInfo<std::filesystem::path>& info) { return info.param.stem().string(); }

INSTANTIATE_TEST_SUITE_P(Text, Golden, testing::ValuesIn(filesIn(kFolder, ".mlir")), nameOf);

/// Every row of the tables is exercised by a golden text or by a dump.
TEST(Tables, EveryOperationIsTested) {
  std::set<std::string> seen;
  std::vector<std::filesystem::path> files = filesIn(kFolder, ".mlir");
  const std::filesystem::path data = TILESIGHT_TEST_DATA;
  for (const auto& dump : filesIn(data / "ttir", ".ttir")) files.push_back(dump);
  for (const auto& dump : filesIn(data / "ttgir", ".ttgir")) files.push_back(dump);
  for (const auto& file : files) {
    Parsed parsed(readFile(file));
    ASSERT_TRUE(parsed.ok) << file;
    ir::walk(*parsed.module.top, [&](ir::Operation& op) {
      seen.insert(op.name);
      return true;
    });
  }
  for (const dialects::OpInfo& info : dialects::allOperations()) EXPECT_TRUE(seen.count(info.name)) << info.name;
}

TEST(Tables, NamesAreUniqueWithinARow) {
  for (const dialects::OpInfo& info : dialects::allOperations()) {
    std::set<std::string> names;
    for (const auto& group : info.operands) EXPECT_TRUE(names.insert(group.name).second) << info.name << " " << group.name;
    for (const auto& attribute : info.attributes) EXPECT_TRUE(names.insert(attribute.name).second) << info.name << " " << attribute.name;
  }
}

}  // namespace
}  // namespace tilesight::text_tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--rebase") tilesight::text_tests::rebase = true;
  return RUN_ALL_TESTS();
}
