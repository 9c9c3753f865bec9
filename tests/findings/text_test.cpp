// The report for people, against goldens.
#include "findings/text.h"

#include <gtest/gtest.h>

#include "golden.h"
#include "samples.h"

namespace tilesight::findings {
namespace {

using test::expectGolden;

Session sessionIn(const std::string& directory, bool quiet = false, uint32_t printLimit = 50) {
  SessionOptions options;
  options.workingDirectory = directory;
  options.quiet = quiet;
  options.printLimit = printLimit;
  return Session(options);
}

TEST(Text, OneFindingWithItsChain) {
  expectGolden("finding.txt", findingText(test::attentionFinding(), false, "/home/user"));
}

TEST(Text, ColoursOnlyWhenAsked) {
  const std::string plain = findingText(test::attentionFinding(), false, "/home/user");
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  expectGolden("finding_colour.txt", findingText(test::attentionFinding(), true, "/home/user"));
}

TEST(Text, EverythingAFindingCanSay) {
  Finding finding = test::attentionFinding();
  finding.kind = "out-of-view";
  finding.severity = Severity::Warning;
  finding.launch = 2;
  finding.stack = {{"/home/user/attn.py", 80, 5, "attn_outer"}, {"/lib/x.py", 3, 0, ""}};
  finding.iterations = {{"start_n", 960, 15}, {"", 3, 3}};
  finding.operand->index.clear();
  finding.operand->byteOffset = -16;
  finding.operand->viewBytes = 1024000;
  finding.operand->allocationKnown = false;
  finding.because.push_back({"k_ptrs", "K + off_z * stride_z + offs_n[:, None] * stride_n + offs_d[None, :]",
                             "K-16..K+2,048,000"});
  finding.notes = {"result unused: the compiler removes it"};
  finding.consequences = {"attn.py:60:9: store to Out writes 64 values that came from it"};
  finding.remedy = "mask the load with offs_n[:, None] < N_CTX";
  finding.countLaunches = 3;
  expectGolden("finding_full.txt", findingText(finding, false, "/home/user"));
}

TEST(Text, CaretStandsUnderTabsAndLetters) {
  Finding finding;
  finding.kind = "misaligned";
  finding.message = "m";
  finding.location = {"a.py", 7, 10, ""};
  finding.sourceLine = "\té = tl.load(p)";  // column 10 counts bytes: a tab, two for é, ...
  const std::string text = findingText(finding, false, "");
  EXPECT_NE(text.find("  7 | \té = tl.load(p)\n    | \t       ^ program (0,0,0)\n"), std::string::npos)
      << text;
}

TEST(Text, HostileNamesDoNotReachTheTerminal) {
  Finding finding = test::attentionFinding();
  finding.message = "a\033[2Jb\nc";
  finding.sourceLine = "x = 1\033]0;title\a\r\n";
  finding.kernel = "k\033[31m";
  finding.because[0].name = "\xc2\x9b" "31m";
  LaunchReport report;
  report.kernel = finding.kernel;
  report.findings = {finding};
  report.unknowns = {{"k", "asm\n\033[0m", {}, ""}};
  Session session = sessionIn("/");
  session.add(report);
  session.addNote("\033");
  const std::string text = session.text(false);
  EXPECT_EQ(text.find_first_of("\033\a\r"), std::string::npos) << text;
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
  EXPECT_NE(text.find("a?[2Jb c\n  57 | x = 1?]0;title?\n"), std::string::npos) << text;
}

TEST(Text, WithoutSourceOrPlaceTheWitnessStillShows) {
  Finding finding = test::attentionFinding();
  finding.sourceLine.clear();
  finding.location = {};
  finding.element.clear();
  expectGolden("finding_bare.txt", findingText(finding, false, "/home/user"));
}

TEST(Text, WholeReport) {
  Session session = sessionIn("/home/user");
  session.add(test::cleanReport("prepare"));
  session.add(test::attentionReport());
  session.add(test::cleanReport("prepare"));
  LaunchReport unknown = test::cleanReport("hist");
  unknown.unknowns = {test::histogramUnknown()};
  session.add(unknown);
  session.addNote("cuda devices became the CPU");
  expectGolden("report.txt", session.text(false));
}

TEST(Text, CleanReport) {
  Session session = sessionIn("/home/user");
  session.add(test::cleanReport("prepare"));
  expectGolden("report_clean.txt", session.text(false));
}

TEST(Text, PrintLimit) {
  Session session = sessionIn("/home/user", false, 1);
  LaunchReport report = test::attentionReport();
  for (uint32_t line : {60, 61}) {
    report.findings.push_back(test::attentionFinding());
    report.findings.back().location.line = line;
  }
  session.add(report);
  expectGolden("report_limit.txt", session.text(false));
}

TEST(Text, QuietSaysNothingWhenThereIsNothing) {
  Session session = sessionIn("/home/user", true);
  session.add(test::cleanReport("prepare"));
  EXPECT_EQ(session.text(false), "");
  session.add(test::attentionReport());
  EXPECT_EQ(session.text(false), findingText(session.findings()[0], false, "/home/user") + "\n");
}

TEST(Text, NoLaunches) {
  EXPECT_EQ(sessionIn("/").text(false), "no kernel was launched: nothing was checked\n");
}

TEST(Text, ProblemsAreOneLineEach) {
  Session session = sessionIn("/");
  session.addProblem({"a.ttir", 3, 7, "expected an operation", ""});
  EXPECT_EQ(session.text(false), "a.ttir:3:7: error: expected an operation\n");
}

}  // namespace
}  // namespace tilesight::findings
