// The native binary as a user meets it: output, errors, exit status.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "launch/bundle.h"
#include "samples.h"
#include "scratch.h"

namespace tilesight {
namespace {

using test::Scratch;

struct Outcome {
  int status = -1;
  std::string out, err;
};

/// Runs `tilesight ARGUMENTS` (shell syntax) in `scratch`.
Outcome tilesight(const Scratch& scratch, const std::string& arguments, const std::string& environment = {}) {
  const std::string command = "cd '" + (scratch / "") + "' && " + environment + " '" TILESIGHT_BINARY "' " +
                              arguments + " >out 2>err </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, scratch.read("out"), scratch.read("err")};
}

TEST(CommandLine, HelpHasAnExampleForEveryCommand) {
  const Scratch scratch;
  for (const char* command : {"", "check ", "info ", "explain ", "run "}) {
    const Outcome outcome = tilesight(scratch, std::string(command) + "--help", "TILESIGHT_PYTHON=/missing");
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_NE(outcome.out.find("Example:\n  tilesight "), std::string::npos) << command << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(CommandLine, Version) {
  const Scratch scratch;
  const Outcome outcome = tilesight(scratch, "--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("tilesight ")) << outcome.out;
}

TEST(CommandLine, WrongUsageIsOneLineAndExit2) {
  const Scratch scratch;
  const std::pair<const char*, const char*> cases[] = {
      {"", "A subcommand is required"},
      {"chekc x.tsb", "there is no command \"chekc\"; did you mean check?"},
      {"check", "FILE is required"},
      {"check --jsno r.json x.tsb", "not expected: --jsno; did you mean --json?"},
      {"check --ignore out-of-bound x.tsb", "\"out-of-bound\" is no kind of finding; did you mean out-of-bounds?"},
      {"check --client sanitiser x.tsb", "there is no client \"sanitiser\"; did you mean sanitizer?"},
      {"check --client race_detector x.tsb", "the client race_detector is planned and not built yet"},
      {"check --tool racecheck x.tsb", "--tool racecheck is planned and not built yet"},
      {"check --json - --sarif - x.tsb", "--json - and --sarif - cannot both have standard output"},
      {"check --json r --sarif r x.tsb", "--json and --sarif name the same file r"},
      {"check --sarif no/r.sarif x.tsb", "--sarif no/r.sarif: there is no folder"},
      {"check --format gitlab x.tsb", "--format"},
      {"check --baseline missing.json x.tsb", "missing.json: error: there is no such file (--write-baseline missing.json makes it)"},
      {"check --fail-on always x.tsb", "--fail-on"},
      {"check --error-exitcode 256 x.tsb", "--error-exitcode"},
      {"check --kernel-name 'regex:(' x.tsb", "--kernel-name regex:(: "},
      {"check --print-limit -1 x.tsb", "--print-limit: '-1' must be a whole number from 0 (see"},
      {"check --timeout 0 x.tsb", "--timeout: '0' must be a number of seconds above 0 (see"},
      {"explain out-of-bnds", "there is no kind of finding \"out-of-bnds\"; did you mean out-of-bounds?"},
      {"prove x.tsb", "`prove` is planned and not built yet"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = tilesight(scratch, arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

TEST(CommandLine, InputThatIsNoBundle) {
  const Scratch scratch;
  scratch.write("x.tsb", "hello");
  const Outcome outcome = tilesight(scratch, "check x.tsb missing.tsb");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "x.tsb: error: is a text file, no bundle (a bundle ends in .tsb and is "
            "written by tilesight run --save)\n"
            "missing.tsb: error: there is no such file or folder\n");
}

TEST(CommandLine, FilesOfOtherKindsAreNamed) {
  const Scratch scratch;
  scratch.write("p.py", "import triton\n");
  scratch.write("k.ttir", "module {\n}\n");
  scratch.write("k.txt", "#loc = loc(unknown)\nmodule {\n}\n");
  scratch.write("r.json", "{\n  \"format\": \"tilesight-report\",\n");
  scratch.write("b.json", "{\n  \"format\": \"tilesight-baseline\",\n");
  scratch.write("empty.tsb", "");
  scratch.write("binary", std::string("\x7f" "ELF\0\0", 6));
  scratch.write("cut.tsb", "PK\3\4 and no more");
  std::filesystem::create_directory(scratch / "folder");
  const std::pair<const char*, const char*> cases[] = {
      {"check p.py", "p.py: error: is a Python program, no bundle (tilesight run p.py checks its kernels)"},
      {"info p.py", "p.py: error: is a Python program"},
      {"check k.ttir", "k.ttir: error: is IR text: a kernel without a launch"},
      {"check k.txt", "k.txt: error: is IR text: a kernel without a launch"},
      {"check r.json", "r.json: error: is a report that --json wrote"},
      {"check b.json", "b.json: error: is a baseline, no bundle (give it with --baseline b.json)"},
      {"check empty.tsb", "empty.tsb: error: is an empty file"},
      {"info empty.tsb", "empty.tsb: error: is an empty file"},
      {"check binary", "binary: error: is neither a bundle (a zip file) nor text"},
      {"check cut.tsb", "cut.tsb: error: is not a whole zip file: "},
      {"info cut.tsb", "cut.tsb: error: is not a whole zip file: "},
      {"check folder", "folder: error: is a folder without bundles"},
      {"info folder", "folder: error: is a folder without bundles"},
      {"info r.txt", "r.txt: error: there is no such file or folder"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = tilesight(scratch, arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(outcome.err.starts_with(message)) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(CommandLine, IrThatDoesNotParseNamesItsPlace) {
  const Scratch scratch;
  scratch.write("bad.ttir", "module {\n  tt.func public @k(%x: !tt.ptr<f32>) {\n    %0 = arith.addi %y : i32\n    tt.return\n  }\n}\n");
  const Outcome outcome = tilesight(scratch, "info bad.ttir");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.err.starts_with("bad.ttir:3:")) << outcome.err;
  EXPECT_NE(outcome.err.find(": error: "), std::string::npos) << outcome.err;
}

TEST(CommandLine, ExplainListsAndExplains) {
  const Scratch scratch;
  const Outcome list = tilesight(scratch, "explain");
  EXPECT_EQ(list.status, 0);
  EXPECT_NE(list.out.find("  out-of-bounds"), std::string::npos);
  EXPECT_NE(list.out.find("(planned)"), std::string::npos);
  const Outcome one = tilesight(scratch, "explain misaligned");
  EXPECT_EQ(one.status, 0);
  EXPECT_TRUE(one.out.starts_with("misaligned: ")) << one.out;
  EXPECT_NE(tilesight(scratch, "explain race").out.find("Planned:"), std::string::npos);
}

TEST(CommandLine, RunNeedsPythonWithTheModule) {
  const Scratch scratch;
  const Outcome missing = tilesight(scratch, "run x.py", "TILESIGHT_PYTHON=/missing/python3");
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("/missing/python3 cannot be started"), std::string::npos) << missing.err;
  scratch.write("python3", "#!/bin/sh\nexit 1\n");
  const Outcome without = tilesight(scratch, "run x.py", "chmod +x python3; TILESIGHT_PYTHON=./python3");
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("./python3 has no tilesight module"), std::string::npos) << without.err;
}

TEST(CommandLine, RunHandsItsArgumentsOverUnchanged) {
  const Scratch scratch;
  scratch.write("python3", "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nfor a; do echo \"<$a>\"; done\nexit 17\n");
  const Outcome outcome = tilesight(scratch, "run --quiet 'a b.py' -- --help",
                                    "chmod +x python3; TILESIGHT_PYTHON=./python3");
  EXPECT_EQ(outcome.status, 17);
  EXPECT_EQ(outcome.out, "<-m>\n<tilesight>\n<run>\n<--quiet>\n<a b.py>\n<-->\n<--help>\n");
}

/// A vector add over n elements whose last program passes the end unless it is masked.
launch::Launch vectorAdd(int64_t n, bool masked) {
  launch::Launch launch;
  launch.kernel = "copy";
  launch.irName = "copy.ttir";
  const std::string mask = masked ? ", %mask" : "";
  launch.irText =
      "module {\n"
      "  tt.func public @copy(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
      "    %c64 = arith.constant 64 : i32\n"
      "    %pid = tt.get_program_id x : i32\n"
      "    %start = arith.muli %pid, %c64 : i32\n"
      "    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
      "    %starts = tt.splat %start : i32 -> tensor<64xi32>\n"
      "    %offs = arith.addi %starts, %range : tensor<64xi32>\n"
      "    %ns = tt.splat %n : i32 -> tensor<64xi32>\n"
      "    %mask = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n"
      "    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
      "    %px = tt.addptr %xs, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
      "    %v = tt.load %px" + mask + " : tensor<64x!tt.ptr<f32>>\n"
      "    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
      "    %po = tt.addptr %os, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
      "    tt.store %po, %v, %mask : tensor<64x!tt.ptr<f32>>\n"
      "    tt.return\n"
      "  }\n"
      "}\n";
  launch.grid = {(n + 63) / 64, 1, 1};
  launch.storages = {test::makeStorage(4 * static_cast<uint64_t>(n), 0x10000000, "x"),
                     test::makeStorage(4 * static_cast<uint64_t>(n), 0x20000000, "out")};
  for (uint32_t i = 0; i < 2; ++i) {
    launch::Argument argument{.name = i ? "out" : "x", .kind = launch::Argument::Kind::Tensor};
    argument.view = {.element = ir::ElementKind::F32, .dtype = "float32", .shape = {n}, .strides = {1},
                     .storage = i};
    launch.arguments.push_back(argument);
  }
  launch.arguments.push_back({.name = "n", .element = ir::ElementKind::I32, .bits = static_cast<uint64_t>(n)});
  return launch;
}

void save(const std::string& path, const std::vector<launch::Launch>& launches) {
  auto writer = launch::BundleWriter::open(path);
  ASSERT_TRUE(writer);
  for (const launch::Launch& launch : launches) ASSERT_TRUE(writer->add(launch));
  ASSERT_TRUE(writer->finish());
}

TEST(Check, ACleanBundle) {
  const Scratch scratch;
  save(scratch / "good.tsb", {vectorAdd(1000, true)});
  const Outcome outcome = tilesight(scratch, "check good.tsb");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("copy: 1 launch, ok"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(Check, ABuggyBundle) {
  const Scratch scratch;
  save(scratch / "bad.tsb", {vectorAdd(1000, false)});
  const Outcome outcome = tilesight(scratch, "check bad.tsb --json r.json");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("out-of-bounds"), std::string::npos) << outcome.err;
  const std::string json = scratch.read("r.json");
  EXPECT_NE(json.find("\"bundle\": \"bad.tsb\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"exit_status\": 1"), std::string::npos) << json;
  EXPECT_EQ(tilesight(scratch, "check bad.tsb --ignore out-of-bounds").status, 0);
  EXPECT_EQ(tilesight(scratch, "check bad.tsb --fail-on never").status, 0);
  EXPECT_EQ(tilesight(scratch, "check bad.tsb --error-exitcode 9").status, 9);
  EXPECT_EQ(tilesight(scratch, "check bad.tsb --client null").status, 0);
  EXPECT_EQ(tilesight(scratch, "check bad.tsb nowhere.tsb").status, 2) << "bad input beats findings";
}

TEST(Check, AFolderOfBundles) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "all");
  save(scratch / "all/b.tsb", {vectorAdd(1000, true)});
  save(scratch / "all/a.tsb", {vectorAdd(1000, false)});
  scratch.write("all/notes.txt", "");
  const Outcome outcome = tilesight(scratch, "check all");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("copy: 2 launches"), std::string::npos) << outcome.err;
  EXPECT_NE(tilesight(scratch, "info all").out.find("all/a.tsb: 1 launch"), std::string::npos);
}

TEST(Check, WhichLaunches) {
  const Scratch scratch;
  save(scratch / "two.tsb", {vectorAdd(1000, true), vectorAdd(1000, false)});
  EXPECT_EQ(tilesight(scratch, "check two.tsb").status, 1);
  EXPECT_EQ(tilesight(scratch, "check two.tsb --launch-count 1").status, 0);
  EXPECT_EQ(tilesight(scratch, "check two.tsb --launch-skip 1").status, 1);
  EXPECT_EQ(tilesight(scratch, "check two.tsb --kernel-name 'regex:^co.y$'").status, 1);
  const Outcome none = tilesight(scratch, "check two.tsb --kernel-name regex:matmul");
  EXPECT_EQ(none.status, 3) << "nothing was checked";
  EXPECT_NE(none.err.find("no launch matches --kernel-name regex:matmul (kernels seen: copy)"), std::string::npos) << none.err;
}

TEST(Check, AFolderGoesInTheOrderOfLaunches) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "all");
  launch::Launch first = vectorAdd(1000, false), second = vectorAdd(1000, false);
  first.index = 9;
  second.index = 10;
  save(scratch / "all/z-9.tsb", {first});
  save(scratch / "all/a-10.tsb", {second});
  EXPECT_EQ(tilesight(scratch, "check all --json r.json").status, 1);
  const std::string json = scratch.read("r.json");
  EXPECT_NE(json.find("\"launch\": 9,"), std::string::npos) << "the first witness stays" << json;
  EXPECT_NE(json.find("\"bundle\": \"all/z-9.tsb\""), std::string::npos) << json;
}

TEST(Check, TheSameFindingsFromEveryRun) {
  const Scratch scratch;
  save(scratch / "bad.tsb", {vectorAdd(1000, false)});
  const auto findings = [&](const std::string& options) {
    EXPECT_EQ(tilesight(scratch, "check bad.tsb --json r.json " + options).status, 1);
    const std::string json = scratch.read("r.json");
    return json.substr(json.find("\"findings\""));
  };
  const std::string first = findings("--threads 1");
  EXPECT_EQ(findings("--threads 1"), first);
  EXPECT_EQ(findings("--threads 2"), first);
}

TEST(Info, Bundle) {
  const Scratch scratch;
  save(scratch / "good.tsb", {vectorAdd(1000, true)});
  const Outcome outcome = tilesight(scratch, "info good.tsb");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"launch 0: copy, grid (16,1,1)", "float32 [1000], strides [1], storage 0 (4,000 bytes)",
                           "i32 1000", "tt.load", "everything can be executed"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
}

}  // namespace
}  // namespace tilesight
