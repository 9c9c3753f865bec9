#include "findings/kinds.h"

#include <set>

#include <gtest/gtest.h>

#include "golden.h"

namespace tilesight::findings {

TEST(Kinds, EveryKindOfTheContractIsThereOnceAndWhole) {
  const std::set<std::string_view> contract = {
      "out-of-bounds", "out-of-view", "axis-overflow", "null-pointer", "foreign-pointer", "misaligned",
      "read-only-write",
      "hint-violation", "int-overflow", "uninitialized-read", "masked-undefined", "unwritten-output",
      "launch-limit", "autotune-side-effect", "race", "benign-race", "intra-program-race",
      "missing-barrier", "order-dependent", "deadlock", "livelock", "assert-failed",
      "division-by-zero", "invalid-shift", "invalid-index", "invalid-conversion"};
  std::set<std::string_view> found;
  for (const KindInfo& kind : kinds()) {
    EXPECT_TRUE(found.insert(kind.name).second) << kind.name << " is there twice";
    EXPECT_GT(kind.explanation.size(), 60u) << kind.name;
    EXPECT_GT(kind.mend.size(), 20u) << kind.name;
    EXPECT_TRUE(kind.example.ends_with('\n')) << kind.name;
    EXPECT_FALSE(kind.severity.empty()) << kind.name;
  }
  EXPECT_EQ(found, contract);
}

TEST(Kinds, Lookup) {
  ASSERT_NE(findKind("misaligned"), nullptr);
  EXPECT_EQ(findKind("misaligned")->client, "sanitizer");
  EXPECT_EQ(findKind("nonsense"), nullptr);
  EXPECT_EQ(nearestKind("out_of_bounds"), "out-of-bounds");
  EXPECT_EQ(nearestKind("xyzzy"), "");
}

TEST(Kinds, Explain) {
  test::expectGolden("explain_works.txt", explainText(*findKind("out-of-view")));
  test::expectGolden("explain_planned.txt", explainText(*findKind("race")));
  test::expectGolden("explain.md", explainMarkdown(*findKind("misaligned")));
}

TEST(Kinds, ThePageInTheDocsIsUpToDate) {
  test::expectGolden("../../../docs/kinds.md", kindsMarkdown());
}

}  // namespace tilesight::findings
