// The report for programs: a golden for its shape, and what may go wrong.
#include "findings/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "golden.h"
#include "samples.h"

namespace tilesight::findings {
namespace {

using nlohmann::json;

TEST(Json, WholeReport) {
  SessionOptions options;
  options.workingDirectory = "/home/user";
  Session session(options);
  LaunchReport report = test::attentionReport();
  report.unknowns = {test::histogramUnknown()};
  report.findings[0].stack = {{"/home/user/attn.py", 80, 5, "attn_outer"}};
  session.add(report);
  session.addNote("cuda devices became the CPU");
  std::string actual = session.json(7);
  const std::string version = json::parse(actual)["tilesight"];
  actual.replace(actual.find(version), version.size(), "VERSION");
  test::expectGolden("report.json", actual);
}

TEST(Json, ProgramExitIsNullWithoutAProgram) {
  const json report = json::parse(Session().json());
  EXPECT_TRUE(report["program_exit"].is_null());
  EXPECT_EQ(report["exit_status"], 3);
  EXPECT_EQ(report["verdict"], "unknown");
}

TEST(Json, TextThatIsNotUtf8IsReplaced) {
  Finding finding = test::attentionFinding();
  finding.sourceLine = "k = '\xff\xfe'";
  const json parsed = json::parse(findingJson(finding));
  EXPECT_EQ(parsed["source"], "k = '\xef\xbf\xbd\xef\xbf\xbd'");
}

TEST(Json, ConfigurationThatIsNoJsonStaysText) {
  Finding finding = test::attentionFinding();
  EXPECT_EQ(json::parse(findingJson(finding))["config"]["BLOCK_N"], 64);
  finding.config = "BLOCK=64";
  EXPECT_EQ(json::parse(findingJson(finding))["config"], "BLOCK=64");
  finding.config = "";
  EXPECT_EQ(json::parse(findingJson(finding))["config"], json::object());
}

TEST(Json, FindingsWithoutAnAccessHaveNone) {
  Finding finding = test::attentionFinding();
  finding.operand.reset();
  finding.accessKind.clear();
  const json parsed = json::parse(findingJson(finding));
  EXPECT_TRUE(parsed["operand"].is_null());
  EXPECT_TRUE(parsed["access"].is_null());
}

}  // namespace
}  // namespace tilesight::findings
