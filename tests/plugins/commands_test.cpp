// `tilesight opt --isolate` and `tilesight plugin-test` as a user meets them, with plugins that do harm (bad/harmful.c).
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "../findings/scratch.h"

namespace tilesight::plugins {
namespace {

using test::Scratch;

const std::string kKernel = R"(tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
)";

std::string library(const std::string& does) { return std::string(TILESIGHT_HARMFUL "/harmful_") + does + ".so"; }

#if defined(__x86_64__)
constexpr bool isX86 = true;
#else
constexpr bool isX86 = false;
#endif

struct Outcome {
  int status = -1;
  std::string out, err;
};

/// Runs `tilesight ARGUMENTS` in `scratch`.
Outcome tilesight(const Scratch& scratch, const std::string& arguments) {
  const std::string command = "cd '" + (scratch / "") + "' && timeout 60 '" TILESIGHT_BINARY "' " + arguments + " >out 2>err </dev/null";
  const int status = std::system(command.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, scratch.read("out"), scratch.read("err")};
  // Where the plugins are built is of no interest.
  for (std::string* text : {&outcome.out, &outcome.err})
    for (size_t at; (at = text->find(TILESIGHT_HARMFUL "/")) != text->npos;) text->erase(at, std::string(TILESIGHT_HARMFUL "/").size());
  return outcome;
}

/// `opt --isolate` with a plugin, on a file that holds kKernel, into one that holds "before".
Outcome isolated(const Scratch& scratch, const std::string& does, const std::string& more = {}) {
  scratch.write("k.ttir", kKernel);
  scratch.write("to.ttir", "before");
  return tilesight(scratch, "opt k.ttir --pass cse --pass harmful --plugin " + library(does) + " -o to.ttir --isolate " + more);
}

TEST(Isolate, APassThatEndsItsProcessFailsByNameAndWritesNothing) {
  const std::pair<const char*, const char*> cases[] = {
      {"CRASHES", "k.ttir: error: pass 'harmful' (of harmful_CRASHES.so) crashed with signal 11 (Segmentation fault)\n"},
      {"ABORTS", "k.ttir: error: pass 'harmful' (of harmful_ABORTS.so) crashed with signal 6 (Aborted)\n"},
      {"EXITS", "k.ttir: error: pass 'harmful' (of harmful_EXITS.so) ended the process with exit status 0\n"},
      {"CRASHES_WHEN_ASKED", "k.ttir: error: loading harmful_CRASHES_WHEN_ASKED.so crashed with signal 6 (Aborted)\n"},
  };
  for (const auto& [does, message] : cases) {
    const Scratch scratch;
    const Outcome outcome = isolated(scratch, does);
    EXPECT_EQ(outcome.status, 2) << does;
    EXPECT_EQ(outcome.err, message) << does;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(scratch.read("to.ttir"), "before");
    EXPECT_EQ(scratch.names(), (std::vector<std::string>{"err", "k.ttir", "out", "to.ttir"}));
  }
}

TEST(Isolate, APassThatDoesNotReturnIsStopped) {
  const Scratch scratch;
  EXPECT_EQ(isolated(scratch, "HANGS", "--timeout 0.5").err, "k.ttir: error: pass 'harmful' (of harmful_HANGS.so) did not return within 0.5 s and was stopped\n");
  EXPECT_EQ(isolated(scratch, "CLOSES_FILES", "--timeout 0.5").err, "k.ttir: error: pass 'harmful' (of harmful_CLOSES_FILES.so) did not return within 0.5 s and was stopped\n");
  EXPECT_EQ(scratch.read("to.ttir"), "before");
}

TEST(Isolate, WhatFailsInOneProcessFailsTheSameWay) {
  for (const char* does : {"FAILS", "CORRUPTS"}) {
    const Scratch scratch;
    const Outcome apart = isolated(scratch, does);
    EXPECT_EQ(apart.status, 2);
    EXPECT_EQ(scratch.read("to.ttir"), "before");
    const Outcome here = tilesight(scratch, "opt k.ttir --pass cse --pass harmful --plugin " + library(does) + " -o to.ttir");
    EXPECT_EQ(apart.err, here.err);
    EXPECT_NE(apart.err.find("pass 'harmful'"), std::string::npos) << apart.err;
  }
}

TEST(Isolate, WhatWorksGivesTheSameTextRemarksAndTimes) {
  const Scratch scratch;
  const Outcome apart = isolated(scratch, "DOUBLES", "--remarks --time --remarks-json r.json");
  EXPECT_EQ(apart.status, 0) << apart.err;
  EXPECT_NE(apart.err.find("k.ttir:2:8: done: harmful [doubled]: a sum of the same is a product"), std::string::npos) << apart.err;
  EXPECT_NE(apart.err.find("ms  cse (changed nothing)"), std::string::npos) << apart.err;
  EXPECT_NE(scratch.read("to.ttir").find("arith.muli"), std::string::npos);
  const std::string text = scratch.read("to.ttir"), json = scratch.read("r.json");
  EXPECT_EQ(tilesight(scratch, "opt k.ttir --pass cse --pass harmful --plugin " + library("DOUBLES") + " -o to.ttir --remarks-json r.json").status, 0);
  EXPECT_EQ(scratch.read("to.ttir"), text);
  EXPECT_EQ(scratch.read("r.json"), json);
}

TEST(Isolate, WhatAPassPrintsIsNotInTheText) {
  const Scratch scratch;
  scratch.write("k.ttir", kKernel);
  const Outcome outcome = tilesight(scratch, "opt k.ttir --pass harmful --isolate --plugin " + library("PRINTS"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, kKernel);
  EXPECT_EQ(outcome.err, "hello from the pass\n");
}

TEST(Isolate, WrongUsageIsSaidAsWithoutIt) {
  const Scratch scratch;
  scratch.write("k.ttir", kKernel);
  scratch.write("bad.ttir", "tt.func @f(%x: i32) {\n  %y = arith.addi %x, %z : i32\n  tt.return\n}\n");
  for (const char* arguments : {"opt k.ttir --pass csse", "opt k.ttir --pass 'cse{x=1}'", "opt bad.ttir --pass cse", "opt k.ttir --plugin k.ttir --pass cse", "opt --list-passes --plugin k.ttir"}) {
    const Outcome here = tilesight(scratch, arguments), apart = tilesight(scratch, std::string(arguments) + " --isolate");
    EXPECT_EQ(here.status, 2) << arguments;
    EXPECT_EQ(apart.status, 2) << arguments;
    EXPECT_EQ(apart.err, here.err) << arguments;
  }
  EXPECT_EQ(tilesight(scratch, "opt k.ttir --timeout 3").err, "tilesight: error: --timeout requires --isolate (see tilesight opt --help)\n");
}

// --- plugin-test

/// A case file: the kernel above, and what is expected of it.
std::string caseOf(const std::string& expected, const std::string& head = "") { return "# a case\npass: harmful\n" + head + "--- in\n" + kKernel + "--- out\n" + expected; }


TEST(PluginTest, AFolderThatPasses) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "cases");
  scratch.write("cases/stays.test", "pass: harmful\n--- in\ntt.func public @k() {\n  tt.return\n}\n--- out\nunchanged\n");
  scratch.write("cases/doubles.test", caseOf("") + "--- remarks\n");
  Outcome outcome = tilesight(scratch, "plugin-test " + library("DOUBLES") + " cases --rebase");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(scratch.read("cases/doubles.test").find("arith.muli"), std::string::npos) << scratch.read("cases/doubles.test");
  EXPECT_TRUE(scratch.read("cases/doubles.test").starts_with("# a case\npass: harmful\n--- in\n" + kKernel + "--- out\n"));
  EXPECT_TRUE(scratch.read("cases/doubles.test").ends_with("--- remarks\ndone [doubled]\n"));
  for (const char* isolate : {"", " --isolate"}) {
    outcome = tilesight(scratch, "plugin-test " + library("DOUBLES") + " cases" + isolate);
    EXPECT_EQ(outcome.status, 0) << outcome.out;
    EXPECT_EQ(outcome.out, "2 passed, 0 failed; 1 compared on the engine\n");
    EXPECT_EQ(outcome.err, "");
  }
  outcome = tilesight(scratch, "plugin-test " + library("DOUBLES") + " cases --verbose --runs 3");
  EXPECT_EQ(outcome.out, "ok    doubles  (the same bits in 3 runs)\nok    stays  (unchanged)\n2 passed, 0 failed; 1 compared on the engine\n");
}

