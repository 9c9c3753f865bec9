#include <cstring>

#include <gtest/gtest.h>

#include "golden.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) tilesight::test::rebase |= std::strcmp(argv[i], "--rebase") == 0;
  return RUN_ALL_TESTS();
}
