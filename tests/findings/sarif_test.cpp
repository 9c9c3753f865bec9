// SARIF: a golden for its shape. tests/python holds logs of real runs against the official schema.
#include "findings/sarif.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "golden.h"
#include "samples.h"

namespace tilesight::findings {
namespace {

using nlohmann::ordered_json;

using test::sessionIn;

TEST(Sarif, WholeReport) {
  Session session = sessionIn("/home/user/my repo");
  LaunchReport report = test::attentionReport();
  report.unknowns = {test::histogramUnknown()};
  report.findings[0].location.file = "/home/user/my repo/src/attn é.py";
  report.findings[0].stack = {{"/home/user/attn.py", 80, 5, "attn_outer"}};
  session.add(report);
  session.addNote("cuda devices became the CPU");
  session.addProblem({"x.tsb", 0, 0, "is damaged", "save it again"});
  ordered_json log = ordered_json::parse(sessionSarif(session, 7));
  ordered_json& driver = log["runs"][0]["tool"]["driver"];
  driver["version"] = driver["semanticVersion"] = "VERSION";
  EXPECT_GT(driver["rules"].size(), 5u);
  driver["rules"] = {{"number", driver["rules"].size() > 5}};
  test::expectGolden("report.sarif", log.dump(2) + "\n");
}

TEST(Sarif, AKindOfAClientsOwnIsARule) {
  Session session = sessionIn("/");
  LaunchReport report = test::attentionReport();
  report.findings[0].kind = "my-kind";
  session.add(report);
  const auto run = ordered_json::parse(sessionSarif(session))["runs"][0];
  const size_t index = run["results"][0]["ruleIndex"];
  EXPECT_EQ(run["tool"]["driver"]["rules"][index]["id"], "my-kind");
}

TEST(Sarif, BracketsThatWouldBeALinkAreEscaped) {
  Session session = sessionIn("/");
  LaunchReport report = test::attentionReport();
  report.findings[0].message = "see [this](1)";
  session.add(report);
  const std::string text = ordered_json::parse(sessionSarif(session))["runs"][0]["results"][0]["message"]["text"];
  EXPECT_TRUE(text.starts_with("see \\[this\\](1)")) << text;
}

TEST(Sarif, LinksOfCallersHaveTheirNamesEscaped) {
  Session session = sessionIn("/");
  LaunchReport report = test::attentionReport();
  report.findings[0].message = "a\\b](c) [d";
  report.findings[0].stack = {{"/a[0](x)\\b.py", 80, 5, "outer"}};
  session.add(report);
  const std::string text = ordered_json::parse(sessionSarif(session))["runs"][0]["results"][0]["message"]["text"];
  EXPECT_TRUE(text.starts_with("a\\\\b\\](c) \\[d\n")) << text;
  EXPECT_NE(text.find("called from [/a\\[0\\](x)\\\\b.py:80](1)"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilesight::findings
