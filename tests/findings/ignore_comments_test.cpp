// `# tilesight: ignore[...]`: which statement a comment belongs to, in Python text.
#include "findings/ignore_comments.h"

#include <gtest/gtest.h>

namespace tilesight::findings {
namespace {

/// The kinds that are accepted at `line`, as "a b"; "!" for a comment without one.
std::string kindsAt(std::string_view source, uint32_t line) {
  std::string out;
  for (const IgnoreComment& comment : ignoreComments(source, line)) {
    if (!comment.misspelt.empty()) out += "(" + comment.misspelt + ") ";
    else if (comment.kinds.empty()) out += "! ";
    for (const std::string& kind : comment.kinds) out += kind + " ";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

TEST(IgnoreComments, OnTheLine) {
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore[a] why", 1), "a");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore[a, b,c]", 1), "a b c");
  EXPECT_EQ(kindsAt("x = 1  # noqa # tilesight:ignore [a]", 1), "a");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore", 1), "!");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore[a", 1), "!");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: something else", 1), "");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore[a]\ny = 2\n", 2), "");
}

TEST(IgnoreComments, CapitalsDoNotMatter) {
  EXPECT_EQ(kindsAt("x = 1  # Tilesight: Ignore[Out-Of-Bounds] WHY", 1), "out-of-bounds");
  EXPECT_EQ(kindsAt("x = 1  # TILESIGHT: IGNORE", 1), "!");
}

TEST(IgnoreComments, WhatIsMeantAsOneIsKnownAsMisspelt) {
  EXPECT_EQ(kindsAt("x = 1  # tilesight: noqa", 1), "(tilesight: noqa)");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: noqa[a]", 1), "(tilesight: noqa) a");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ingore[a]", 1), "(tilesight: ingore) a");
  EXPECT_EQ(kindsAt("x = 1  # tilesight ignore[a]", 1), "(tilesight ignore) a");
  EXPECT_EQ(kindsAt("x = 1  # tilesigth: ignore[a]", 1), "(tilesigth: ignore) a");
  EXPECT_EQ(kindsAt("x = 1  # tile-sight: ignore[a]", 1), "(tile-sight: ignore) a");
  for (const char* prose : {"tilesight ignores this", "tilesight: see the notes", "the tilesight: allow me to explain",
                            "highlight: ignore", "noqa: ignore[a]", "type: ignore[a]"})
    EXPECT_EQ(kindsAt(std::string("x = 1  # ") + prose, 1), "") << prose;
}

TEST(IgnoreComments, OnAnyLineOfTheStatement) {
  const char* source =
      "x = tl.load(\n"           // 1
      "    p + offs,\n"          // 2
      "    mask=[a, {b}],  # tilesight: ignore[a]\n"
      "    # tilesight: ignore[b]\n"
      ")  # tilesight: ignore[c]\n"
      "y = 1\n";
  for (uint32_t line = 1; line <= 5; ++line) EXPECT_EQ(kindsAt(source, line), "a b c") << line;
  EXPECT_EQ(kindsAt(source, 6), "");
  EXPECT_EQ(kindsAt("x = a + \\\n    b  # tilesight: ignore[a]\ny\n", 1), "a");
  EXPECT_EQ(kindsAt("x = a + \\\r\n    b  # tilesight: ignore[a]\r\ny\r\n", 1), "a");
}

TEST(IgnoreComments, InCommentLinesDirectlyAbove) {
  EXPECT_EQ(kindsAt("# tilesight: ignore[a] why\nx = 1\n", 2), "a");
  EXPECT_EQ(kindsAt("# tilesight: ignore[a] why\n# and more of it\n    x = 1\n", 3), "a");
  EXPECT_EQ(kindsAt("# tilesight: ignore[a] why\n\nx = 1\n", 3), "") << "a blank line between";
  EXPECT_EQ(kindsAt("# tilesight: ignore[a] why\ny = 1\nx = 1\n", 3), "") << "another statement between";
  EXPECT_EQ(kindsAt("y = 1  # tilesight: ignore[a]\nx = 1\n", 2), "") << "the comment of another statement";
}

TEST(IgnoreComments, StringsAreNoComments) {
  EXPECT_EQ(kindsAt("x = '# tilesight: ignore[a]'\n", 1), "");
  EXPECT_EQ(kindsAt("x = \"it's \\\" # tilesight: ignore[a]\"\n", 1), "");
  EXPECT_EQ(kindsAt("'''\n# tilesight: ignore[a]\n'''\nx = 1\n", 4), "");
  EXPECT_EQ(kindsAt("x = '''\n(\n'''  # tilesight: ignore[a]\ny = 1\n", 1), "a");
  EXPECT_EQ(kindsAt("x = '''\n(\n'''  # tilesight: ignore[a]\ny = 1\n", 4), "");
  EXPECT_EQ(kindsAt("x = f'{a}' '#' # tilesight: ignore[a]\n", 1), "a");
}

TEST(IgnoreComments, OddTextIsTakenAsItIs) {
  EXPECT_EQ(kindsAt("", 1), "");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore[a]", 7), "");
  EXPECT_EQ(kindsAt("x = 1  # tilesight: ignore[a]", 0), "");
  EXPECT_EQ(kindsAt("x = ')))  # tilesight: ignore[a]\ny = 1 # tilesight: ignore[b]\n", 2), "b") << "an open string";
  EXPECT_EQ(kindsAt("x = (((\ny = 1 # tilesight: ignore[b]\n", 1), "b") << "an open bracket";
  EXPECT_EQ(kindsAt(")))\ny = 1 # tilesight: ignore[b]\n\\", 2), "b");
}

TEST(IgnoreComments, OfEveryFrame) {
  LaunchReport report;
  report.findings.resize(1);
  Finding& finding = report.findings[0];
  finding.location = {"a.py", 1, 1, ""};
  finding.stack = {{"b.py", 2, 1, ""}, {"b.py", 2, 9, ""}, {"gone.py", 3, 1, ""}};
  findIgnoreComments(report, {{"a.py", "x  # tilesight: ignore[a]\n"}, {"b.py", "\ny  # tilesight: ignore[b]\n"}});
  ASSERT_EQ(finding.ignores.size(), 2u);
  EXPECT_EQ(finding.ignores[0].file, "a.py");
  EXPECT_EQ(finding.ignores[1].file, "b.py");
  EXPECT_EQ(finding.ignores[1].line, 2u);
}

}  // namespace
}  // namespace tilesight::findings
