// `--format github`: escaping, and what there is a command for.
#include "findings/github.h"

#include <gtest/gtest.h>

#include "golden.h"
#include "samples.h"

namespace tilesight::findings {
namespace {

using test::sessionIn;

TEST(Github, WholeReport) {
  Session session = sessionIn("/home/user");
  LaunchReport report = test::attentionReport();
  report.unknowns = {test::histogramUnknown()};
  report.findings[0].stack = {{"/home/user/attn.py", 80, 5, "attn_outer"}};
  session.add(report);
  session.addNote("cuda devices became the CPU");
  session.addProblem({"/elsewhere/x.tsb", 0, 0, "is damaged", "save it again"});
  test::expectGolden("github.txt", sessionGithub(session));
  test::expectGolden("github_summary.md", stepSummary(session));
}

TEST(Github, TextIsEscaped) {
  Session session = sessionIn("/home/user");
  Finding finding = test::attentionFinding();
  finding.kernel = "k,1:2%";
  finding.location.file = "/home/user/a,b:c%d\r\n.py";
  finding.message = "100 % of\r\nit: a,b";
  LaunchReport report = test::cleanReport("k");
  report.findings = {finding};
  session.add(report);
  const std::string text = sessionGithub(session);
  EXPECT_TRUE(text.starts_with("::error file=a%2Cb%3Ac%25d%0D%0A.py,line=57,col=13,"
                               "title=out-of-bounds in k%2C1%3A2%25::100 %25 of%0D%0Ait: a,b%0A")) << text;
}

TEST(Github, SeveritiesHaveTheirCommands) {
  const auto commandOf = [](Severity severity) {
    Session session = sessionIn("/");
    LaunchReport report = test::attentionReport();
    report.findings[0].severity = severity;
    session.add(report);
    const std::string text = sessionGithub(session);
    return text.substr(0, text.find(' '));
  };
  EXPECT_EQ(commandOf(Severity::Error), "::error");
  EXPECT_EQ(commandOf(Severity::Warning), "::warning");
  EXPECT_EQ(commandOf(Severity::Note), "::notice");
}

TEST(Github, TablesKeepTheirShape) {
  Session session = sessionIn("/");
  LaunchReport report = test::attentionReport();
  report.findings[0].message = "a | b <script> `c`\nd";
  session.add(report);
  EXPECT_NE(stepSummary(session).find("| a \\| b &lt;script&gt; \\`c\\` d |\n"), std::string::npos)
      << stepSummary(session);
}

}  // namespace
}  // namespace tilesight::findings