TEST(BadInput, IsOneLineAndExit2AndWritesNothing) {
  const Scratch scratch;
  scratch.write("k.ttir", kKernel);
  scratch.write("to.ttir", "before");
  scratch.write("types.ttir", "tt.func @f(%x: i32) {\n  %y = \"arith.addi\"(%x, %x) : (i32, i32) -> i64\n  tt.return\n}\n");
  scratch.write("undefined.ttir", "tt.func @f(%x: i32) {\n  %y = arith.addi %x, %z : i32\n  tt.return\n}\n");
  scratch.write("text.so", "no library");
  std::filesystem::copy_file(library("DOUBLES"), scratch / "arm.so");
  std::fstream(scratch / "arm.so", std::ios::in | std::ios::out | std::ios::binary).seekp(18).put(static_cast<char>(183));
  const std::string bad = TILESIGHT_HARMFUL "/bad_", usage = " (see tilesight opt --help)\n", budget = "it must be a whole number from 0 to 1048576" + usage;
  const std::pair<std::string, std::string> cases[] = {
      {"k.ttir --pass csee", "tilesight: error: there is no pass 'csee'; did you mean cse?" + usage},
      {"k.ttir --pass cse --pass-pipeline cse", "tilesight: error: --pass and --pass-pipeline exclude each other" + usage},
      {"k.ttir --pass-pipeline cse,dze", "tilesight: error: there is no pass 'dze'; did you mean dce?" + usage},
      {"k.ttir --pass cse --print-after csee", "tilesight: error: there is no pass 'csee'; did you mean cse?" + usage},
      {"k.ttir --pass 'remove-boundary-checks{asume=x}'", "tilesight: error: pass 'remove-boundary-checks' has no option 'asume'; did you mean assume?" + usage},
      {"k.ttir --pass 'hoist-layout-conversions{budget=-1}'", "tilesight: error: option 'budget' of pass 'hoist-layout-conversions' cannot be '-1': " + budget},
      {"k.ttir --pass 'hoist-layout-conversions{budget=99999999999999999999}'",
       "tilesight: error: option 'budget' of pass 'hoist-layout-conversions' cannot be '99999999999999999999': " + budget},
      {"k.ttir --pass 'fuse-reshape{device-descriptors=perhaps}'",
       "tilesight: error: option 'device-descriptors' of pass 'fuse-reshape' cannot be 'perhaps': it must be true or false" + usage},
      {"k.ttir --pass 'cse{'", "tilesight: error: cannot read the pipeline 'cse{': expected an option, or '}' at its end" + usage},
      {"k.ttir --pass cse --plugin text.so", "text.so: error: plugin refused: is not a shared library\n"},
      {"k.ttir --pass cse --plugin k.ttir", "k.ttir: error: plugin refused: is not a shared library\n"},
      {"k.ttir --pass cse --plugin missing.so", "missing.so: error: plugin refused: there is no such file\n"},
      {"k.ttir --pass cse --plugin arm.so", "arm.so: error: plugin refused: is for aarch64, this is x86-64\n"},
      {"k.ttir --pass cse --plugin " + bad + "NO_EXPORT.so", "bad_NO_EXPORT.so: error: plugin refused: does not export tilesight_plugin_query\n"},
      {"k.ttir --pass cse --plugin " + bad + "MISSING_SYMBOL.so",
       "bad_MISSING_SYMBOL.so: error: plugin refused: cannot be loaded: bad_MISSING_SYMBOL.so: undefined symbol: nowhere_to_be_found\n"},
      {"k.ttir --pass cse --plugin " + bad + "LATER_MINOR.so", "bad_LATER_MINOR.so: error: plugin refused: needs plugin ABI 1.99, this Tilesight has 1.1\n"},
      {"k.ttir --pass cse --plugin " + bad + "OTHER_MAJOR.so", "bad_OTHER_MAJOR.so: error: plugin refused: needs plugin ABI 2.0, this Tilesight has 1.1\n"},
      {"types.ttir --pass cse", "types.ttir:2:8: error: 'arith.addi': lhs has type i32, but result of type i64 asks for i64\n"},
      {"undefined.ttir --pass cse", "undefined.ttir:2:23: error: undefined value '%z'\n"},
  };
  for (const auto& [arguments, message] : cases) {
    if (arguments.find("arm.so") != arguments.npos && !isX86) continue;
    const Outcome outcome = tilesight(scratch, "opt -o to.ttir " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err, message);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(scratch.read("to.ttir"), "before");
  }
}

