// [tool.tilesight] of pyproject.toml.
#include "settings/settings.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "scratch.h"

namespace tilesight::settings {
namespace {

using test::Scratch;

Settings readGood(const std::string& directory) {
  const Result<Settings> settings = read(directory);
  EXPECT_TRUE(settings) << settings.error().str();
  return settings.value_or(Settings{});
}

TEST(Settings, WithoutAFileNothingIsSet) {
  const Scratch scratch;
  const Settings settings = readGood(scratch / "");
  EXPECT_EQ(settings.file, "");
  EXPECT_FALSE(settings.client);
  EXPECT_FALSE(settings.printLimit);
}

TEST(Settings, WordsOfFailOn) {
  const Scratch scratch;
  scratch.write("pyproject.toml", "[tool.tilesight]\nfail-on = \"error,unknown\"\n");
  EXPECT_EQ(readGood(scratch / "").failOn, "error,unknown");
  scratch.write("pyproject.toml", "[tool.tilesight]\nfail-on = \"unknowns\"\n");
  const Result<Settings> wrong = read(scratch / "");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "fail-on must be error, warning or never, and unknown beside them (error,unknown)");
}

TEST(Settings, Everything) {
  const Scratch scratch;
  scratch.write("pyproject.toml", R"(
[project]
name = "kernels"

[tool.tilesight]
client = ["sanitizer", "tracer"]
ignore = ["misaligned"]
fail-on = "warning"
print-limit = 0
num-sms = 132
threads = 2
timeout = 2.5
baseline = "ci/baseline.json"
like = "a100"
all-configs = true

[tool.tilesight.ignore-in]
"kernels/legacy/*.py" = ["out-of-view", "out-of-bounds"]

[tool.tilesight.ignore-kernel]
"attn_*" = "null-pointer"
)");
  const Settings settings = readGood(scratch / "");
  EXPECT_EQ(settings.file, "pyproject.toml");
  EXPECT_EQ(settings.client, (std::vector<std::string>{"sanitizer", "tracer"}));
  EXPECT_EQ(settings.ignore, std::vector<std::string>{"misaligned"});
  EXPECT_EQ(settings.failOn, "warning");
  EXPECT_EQ(settings.printLimit, 0u);
  EXPECT_EQ(settings.numSms, 132u);
  EXPECT_EQ(settings.threads, 2u);
  EXPECT_EQ(settings.timeout, 2.5);
  EXPECT_EQ(settings.baseline, scratch / "ci/baseline.json");
  EXPECT_EQ(settings.like, "a100");
  EXPECT_EQ(settings.allConfigs, true);
  ASSERT_EQ(settings.ignoreRules.size(), 2u);
  EXPECT_EQ(settings.ignoreRules[0].pattern, "kernels/legacy/*.py");
  EXPECT_EQ(settings.ignoreRules[0].kinds.size(), 2u);
  EXPECT_EQ(settings.ignoreRules[1].of, findings::IgnoreRule::Of::Kernel);
}

TEST(Settings, TheNearestFileWithTheTableCounts) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "a/b");
  scratch.write("pyproject.toml", "[tool.tilesight]\ntimeout = 1\n");
  scratch.write("a/pyproject.toml", "[tool.other]\nx = 1\n");
  EXPECT_EQ(readGood(scratch / "a/b").timeout, 1.0);
  scratch.write("a/pyproject.toml", "[tool.tilesight]\ntimeout = 2\n");
  EXPECT_EQ(readGood(scratch / "a/b").timeout, 2.0);
}

TEST(Settings, WithinARepositoryTheSearchEndsAtItsRoot) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "repo/.git");
  std::filesystem::create_directories(scratch / "repo/a");
  scratch.write("pyproject.toml", "[tool.tilesight]\ntimeout = 1\n");
  const Result<Settings> within = read(scratch / "repo/a", true);
  ASSERT_TRUE(within);
  EXPECT_FALSE(within->timeout) << "the file above the repository is somebody else's";
  EXPECT_EQ(readGood(scratch / "repo/a").timeout, 1.0);
  scratch.write("repo/pyproject.toml", "[tool.tilesight]\ntimeout = 2\n");
  EXPECT_EQ(read(scratch / "repo/a", true)->timeout, 2.0) << "the root's own file counts";
}

#if !defined(_WIN32)  // which keeps the folder that a process is in
TEST(Settings, AFolderThatIsGoneHasNone) {
  const auto before = std::filesystem::current_path();
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "gone");
  scratch.write("pyproject.toml", "[tool.tilesight]\ntimeout = 1\n");
  std::filesystem::current_path(scratch / "gone");
  std::filesystem::remove(scratch / "gone");
  const Result<Settings> settings = read(".");
  std::filesystem::current_path(before);
  ASSERT_TRUE(settings) << settings.error().str();
  EXPECT_FALSE(settings->timeout);
}
#endif

TEST(Settings, GpusAreNamedInAnyCase) {
  const Scratch scratch;
  scratch.write("pyproject.toml", "[tool.tilesight]\nlike = \"A100\"\n");
  EXPECT_EQ(readGood(scratch / "").like, "a100");
}

TEST(Settings, WhatIsWrongIsSaidWithItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"print_limit = 3", "pyproject.toml:2:1: error: [tool.tilesight] has no setting \"print_limit\"; did you mean print-limit?"},
      {"colour = true", "pyproject.toml:2:1: error: [tool.tilesight] has no setting \"colour\"; it has all-configs, baseline, client"},
      {"ignore = [\"misaligned\", \"out-of-bound\"]", "pyproject.toml:2:25: error: \"out-of-bound\" is no kind of finding; did you mean out-of-bounds?"},
      {"ignore = 3", "pyproject.toml:2:10: error: ignore must be a text, or a list of texts"},
      {"fail-on = \"always\"", "pyproject.toml:2:11: error: fail-on must be error, warning or never, and unknown"},
      {"num-sms = 0", "pyproject.toml:2:11: error: num-sms must be a whole number from 1"},
      {"num-sms = \"4\"", "pyproject.toml:2:11: error: num-sms must be a whole number from 1"},
      {"threads = -1", "pyproject.toml:2:11: error: threads must be a whole number from 0"},
      {"timeout = nan", "pyproject.toml:2:11: error: timeout must be a number of seconds above 0"},
      {"all-configs = 1", "pyproject.toml:2:15: error: all-configs must be true or false"},
      {"baseline = \"\"", "pyproject.toml:2:12: error: baseline must be a text"},
      {"ignore-in = [\"a.py\"]", "pyproject.toml:2:13: error: ignore-in must be a table"},
      {"ignore-in = {\"a.py\" = [\"race-d\"]}", "\"race-d\" is no kind of finding"},
      {"ignore = [", "pyproject.toml:2:12: error: is no TOML: "},
  };
  for (const auto& [line, message] : cases) {
    const Scratch scratch;
    scratch.write("pyproject.toml", std::string("[tool.tilesight]\n") + line + "\n");
    const Result<Settings> settings = read(scratch / "");
    ASSERT_FALSE(settings) << line;
    EXPECT_NE(settings.error().str().find(message), std::string::npos) << line << "\n" << settings.error().str();
    EXPECT_EQ(settings.error().str().find('\n'), std::string::npos) << settings.error().str();
  }
}

TEST(Settings, AToolTableThatIsNoTable) {
  const Scratch scratch;
  scratch.write("pyproject.toml", "[tool]\ntilesight = 3\n");
  const Result<Settings> settings = read(scratch / "");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().str(), "pyproject.toml:2:13: error: tool.tilesight must be a table");
}

}  // namespace
}  // namespace tilesight::settings
