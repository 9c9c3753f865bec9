// Every file in cases/: before, after, remarks, and a second run.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "passes/case_file.h"
#include "plugins/catalog.h"
#include "plugins/dynamic.h"

namespace tilesight::plugins {
namespace {

namespace fs = std::filesystem;

passes::Registry registryWithPlugins() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(TILESIGHT_PLUGINS))
    if (entry.path().extension() == librarySuffix) paths.push_back(entry.path().string());
  const Catalog catalog = Catalog::load(paths);
  EXPECT_EQ(catalog.refusedOfGiven(), nullptr) << catalog.refusedOfGiven()->refused;
  passes::Registry registry;
  catalog.addTo(registry);
  return registry;
}

class Cases : public testing::TestWithParam<std::string> {};

TEST_P(Cases, AreAsExpected) {
  const passes::Registry registry = registryWithPlugins();
  const auto cases = passes::readCases(TILESIGHT_TEST_SOURCES "/cases/" + GetParam());
  ASSERT_TRUE(cases) << cases.error().str();
  size_t unchanged = 0;
  for (const passes::Case& one : *cases) {
    unchanged += one.expected == "unchanged\n";
    const passes::CaseOutcome outcome = passes::runCase(one, registry);
    if (std::getenv("TILESIGHT_REBASE") && !outcome.output.empty()) {
      std::ofstream(one.file) << passes::rebased(one, outcome);
      continue;
    }
    for (const std::string& failure : outcome.failures) ADD_FAILURE() << one.name << ": " << failure;
  }
  EXPECT_GE(cases->size() - unchanged, 20u) << "cases where the pass does something";
  EXPECT_GE(unchanged, 20u) << "cases where it must not";
}

INSTANTIATE_TEST_SUITE_P(Plugins, Cases, testing::Values("remove-boundary-checks", "hoist-layout-conversions", "fuse-reshape"));

}  // namespace
}  // namespace tilesight::plugins