TEST(PluginTest, ADifferenceIsShownLineByLine) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "cases");
  scratch.write("cases/doubles.test", caseOf("unchanged\n") + "--- remarks\nrefused [other]\n");
  const Outcome outcome = tilesight(scratch, "plugin-test " + library("DOUBLES") + " cases");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.out.starts_with("FAIL  doubles  (cases/doubles.test)\n    the output is not as expected:\n        1  tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {\n    -   2    %a = arith.addi %x, %x : i32\n    -   3    tt.store %p, %a : !tt.ptr<i32>\n    +   2  ")) << outcome.out;
  EXPECT_NE(outcome.out.find("\n    the remarks are\n        done [doubled]\n"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("0 passed, 1 failed; 1 compared on the engine\n")) << outcome.out;
}

/// What plugin-test says of a case whose expectation has just been written, so that only the rest can be wrong.
std::string complaintOf(const std::string& does, const std::string& text, const std::string& more = "") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "cases");
  scratch.write("cases/one.test", text);
  const std::string command = "plugin-test " + library(does) + " cases " + more;
  tilesight(scratch, command + " --rebase");
  const Outcome outcome = tilesight(scratch, command);
  EXPECT_EQ(outcome.status, 1) << does << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("0 passed, 1 failed"), std::string::npos) << outcome.out;
  return outcome.out;
}

