// Merging, suppression, verdict and exit status.
#include "findings/session.h"

#include "findings/ignore_comments.h"
#include "findings/sentence.h"

#include <gtest/gtest.h>

#include "samples.h"

namespace tilesight::findings {
namespace {

using test::attentionFinding;
using test::attentionReport;
using test::cleanReport;

LaunchReport reportWith(Finding finding, const std::map<std::string, std::string>& sources = {}) {
  LaunchReport report = attentionReport();
  report.findings = {std::move(finding)};
  findIgnoreComments(report, sources);
  return report;
}

TEST(Merge, EqualFindingsAddUpAndTheFirstWitnessStays) {
  Session session;
  session.add(attentionReport());
  Finding later = attentionFinding();
  later.launch = 1;
  later.program = {0, 3, 0};
  later.countElements = 100;
  later.countPrograms = 2;
  later.maxBytesPast = 9999;
  session.add(reportWith(later));
  ASSERT_EQ(session.findings().size(), 1u);
  const Finding& merged = session.findings()[0];
  EXPECT_EQ(merged.launch, 0u);
  EXPECT_EQ(merged.program[1], 15);
  EXPECT_EQ(merged.countElements, 12388);
  EXPECT_EQ(merged.countPrograms, 10);
  EXPECT_EQ(merged.countLaunches, 2);
  EXPECT_EQ(merged.maxBytesPast, 9999);
}

TEST(Merge, AFindingTwiceInOneLaunchCountsOneLaunch) {
  Session session;
  LaunchReport report = attentionReport();
  report.findings.push_back(report.findings[0]);
  session.add(report);
  ASSERT_EQ(session.findings().size(), 1u);
  EXPECT_EQ(session.findings()[0].countLaunches, 1);
}

TEST(Merge, TheStandardSentenceTellsTheFarthestOfAllLaunches) {
  Finding first = attentionFinding();
  first.message = sentence(first);
  Finding later = first;
  later.maxBytesPast = 999999;
  Finding before = first;
  before.operand->bytesPast = -8;
  before.maxBytesPast = 64;
  Session session;
  for (const Finding& finding : {first, later, before}) session.add(reportWith(finding));
  ASSERT_EQ(session.findings().size(), 1u);
  EXPECT_NE(session.findings()[0].message.find("up to 999,999 bytes past its end and up to 64 bytes before its start"),
            std::string::npos)
      << session.findings()[0].message;
}

TEST(Merge, AMessageOfAClientStays) {
  Finding finding = attentionFinding();
  finding.message = "my own words";
  Session session;
  session.add(reportWith(finding));
  finding.maxBytesPast = 999999;
  session.add(reportWith(finding));
  EXPECT_EQ(session.findings()[0].message, "my own words");
}

TEST(Merge, WaysToGoWrongAreToldApartAndTheirNumbersAreNot) {
  Finding finding = attentionFinding();
  finding.kind = "deadlock";
  Session session;
  for (const char* message : {"200 programs must be resident at once", "300 programs must be resident at once",
                              "no program will make it"}) {
    finding.message = message;
    session.add(reportWith(finding));
  }
  ASSERT_EQ(session.findings().size(), 2u);
  EXPECT_EQ(session.findings()[0].countLaunches, 2);
}

TEST(Merge, UnrolledOperationsOfALaunchAreMetByTheSamePrograms) {
  Finding finding = attentionFinding();
  finding.countPrograms = 2;
  LaunchReport report = reportWith(finding);
  finding.countPrograms = 3;
  report.findings.push_back(finding);
  finding.countPrograms = 1;
  report.findings.push_back(finding);
  Session session;
  session.add(report);
  EXPECT_EQ(session.findings()[0].countPrograms, 3);
  session.add(report);
  EXPECT_EQ(session.findings()[0].countPrograms, 6);
}

TEST(Merge, EachPartOfTheKeyTellsFindingsApart) {
  const auto differing = [](auto change) {
    Session session;
    session.add(attentionReport());
    Finding other = attentionFinding();
    change(other);
    session.add(reportWith(other));
    return session.findings().size();
  };
  EXPECT_EQ(differing([](Finding&) {}), 1u);
  EXPECT_EQ(differing([](Finding& f) { f.message = "other words"; }), 1u);
  EXPECT_EQ(differing([](Finding& f) { f.element = {1, 1}; }), 1u);
  EXPECT_EQ(differing([](Finding& f) { f.kind = "misaligned"; }), 2u);
  EXPECT_EQ(differing([](Finding& f) { f.kernel = "attn_bwd"; }), 2u);
  EXPECT_EQ(differing([](Finding& f) { f.operation = "store"; }), 2u);
  EXPECT_EQ(differing([](Finding& f) { f.operand->argument = "V"; }), 2u);
  EXPECT_EQ(differing([](Finding& f) { f.location.line = 58; }), 2u);
  EXPECT_EQ(differing([](Finding& f) { f.location.column = 1; }), 2u);
  EXPECT_EQ(differing([](Finding& f) { f.stack = {{"a.py", 1, 1, ""}}; }), 2u);
}

TEST(Merge, SeverityIsTheHighest) {
  Session session;
  Finding mild = attentionFinding();
  mild.severity = Severity::Warning;
  session.add(reportWith(mild));
  EXPECT_EQ(session.verdict(), Verdict::Ok);
  session.add(attentionReport());
  EXPECT_EQ(session.findings()[0].severity, Severity::Error);
  EXPECT_EQ(session.verdict(), Verdict::Finding);
}

TEST(Merge, UnknownsCountLaunches) {
  Session session;
  LaunchReport report = cleanReport("hist");
  report.unknowns = {test::histogramUnknown(), test::histogramUnknown()};
  session.add(report);
  session.add(report);
  ASSERT_EQ(session.unknowns().size(), 1u);
  EXPECT_EQ(session.unknowns()[0].launches, 2u);
  EXPECT_EQ(session.verdict(), Verdict::Unknown);
}

TEST(Kernels, InOrderOfTheirFirstLaunch) {
  Session session;
  session.add(cleanReport("b"));
  session.add(attentionReport());
  session.add(cleanReport("b"));
  const auto kernels = session.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "b");
  EXPECT_EQ(kernels[0].launches, 2u);
  EXPECT_EQ(kernels[0].verdict(), Verdict::Ok);
  EXPECT_EQ(kernels[1].errors, 1u);
  EXPECT_EQ(kernels[1].verdict(), Verdict::Finding);
}

TEST(Kernels, WhatOneLaunchDidNotCheckIsNotChecked) {
  Session session;
  session.add(cleanReport("k"));
  LaunchReport fast = cleanReport("k");
  fast.checked = {"bounds"};
  fast.notChecked = {"asserts"};
  session.add(fast);
  const auto kernels = session.kernels();
  EXPECT_EQ(kernels[0].checked, (std::vector<std::string>{"bounds", "alignment"}));
  EXPECT_EQ(kernels[0].notChecked, (std::vector<std::string>{"races", "uninitialised", "asserts"}));
}

TEST(Kernels, LaunchesThatWereNotCheckedAreCounted) {
  Session session;
  LaunchReport off = cleanReport("k");
  off.checked = {"asserts"};
  off.notChecked = {"bounds", "alignment", "races", "uninitialised"};
  session.add(off);
  EXPECT_NE(session.text(false).find("executed, bounds not checked"), std::string::npos);
  for (int i = 0; i < 3; ++i) session.add(cleanReport("k"));
  const std::string text = session.text(false);
  EXPECT_NE(text.find("k: 4 launches, ok, 0.4 s; 1 of 4 launches was not checked: client off; not checked: races"),
            std::string::npos) << text;
  EXPECT_NE(text.find("Checked: asserts, bounds, alignment.  Not checked: races, uninitialised.  1 of 4 launches was "
                      "not checked: client off."), std::string::npos) << text;
}

TEST(Suppress, ByKind) {
  SessionOptions options;
  options.ignore = {"out-of-bounds"};
  Session session(options);
  session.add(attentionReport());
  session.add(attentionReport());
  EXPECT_TRUE(session.findings().empty());
  EXPECT_EQ(session.suppressed(), 1u);
  EXPECT_EQ(session.exitStatus(), 0);
}

TEST(Suppress, ByCommentOnTheSourceLine) {
  const auto remaining = [](const std::string& comment) {
    Session session;
    Finding finding = attentionFinding();
    finding.sourceLine += comment;
    session.add(reportWith(finding));
    return session.findings().size();
  };
  EXPECT_EQ(remaining("  # tilesight: ignore[out-of-bounds] the tail is padding"), 0u);
  EXPECT_EQ(remaining("  # tilesight: ignore[misaligned, out-of-bounds] why"), 0u);
  EXPECT_EQ(remaining("  # noqa  # tilesight: ignore[out-of-bounds]"), 0u);
  EXPECT_EQ(remaining("  # tilesight: ignore[misaligned] why"), 1u);
  EXPECT_EQ(remaining("  # tilesight: ignore out-of-bounds"), 1u);
  EXPECT_EQ(remaining("  # tilesight: ignore[out-of-bounds"), 1u);
  EXPECT_EQ(remaining(" ; s = \"tilesight: ignore[out-of-bounds]\""), 1u);
}

TEST(Suppress, AWrongKindInACommentIsToldOnce) {
  Session session;
  Finding finding = attentionFinding();
  finding.sourceLine += "  # tilesight: ignore[out-of-bound]";
  session.add(reportWith(finding));
  session.add(reportWith(finding));
  EXPECT_EQ(session.findings().size(), 1u);
  ASSERT_EQ(session.notes().size(), 1u);
  EXPECT_NE(session.notes()[0].find("did you mean out-of-bounds?"), std::string::npos);
}

TEST(Suppress, AMisspeltCommentIsToldWithTheNearestKind) {
  Session session;
  Finding finding = attentionFinding();
  finding.sourceLine += "  # tilesight: noqa[out-of-view-ed] why";
  session.add(reportWith(finding));
  EXPECT_EQ(session.findings().size(), 1u);
  ASSERT_EQ(session.notes().size(), 1u);
  EXPECT_NE(session.notes()[0].find("`tilesight: noqa` does nothing: write # tilesight: ignore[out-of-view] and why"),
            std::string::npos) << session.notes()[0];
}

TEST(Refusals, AreToldAndCountForNothing) {
  Session session;
  session.add(cleanReport("k"));
  for (int i = 0; i < 2; ++i) session.addRefusal({"k", "no power of 2", {"k.py", 5, 1, "k"}, "", 1});
  EXPECT_EQ(session.exitStatus(), 0);
  ASSERT_EQ(session.refusals().size(), 1u);
  EXPECT_EQ(session.refusals()[0].launches, 2u);
  ASSERT_EQ(session.kernels().size(), 1u);
  EXPECT_EQ(session.kernels()[0].refused, 2u);
  const std::string text = session.text(false);
  EXPECT_NE(text.find("k.py:5:1: refused: no power of 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2 launches were refused by Triton (the program was told)."), std::string::npos) << text;
}

TEST(Kernels, OfOneNameInTwoFilesAreTwo) {
  Session session;
  for (const char* file : {"a.py", "b.py", "a.py"}) {
    LaunchReport report = attentionReport();
    report.file = file;
    session.add(report);
  }
  EXPECT_EQ(session.findings().size(), 2u);
  ASSERT_EQ(session.kernels().size(), 2u);
  EXPECT_EQ(session.kernels()[0].launches, 2u);
}

TEST(Quiet, NotesAreLeftOut) {
  SessionOptions options;
  options.quiet = true;
  Session session(options);
  session.add(attentionReport());
  session.addNote("cuda became the CPU");
  EXPECT_NE(session.text(false).find("out-of-bounds"), std::string::npos);
  EXPECT_EQ(session.text(false).find("note: cuda"), std::string::npos);
}

Session sessionWith(bool finding, bool unknown, SessionOptions options = {}) {
  Session session(options);
  LaunchReport report = finding ? attentionReport() : cleanReport("k");
  if (unknown) report.unknowns = {test::histogramUnknown()};
  session.add(report);
  return session;
}

TEST(ExitStatus, Precedence) {
  EXPECT_EQ(sessionWith(false, false).exitStatus(), 0);
  EXPECT_EQ(sessionWith(false, true).exitStatus(), 3);
  EXPECT_EQ(sessionWith(false, true).exitStatus(7), 7) << "the program's status beats incomplete";
  EXPECT_EQ(sessionWith(false, false).exitStatus(7), 7);
  EXPECT_EQ(sessionWith(true, true).exitStatus(7), 1) << "findings beat the program's status";
  Session bad = sessionWith(true, true);
  bad.addProblem({"x.tsb", 0, 0, "damaged", ""});
  EXPECT_EQ(bad.exitStatus(7), 2);
  bad.addInternalError("bug");
  EXPECT_EQ(bad.exitStatus(7), 4);
}

TEST(ExitStatus, NoLaunchIsIncomplete) {
  EXPECT_EQ(Session().exitStatus(), 3);
  EXPECT_EQ(Session().exitStatus(5), 5);
  EXPECT_EQ(Session().verdict(), Verdict::Unknown);
}

TEST(ExitStatus, FailOnAndErrorExitCode) {
  SessionOptions never;
  never.failOn.level = FailOn::Never;
  EXPECT_EQ(sessionWith(true, false, never).exitStatus(), 0);
  EXPECT_EQ(sessionWith(true, true, never).exitStatus(), 3);
  EXPECT_EQ(sessionWith(true, false, never).verdict(), Verdict::Finding);

  SessionOptions code;
  code.errorExitCode = 42;
  EXPECT_EQ(sessionWith(true, false, code).exitStatus(), 42);

  const auto warned = [](FailOn failOn) {
    SessionOptions options;
    options.failOn.level = failOn;
    Session session(options);
    Finding finding = attentionFinding();
    finding.severity = Severity::Warning;
    session.add(reportWith(finding));
    return session.exitStatus();
  };
  EXPECT_EQ(warned(FailOn::Error), 0);
  EXPECT_EQ(warned(FailOn::Warning), 1);
}

TEST(ExitStatus, WhatCouldNotBeCheckedFailsIfAsked) {
  const auto status = [](std::string_view failOn, bool finding) {
    SessionOptions options;
    options.failOn = *parseFailOn(failOn);
    return sessionWith(finding, true, options).exitStatus();
  };
  EXPECT_EQ(status("error", false), 3);
  EXPECT_EQ(status("unknown", false), 1);
  EXPECT_EQ(status("error, unknown", false), 1);
  EXPECT_EQ(status("unknown,never", false), 1);
  EXPECT_EQ(status("never", true), 3);
}

TEST(ExitStatus, WordsOfFailOn) {
  EXPECT_EQ(parseFailOn("warning")->level, FailOn::Warning);
  EXPECT_FALSE(parseFailOn("warning")->unknown);
  EXPECT_EQ(parseFailOn("unknown")->level, FailOn::Error);
  EXPECT_EQ(parseFailOn("unknown,warning")->level, FailOn::Warning);
  for (const char* wrong : {"sometimes", "", ",", "error,warning", "unknown,often"}) EXPECT_FALSE(parseFailOn(wrong)) << wrong;
}

TEST(Fingerprint, StaysWhenLinesMove) {
  const Finding finding = attentionFinding();
  const std::string print = fingerprint(finding);
  EXPECT_EQ(print.size(), 16u);
  EXPECT_EQ(print, "38afa337f9322c19") << "baselines on users' disks hold these: never change the hash";
  Finding moved = finding;
  moved.location.line = 99;
  moved.sourceLine = "  k = tl.load(k_ptrs)  ";  // indented otherwise
  moved.location.file = "/elsewhere/attn.py";
  moved.program = {9, 9, 9};
  EXPECT_EQ(fingerprint(moved), print);
  for (int field = 0; field < 4; ++field) {
    Finding other = finding;
    if (field == 0) other.kind = "misaligned";
    if (field == 1) other.kernel = "attn_bwd";
    if (field == 2) other.sourceLine = "k = tl.load(k_ptrs, mask=m)";
    if (field == 3) other.operand->argument = "V";
    EXPECT_NE(fingerprint(other), print) << field;
  }
}

}  // namespace
}  // namespace tilesight::findings
