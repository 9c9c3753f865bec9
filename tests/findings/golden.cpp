#include "golden.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace tilesight::test {

bool rebase = false;

void expectGolden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(TILESIGHT_GOLDENS) + "/" + name;
  if (rebase) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: run the test with --rebase";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), actual) << "golden " << path;
}

}  // namespace tilesight::test
