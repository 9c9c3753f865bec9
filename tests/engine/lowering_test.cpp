// Every kernel dump of every Triton release lowers to common IR that verifies and plans, raw and inlined.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "frontends/triton/lower.h"
#include "ir/verifier.h"
#include "plan/plan.h"
#include "plan/verify.h"
#include "text/text.h"

namespace tilesight {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> dumps() {
  std::vector<fs::path> paths;
  for (auto& entry : fs::recursive_directory_iterator(std::string(TILESIGHT_TEST_DATA) + "/ttir"))
    if (entry.path().extension() == ".ttir") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class Dump : public testing::TestWithParam<fs::path> {};

TEST_P(Dump, LowersVerifiesAndPlans) {
  ir::Context context;
  auto source = text::parse(read(GetParam()), GetParam().filename().string(), context);
  ASSERT_TRUE(source) << source.error().str();
  auto common = frontends::triton::lower(*source, context);
  ASSERT_TRUE(common) << common.error().str();
  auto status = ir::verify(*common);
  EXPECT_TRUE(status) << status.error().str() << "\n" << text::print(*common, {false, false}).substr(0, 2000);
  ir::walk(*common->top, [](ir::Operation& op) {
    EXPECT_FALSE(op.name.starts_with("tt.")) << op.name << " is left";
    return true;
  });
  for (const plan::PlanOptions& options : {plan::PlanOptions{}, {.outputs = false}, {.values = true}, {.computes = true}, {.everything = true}}) {
    auto program = plan::plan(*common, options);
    ASSERT_TRUE(program) << program.error().str();
    EXPECT_FALSE(program->code.empty());
    const Status kept = plan::verify(*program);
    EXPECT_TRUE(kept) << kept.error().str();
  }
}

INSTANTIATE_TEST_SUITE_P(Ttir, Dump, testing::ValuesIn(dumps()), [](const auto& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.filename().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

// What cannot be executed is known by name: this list shrinks, it never grows unnoticed.
TEST(Coverage, OperationsWithoutExecutor) {
  std::set<std::string> reasons;
  for (const fs::path& path : dumps()) {
    ir::Context context;
    auto source = text::parse(read(path), path.filename().string(), context);
    ASSERT_TRUE(source) << source.error().str();
    auto common = frontends::triton::lower(*source, context);
    ASSERT_TRUE(common) << common.error().str();
    ir::walk(*common->top, [&](ir::Operation& op) {
      std::string reason = op.name == "builtin.module" ? "" : plan::cannotExecute(op);
      if (!reason.empty()) reasons.insert(reason.substr(0, reason.find(": ")));
      return true;
    });
  }
  std::string all;
  for (const std::string& reason : reasons) all += reason + "\n";
  // One dump holds a string in its assembly, to test the parser: that is no PTX.
  EXPECT_EQ(all, "inline assembly cannot be executed\n") << all;
}

}  // namespace
}  // namespace tilesight
