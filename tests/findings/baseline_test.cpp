// Baselines: what is accepted, how often, and the text of the file.
#include "findings/baseline.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "findings/files.h"
#include "findings/session.h"
#include "golden.h"
#include "samples.h"
#include "scratch.h"

namespace tilesight::findings {
namespace {

using test::Scratch;

LaunchReport bothKinds() {
  LaunchReport report = test::attentionReport();
  report.unknowns = {test::histogramUnknown()};
  return report;
}

SessionOptions accepting(const std::string& path) {
  SessionOptions options;
  Result<Baseline> baseline = readBaseline(path);
  EXPECT_TRUE(baseline) << baseline.error().str();
  options.baseline = *baseline;
  options.repositoryRoot = "/home/user";
  return options;
}

TEST(Baseline, RoundTrip) {
  const Scratch scratch;
  SessionOptions options;
  options.repositoryRoot = "/home/user";
  Session first(options);
  first.add(bothKinds());
  ASSERT_EQ(first.exitStatus(), 1);
  ASSERT_TRUE(first.writeBaseline(scratch / "known.json"));
  EXPECT_EQ(first.exitStatus(), 0) << "what was written is known";
  test::expectGolden("baseline.json", scratch.read("known.json"));

  Session again(accepting(scratch / "known.json"));
  again.add(bothKinds());
  again.add(bothKinds());
  EXPECT_EQ(again.exitStatus(), 0);
  EXPECT_EQ(again.verdict(), Verdict::Ok);
  EXPECT_EQ(again.accepted().size(), 2u);
  EXPECT_EQ(again.accepted().findings[0].countLaunches, 2);
  EXPECT_EQ(again.accepted().unknowns[0].launches, 2u);
  EXPECT_TRUE(again.goneFromBaseline().empty());
  ASSERT_TRUE(again.writeBaseline(scratch / "again.json"));
  EXPECT_EQ(scratch.read("again.json"), scratch.read("known.json"));
}

TEST(Baseline, OneMoreOfTheSameTextIsNew) {
  const Scratch scratch;
  Session first;
  first.add(test::attentionReport());
  ASSERT_TRUE(first.writeBaseline(scratch / "known.json"));
  LaunchReport two = test::attentionReport();
  two.findings.push_back(two.findings[0]);
  two.findings[1].location.line = 99;
  Session again(accepting(scratch / "known.json"));
  again.add(two);
  EXPECT_EQ(again.accepted().findings.size(), 1u);
  ASSERT_EQ(again.findings().size(), 1u);
  EXPECT_EQ(again.findings()[0].location.line, 99u);
  EXPECT_EQ(again.exitStatus(), 1);
}

TEST(Baseline, WhatIsGone) {
  const Scratch scratch;
  Session first;
  first.add(test::attentionReport());
  ASSERT_TRUE(first.writeBaseline(scratch / "known.json"));
  Session again(accepting(scratch / "known.json"));
  again.add(test::cleanReport("attn_fwd"));
  ASSERT_EQ(again.goneFromBaseline().size(), 1u);
  EXPECT_EQ(again.goneFromBaseline()[0].kind, "out-of-bounds");
}

TEST(Baseline, TheOrderOfFindingsDoesNotMatter) {
  Finding a = test::attentionFinding(), b = test::attentionFinding();
  a.fingerprint = "1";
  b.fingerprint = "2";
  b.kernel = "attn_bwd";
  EXPECT_EQ(baselineText({&a, &b, &a}, {}, "/"), baselineText({&b, &a, &a}, {}, "/"));
}

TEST(Baseline, NothingKnownIsAFileToo) {
  const Scratch scratch;
  Session session;
  session.add(test::cleanReport("k"));
  ASSERT_TRUE(session.writeBaseline(scratch / "known.json"));
  const Result<Baseline> baseline = readBaseline(scratch / "known.json");
  ASSERT_TRUE(baseline);
  EXPECT_TRUE(baseline->findings.empty());
}

TEST(Baseline, OneThatIsToBeWrittenFirst) {
  const Scratch scratch;
  EXPECT_FALSE(baselineOf(scratch / "new.json", ""));
  const auto first = baselineOf(scratch / "new.json", scratch / "./new.json");
  ASSERT_TRUE(first);
  EXPECT_FALSE(*first);
}

TEST(Files, LinksAndPipesStayWhatTheyAre) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  scratch.write("real", "old");
  fs::create_symlink("real", scratch / "link");
  ASSERT_TRUE(writeFile(scratch / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(scratch.read("real"), "new");

  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  const int reader = open((scratch / "pipe").c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_TRUE(writeFile(scratch / "pipe", "text"));
  char text[5] = {};
  EXPECT_EQ(read(reader, text, 4), 4);
  EXPECT_STREQ(text, "text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(scratch / "pipe")) << "and so is /dev/null kept";
  EXPECT_EQ(scratch.names().size(), 3u) << "nothing is left behind";
}

}  // namespace
}  // namespace tilesight::findings
