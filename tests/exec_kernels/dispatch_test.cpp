// Which set is chosen, and what is said when a forced one is not there.
#include <algorithm>
#include <cstdlib>

#include "support.h"

#if defined(_WIN32)
static int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
static int unsetenv(const char* name) { return _putenv_s(name, ""); }
#endif

namespace tilesight::exec {
namespace {

TEST(Dispatch, TheBestSetIsTheLastRunnableOne) {
  ASSERT_TRUE(machineSupported());
  EXPECT_EQ(machineError(), "");
  unsetenv("TILESIGHT_ISA");
  EXPECT_EQ(&kernels(), allSets().back());
}

// The tests of this folder run with every set of the machine. Of a level that it lacks nothing has passed: it is skipped.
class Level : public testing::TestWithParam<std::string> {};

TEST_P(Level, IsTestedHereOrNotRun) {
  for (const KernelSet* set : allSets())
    if (set->name == GetParam()) return;
  GTEST_SKIP() << "not run: kernels for " << GetParam() << ", which this machine has not";
}

INSTANTIATE_TEST_SUITE_P(Kernels, Level, testing::Values("x86-64-v3", "x86-64-v4", "aarch64"), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(DispatchDeathTest, AForcedSetIsUsedOrNamed) {
  const std::string name(allSets().front()->name);
  EXPECT_EXIT({ setenv("TILESIGHT_ISA", name.c_str(), 1); std::exit(kernels().name == name ? 0 : 1); }, testing::ExitedWithCode(0), "");
  EXPECT_EXIT({ setenv("TILESIGHT_ISA", "mmx", 1); kernels(); }, testing::ExitedWithCode(2),
              "tilesight: error: TILESIGHT_ISA=mmx is no instruction set of this machine \\(it has: ");
}

}  // namespace
}  // namespace tilesight::exec
