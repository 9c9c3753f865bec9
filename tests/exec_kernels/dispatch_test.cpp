// Which set is chosen, and what is said when a forced one is not there.
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

TEST(DispatchDeathTest, AForcedSetIsUsedOrNamed) {
  const std::string name(allSets().front()->name);
  EXPECT_EXIT({ setenv("TILESIGHT_ISA", name.c_str(), 1); std::exit(kernels().name == name ? 0 : 1); }, testing::ExitedWithCode(0), "");
  EXPECT_EXIT({ setenv("TILESIGHT_ISA", "mmx", 1); kernels(); }, testing::ExitedWithCode(2),
              "tilesight: error: TILESIGHT_ISA=mmx is no instruction set of this machine \\(it has: ");
}

}  // namespace
}  // namespace tilesight::exec
