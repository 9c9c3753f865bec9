// Clients of plugins: their findings are in the report; what goes wrong in one is said there, and the launch goes on.
#include <fmt/format.h>

#include "../engine/engine_launch.h"
#include "plugins/catalog.h"
#include "plugins/dynamic.h"
#include "tools/client_names.h"

namespace tilesight::tools {
namespace {

const std::string kLibrary = std::string(TILESIGHT_TEST_PLUGINS "/clients") + plugins::librarySuffix;

const std::string kCopy = R"(tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %px = tt.addptr %xs, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %py = tt.addptr %ys, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %v = tt.load %px : tensor<32x!tt.ptr<i32>>
  tt.store %py, %v : tensor<32x!tt.ptr<i32>>
  tt.return
}
)";

/// The report of a copy of 32 integers by 3 programs, which has to come out right whatever the clients do.
findings::LaunchReport reportOf(const std::vector<std::string>& clients) {
  const auto chosen = clientsNamed(clients);
  EXPECT_TRUE(chosen) << chosen.error().str();
  if (!chosen) return {};
  exec::Bench bench(kCopy);
  bench.array("x", std::vector<int32_t>(32, 5)).array("y", std::vector<int32_t>(32));
  exec::RunOptions options;
  options.clients = *chosen;
  options.threads = 2;
  options.alwaysDivide = true;
  auto report = bench.run(3, options);
  EXPECT_EQ(bench.arrays[1], std::vector<int32_t>(32, 5));
  return report;
}

std::string errorOf(const std::string& client, const std::vector<std::string>& plugins = {}) {
  const auto chosen = clientsNamed({client}, plugins);
  return chosen ? "" : chosen.error().str();
}

TEST(ClientPlugin, ItsFindingsAreInTheReport) {
  testing::internal::CaptureStdout();
  const auto report = reportOf({kLibrary + ":wide"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "768 bytes in 3 programs\n");
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].kind, "wide-access");
  EXPECT_EQ(report.findings[0].client, "wide");
  EXPECT_EQ(report.findings[0].severity, findings::Severity::Warning);
  EXPECT_EQ(report.findings[0].message, "reads 128 bytes at once");
  EXPECT_EQ(report.findings[0].countPrograms, 3);
  EXPECT_EQ(report.findings[1].message, "writes 128 bytes at once");
  EXPECT_TRUE(report.unknowns.empty());
}

TEST(ClientPlugin, ThatFailsIsNamedAndTheOthersGoOn) {
  const auto reasonsOf = [](const std::string& name) {
    testing::internal::CaptureStdout();
    const auto report = reportOf({kLibrary + ":" + name, kLibrary + ":wide"});
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "768 bytes in 3 programs\n") << name;
    EXPECT_EQ(report.findings.size(), 2u) << name;
    EXPECT_EQ(report.unknowns.size(), 1u) << name;
    return report.unknowns.empty() ? std::string() : report.unknowns[0].reason;
  };
  EXPECT_EQ(reasonsOf("gives-up"), "the client gives-up failed: no room for more than 0 stores");
  EXPECT_EQ(reasonsOf("cannot-begin"), "the client cannot-begin failed: its data file is missing");
  EXPECT_EQ(reasonsOf("wrong-element"), "the client wrong-element failed: report: element 32 of a tile of 32");
#if !defined(_WIN32)  // two DLLs with a run-time library each do not pass exceptions on
  EXPECT_EQ(reasonsOf("throws"), "the client throws failed: an exception left on_load");
#endif
}

TEST(ClientPlugin, IsFoundByNameInPluginsThatAreGiven) {
  const auto chosen = clientsNamed({"sanitizer", "wide"}, {kLibrary});
  ASSERT_TRUE(chosen) << chosen.error().str();
  ASSERT_EQ(chosen->size(), 2u);
  EXPECT_FALSE((*chosen)[0].foreign);
  EXPECT_TRUE((*chosen)[1].foreign);
}

TEST(ClientPlugin, WrongNamesAndLibrariesAreSaidInOneLine) {
  EXPECT_EQ(errorOf(kLibrary + ":wied"), kLibrary + ": error: the plugin has no client \"wied\"; did you mean wide? (it has: wide, gives-up, cannot-begin, throws, wrong-element)");
  EXPECT_EQ(errorOf("/nowhere/x.so:wide"), "/nowhere/x.so: error: plugin refused: there is no such file");
  EXPECT_EQ(errorOf("wied", {kLibrary}),
            "error: there is no client \"wied\"; did you mean wide? (available: sanitizer, tracer, traffic, null, wide, gives-up, cannot-begin, throws, wrong-element)");
  EXPECT_EQ(errorOf("wide", {"/nowhere/x.so"}), "/nowhere/x.so: error: plugin refused: there is no such file");
  EXPECT_EQ(pluginProblem(kLibrary), "");
  EXPECT_EQ(pluginProblem("/nowhere/x.so"), "/nowhere/x.so: error: plugin refused: there is no such file");
}

}  // namespace
}  // namespace tilesight::tools
