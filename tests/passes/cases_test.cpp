// Every file in cases/builtin: before, after, remarks, and a second run.
#include <fstream>

#include <gtest/gtest.h>

#include "passes/case_file.h"

namespace tilesight::passes {
namespace {

TEST(Cases, OfBuiltInPasses) {
  const auto cases = readCases(TILESIGHT_TEST_SOURCES "/cases/builtin");
  ASSERT_TRUE(cases) << cases.error().str();
  EXPECT_GE(cases->size(), 15u);
  const Registry registry;
  for (const Case& one : *cases) {
    const CaseOutcome outcome = runCase(one, registry);
    if (std::getenv("TILESIGHT_REBASE") && !outcome.output.empty()) {
      std::ofstream(one.file) << rebased(one, outcome);
      continue;
    }
    for (const std::string& failure : outcome.failures) ADD_FAILURE() << one.name << ": " << failure;
  }
}

}  // namespace
}  // namespace tilesight::passes
