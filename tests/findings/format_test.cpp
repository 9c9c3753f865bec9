#include "findings/format.h"
#include "findings/nearest.h"

#include <climits>

#include <gtest/gtest.h>

namespace tilesight::findings {

TEST(Format, NumbersHaveThousandsSeparators) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(12288), "12,288");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Format, Plurals) {
  EXPECT_EQ(counted(1, "program"), "1 program");
  EXPECT_EQ(counted(0, "program"), "0 programs");
  EXPECT_EQ(counted(4, "launch"), "4 launches");
}

TEST(Format, Durations) {
  EXPECT_EQ(duration(0.0004), "0.4 ms");
  EXPECT_EQ(duration(0.0123), "12 ms");
  EXPECT_EQ(duration(0.000209), "0.21 ms");
  EXPECT_EQ(duration(0.41), "0.4 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(-1), "? s");
}

TEST(Format, PathsBelowTheDirectoryAreRelative) {
  EXPECT_EQ(relativePath("/home/u/a.py", "/home/u"), "a.py");
  EXPECT_EQ(relativePath("/home/u/d/a.py", "/home/u/"), "d/a.py");
  EXPECT_EQ(relativePath("/home/user/a.py", "/home/u"), "/home/user/a.py");
  EXPECT_EQ(relativePath("/a.py", "/"), "/a.py");
  EXPECT_EQ(relativePath("a.py", "/home/u"), "a.py");
}

TEST(Format, LongTextIsWrapped) {
  EXPECT_EQ(wrapped("one two three four", "- ", "  ", 10), "- one two\n  three\n  four\n");
  EXPECT_EQ(wrapped("", "- ", "  "), "- \n");
}

TEST(Nearest, FindsTypingErrors) {
  const std::string_view names[] = {"check", "info", "explain"};
  EXPECT_EQ(nearest("chekc", names), "check");
  EXPECT_EQ(nearest("Explain", names), "explain");
  EXPECT_EQ(nearest("profile", names), "");
  EXPECT_EQ(didYouMean("inf", names), "; did you mean info?");
}

}  // namespace tilesight::findings
