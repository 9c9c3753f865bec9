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

Session withSeverity(const std::string& path, std::initializer_list<Severity> severities) {
  Session session(path.empty() ? SessionOptions() : accepting(path));
  for (const Severity severity : severities) {
    LaunchReport report = test::attentionReport();
    report.findings[0].severity = severity;
    session.add(report);
  }
  return session;
}

TEST(Baseline, AWorseSeverityIsNew) {
  const Scratch scratch;
  Session first = withSeverity("", {Severity::Warning});
  ASSERT_TRUE(first.writeBaseline(scratch / "known.json"));
  using enum Severity;
  EXPECT_EQ(withSeverity(scratch / "known.json", {Warning, Note}).exitStatus(), 0);
  EXPECT_EQ(withSeverity(scratch / "known.json", {Error}).exitStatus(), 1);
  const Session later = withSeverity(scratch / "known.json", {Warning, Error, Warning});
  EXPECT_EQ(later.exitStatus(), 1) << "a later launch shows it to be worse";
  EXPECT_EQ(later.accepted().size(), 0u);
  ASSERT_EQ(later.findings().size(), 1u);
  EXPECT_EQ(later.findings()[0].countLaunches, 3);
}

TEST(Baseline, AFileWithoutSeveritiesAcceptsAll) {
  const Scratch scratch;
  scratch.write("known.json", R"({"format": "tilesight-baseline", "version": 1,
    "findings": [{"kind": "out-of-bounds", "fingerprint": "38afa337f9322c19"}]})");
  EXPECT_EQ(withSeverity(scratch / "known.json", {Severity::Error}).exitStatus(), 0);
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

TEST(Baseline, ARunThatSawLittleKeepsWhatIsKnown) {
  const Scratch scratch;
  Session first;
  first.add(bothKinds());
  ASSERT_TRUE(first.writeBaseline(scratch / "known.json"));
  const std::string known = scratch.read("known.json");

  Session nothing(accepting(scratch / "known.json"));  // the program died at its start
  ASSERT_TRUE(nothing.writeBaseline(scratch / "known.json"));
  EXPECT_EQ(scratch.read("known.json"), known);

  Session part(accepting(scratch / "known.json"));  // other tests were chosen
  LaunchReport other = test::attentionReport();
  other.findings[0].fingerprint = "other";
  other.findings[0].location.line = 7;
  part.add(other);
  ASSERT_TRUE(part.writeBaseline(scratch / "part.json", true));
  const Result<Baseline> baseline = readBaseline(scratch / "part.json");
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->findings.size(), 2u);
  EXPECT_EQ(baseline->unknowns.size(), 1u);
  ASSERT_EQ(part.notes().size(), 2u);
  EXPECT_EQ(part.notes()[1], "2 entries of the baseline that did not occur were kept: not everything was checked");

  Session whole(accepting(scratch / "known.json"));
  whole.add(test::cleanReport("k"));
  ASSERT_TRUE(whole.writeBaseline(scratch / "known.json"));
  EXPECT_TRUE(readBaseline(scratch / "known.json")->findings.empty()) << "all was looked at, and it is gone";
}

TEST(Baseline, NothingCheckedIsNotWritten) {
  const Scratch scratch;
  scratch.write("known.json", "precious");
  Session session;
  ASSERT_TRUE(session.writeBaseline(scratch / "known.json"));
  EXPECT_EQ(scratch.read("known.json"), "precious");
  ASSERT_EQ(session.notes().size(), 1u);
  EXPECT_NE(session.notes()[0].find("known.json was not written: nothing was checked"), std::string::npos);
}

TEST(Baseline, SiblingsSpendItTogether) {
  const Scratch scratch;
  Session first;
  first.add(test::attentionReport());
  ASSERT_TRUE(first.writeBaseline(scratch / "known.json"));
  const Session all(accepting(scratch / "known.json"));
  LaunchReport elsewhere = test::attentionReport();
  elsewhere.findings[0].location.line = 99;
  Session one = all.sibling(), two = all.sibling(), three = all.sibling();
  one.add(test::attentionReport());
  two.add(elsewhere);
  three.add(test::attentionReport());
  EXPECT_EQ(one.exitStatus(), 0);
  EXPECT_EQ(two.exitStatus(), 1) << "one place is known, and this is another";
  EXPECT_EQ(three.exitStatus(), 0) << "the same place";
}

TEST(Baseline, WhereItIsNoJson) {
  const Scratch scratch;
  scratch.write("bad.json", "{\n  \"format\": oops\n}");
  const Result<Baseline> bad = readBaseline(scratch / "bad.json");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().line, 2u);
  EXPECT_GE(bad.error().column, 13u);
  scratch.write("both.json", "{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}");
  const Result<Baseline> both = readBaseline(scratch / "both.json");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().line, 2u);
  EXPECT_EQ(both.error().message, "has a conflict of git's");
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

#if !defined(_WIN32)  // pipes, modes and numbered streams with names
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

TEST(Files, ModesAndLinksThatLeadNowhereYet) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  scratch.write("real", "old");
  chmod((scratch / "real").c_str(), 0640);
  ASSERT_TRUE(writeFile(scratch / "real", "new"));
  struct stat status;
  ASSERT_EQ(stat((scratch / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  fs::create_symlink("later", scratch / "link");
  ASSERT_TRUE(writeFile(scratch / "link", "text"));
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(scratch.read("later"), "text");
}

TEST(Files, AnOpenStreamIsWrittenTo) {
  const Scratch scratch;
  const int file = open((scratch / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(write(file, "before ", 7), 7);
  ASSERT_TRUE(writeFile("/dev/fd/" + std::to_string(file), "after"));
  close(file);
  EXPECT_EQ(scratch.read("out"), "before after");
}

#endif

}  // namespace
}  // namespace tilesight::findings