TEST(PluginTest, PassesThatAreWrongAreCaught) {
  const std::string kernel = caseOf("unchanged\n");
  EXPECT_NE(complaintOf("CORRUPTS", kernel).find("pass 'harmful' left IR that is not valid and was undone"), std::string::npos);
  EXPECT_NE(complaintOf("FAILS", kernel).find("pass 'harmful' failed and was undone: it does not like this kernel"), std::string::npos);
  EXPECT_NE(complaintOf("KEEPS_ADDING", kernel).find("it is not idempotent, a second run changes the output:"), std::string::npos);
  const std::string otherwise = complaintOf("COMPUTES_OTHERWISE", kernel);
  EXPECT_NE(otherwise.find("it does not compute the same: run "), std::string::npos) << otherwise;
  EXPECT_NE(otherwise.find("p[0] is 0 after, "), std::string::npos) << otherwise;
  const std::string address = "pass: harmful\n--- in\ntt.func public @k(%p: !tt.ptr<i32>, %n: i32) {\n  %q = tt.addptr %p, %n : !tt.ptr<i32>, i32\n  %v = tt.load %q : !tt.ptr<i32>\n  tt.store %p, %v : "
                              "!tt.ptr<i32>\n  tt.return\n}\n--- out\nunchanged\n";
  const std::string outside = complaintOf("WRITES_OUTSIDE", address);
  EXPECT_NE(outside.find("it does not compute the same: run "), std::string::npos) << outside;
}

TEST(PluginTest, CrashesWithIsolateFailTheirCaseOnly) {
  EXPECT_NE(complaintOf("CRASHES", caseOf("unchanged\n"), "--isolate").find("pass 'harmful' (of harmful_CRASHES.so) crashed with signal 11"), std::string::npos);
  EXPECT_NE(complaintOf("HANGS", caseOf("unchanged\n"), "--isolate --timeout 0.5").find("did not return within 0.5 s and was stopped"), std::string::npos);
}

TEST(PluginTest, ArgumentsKeepWhatTheCasePromises) {
  // With n = 0, the only value that `run:` allows, x - x and x + x are the same.
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "cases");
  scratch.write("cases/one.test", caseOf("unchanged\n", "run: x=0 grid.x=3\n"));
  const Outcome outcome = tilesight(scratch, "plugin-test " + library("COMPUTES_OTHERWISE") + " cases --rebase");
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_NE(scratch.read("cases/one.test").find("\nrun: x=0 grid.x=3\n--- in"), std::string::npos);
  scratch.write("cases/one.test", caseOf("unchanged\n", "run: x=zero\n"));
  EXPECT_NE(tilesight(scratch, "plugin-test " + library("COMPUTES_OTHERWISE") + " cases").out.find("cannot read the assumption 'x=zero'"), std::string::npos);
}

TEST(PluginTest, BadInputIsOneLineAndExit2) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "empty");
  std::filesystem::create_directory(scratch / "wrong");
  scratch.write("wrong/a.test", "no pass\n");
  const std::pair<std::string, const char*> cases[] = {
      {"plugin-test missing.so empty", "missing.so: error: plugin refused: there is no such file\n"},
      {"plugin-test " + library("DOUBLES") + " missing", "missing: error: cannot be read: No such file or directory\n"},
      {"plugin-test " + library("DOUBLES") + " empty", "empty: error: there are no .test files in it (one has a line 'pass: NAME' and the sections '--- in' and '--- out')\n"},
      {"plugin-test " + library("DOUBLES") + " wrong", "wrong/a.test:1:1: error: expected '# comment', 'pass: ...', 'run: ...' or '--- in'\n"},
      {"plugin-test --isolate " + library("CRASHES_WHEN_ASKED") + " wrong", "harmful_CRASHES_WHEN_ASKED.so: error: loading harmful_CRASHES_WHEN_ASKED.so crashed with signal 6 (Aborted)\n"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = tilesight(scratch, arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err, message);
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace tilesight::plugins
