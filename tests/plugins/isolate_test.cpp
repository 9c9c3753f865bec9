// Work in another process of a program (tools/isolated.h), as on Windows and with passes in Python, with plugins that do harm
// (bad/harmful.c). commands_test.cpp has the same with a copy of the process.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../findings/scratch.h"
#include "plugins/dynamic.h"
#include "tools/isolated.h"

namespace tilesight::tools {
namespace {

const std::string kKernel = R"(tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
)";

std::string library(const std::string& does) { return fmt::format("{}/harmful_{}{}", TILESIGHT_HARMFUL, does, plugins::librarySuffix); }

class IsolateProgram : public testing::Test {
 protected:
  void SetUp() override { isolateWith({std::filesystem::absolute(TILESIGHT_BINARY).string(), "isolated"}); }
  void TearDown() override { isolateWith({}); }

  static Result<passes::Outcome> run(const std::string& does, double seconds = 60) {
    Transform how;
    how.pipelines = {"cse", "harmful"};
    how.plugins = {library(does)};
    how.isolate = true;
    how.seconds = seconds;
    return transform(kKernel, "k.ttir", how);
  }
  /// What it fails with, after "k.ttir: error: pass 'harmful' (of LIBRARY) ".
  static std::string failureOf(const std::string& does, double seconds = 60) {
    const auto outcome = run(does, seconds);
    if (outcome) return outcome->status ? "nothing" : outcome->status.error().str();
    const std::string text = outcome.error().str(), begin = fmt::format("k.ttir: error: pass 'harmful' (of {}) ", library(does));
    return text.starts_with(begin) ? text.substr(begin.size()) : text;
  }
};

TEST_F(IsolateProgram, WhatEndsItIsSaidByName) {
#if defined(_WIN32)
  EXPECT_EQ(failureOf("CRASHES"), "crashed (access violation)");
  EXPECT_EQ(failureOf("ABORTS"), "ended the process with exit status 3");
#else
  EXPECT_EQ(failureOf("CRASHES"), "crashed with signal 11 (Segmentation fault)");
  EXPECT_EQ(failureOf("ABORTS"), "crashed with signal 6 (Aborted)");
  EXPECT_EQ(failureOf("CLOSES_FILES", 0.5), "did not return within 0.5 s and was stopped");
#endif
  EXPECT_EQ(failureOf("EXITS"), "ended the process with exit status 0");
  EXPECT_EQ(failureOf("HANGS", 0.5), "did not return within 0.5 s and was stopped");
  EXPECT_TRUE(failureOf("CRASHES_WHEN_ASKED").starts_with(fmt::format("k.ttir: error: loading {} ", library("CRASHES_WHEN_ASKED")))) << failureOf("CRASHES_WHEN_ASKED");
}

TEST_F(IsolateProgram, WhatWorksGivesTheSameTextAndRemarks) {
  const auto apart = run("DOUBLES");
  ASSERT_TRUE(apart && apart->status) << failureOf("DOUBLES");
  Transform how;
  how.pipelines = {"cse", "harmful"};
  how.plugins = {library("DOUBLES")};
  const auto here = transform(kKernel, "k.ttir", how);
  ASSERT_TRUE(here);
  EXPECT_EQ(apart->text, here->text);
  EXPECT_NE(apart->text.find("arith.muli"), std::string::npos);
  ASSERT_EQ(apart->remarks.size(), 1u);
  EXPECT_EQ(apart->remarks[0].str(), here->remarks[0].str());
  EXPECT_EQ(run("PRINTS")->text, kKernel);
}

TEST_F(IsolateProgram, WhatFailsFailsTheSameWay) {
  for (const char* does : {"FAILS", "CORRUPTS"}) {
    Transform how;
    how.pipelines = {"cse", "harmful"};
    how.plugins = {library(does)};
    EXPECT_EQ(failureOf(does), transform(kKernel, "k.ttir", how)->status.error().str());
  }
  Transform how;
  how.pipelines = {"csee"};
  how.isolate = true;
  EXPECT_EQ(transform(kKernel, "k.ttir", how).error().message, "there is no pass 'csee'; did you mean cse?");
}

TEST_F(IsolateProgram, TextsOfAnySizeAndBytesGoThrough) {
  std::string text = "// \xff\xfe bytes that are no UTF-8\n" + kKernel;
  text += std::string(3 << 20, '/') + "\n";
  Transform how;
  how.pipelines = {"harmful"};
  how.plugins = {library("PRINTS")};
  how.isolate = true;
  const auto outcome = transform(text, "k.ttir", how);
  ASSERT_TRUE(outcome && outcome->status) << outcome.error().str();
  EXPECT_EQ(outcome->text, text);
}

TEST_F(IsolateProgram, CasesAndLists) {
  const test::Scratch scratch;
  scratch.write("one.test", "pass: harmful\n--- in\n" + kKernel + "--- out\nunchanged\n");
  const auto outcome = runCaseApart(library("PRINTS"), scratch / "one.test", 60);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failures, std::vector<std::string>());
  EXPECT_EQ(outcome->output, kKernel);
  EXPECT_EQ(*passesOfApart(library("PRINTS"), 60), "harmful\n");
  EXPECT_EQ(runCaseApart(library("missing"), scratch / "one.test", 60).error().message, "plugin refused: there is no such file");
  EXPECT_EQ(passesOfApart(library("missing"), 60).error().message, "plugin refused: there is no such file");
  const auto list = listOfPassesApart({library("PRINTS")}, 60);
  ASSERT_TRUE(list);
  EXPECT_NE(list->find("harmful "), std::string::npos);
}

TEST_F(IsolateProgram, AProgramThatIsNotThereOrAnotherOneIsAnError) {
  isolateWith({"/nowhere/tilesight", "isolated"});
  EXPECT_NE(failureOf("PRINTS").find("k.ttir: error: "), std::string::npos);
  isolateWith({std::filesystem::absolute(TILESIGHT_BINARY).string(), "--version"});
  EXPECT_EQ(failureOf("PRINTS"), "k.ttir: error: the process sent what is no answer");
}

}  // namespace
}  // namespace tilesight::tools
