// tilesight diff, as a user meets it.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "../engine/engine_launch.h"
#include "../findings/scratch.h"
#include "launch/bundle.h"

namespace tilesight {
namespace {

using exec::Bench;

bool rebase = false;

// y[i] = x[i] * factor for i < n, by programs of `block` elements.
std::string kernel(const std::string& name, int block, const std::string& operation = "arith.muli") {
  const std::string b = std::to_string(block), t = "tensor<" + b + "xi32>", p = "tensor<" + b + "x!tt.ptr<i32>>";
  return "module {\n  tt.func public @" + name + "(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32, %factor: i32) {\n"
         "    %pid = tt.get_program_id x : i32\n    %block = arith.constant " + b + " : i32\n"
         "    %r = tt.make_range {end = " + b + " : i32, start = 0 : i32} : " + t + "\n"
         "    %first = arith.muli %pid, %block : i32\n    %firsts = tt.splat %first : i32 -> " + t + "\n"
         "    %offs = arith.addi %firsts, %r : " + t + "\n    %ns = tt.splat %n : i32 -> " + t + "\n"
         "    %mask = arith.cmpi slt, %offs, %ns : " + t + "\n    %xs = tt.splat %x : !tt.ptr<i32> -> " + p + "\n"
         "    %xp = tt.addptr %xs, %offs : " + p + ", " + t + "\n    %v = tt.load %xp, %mask : " + p + " loc(\"scale.py\":6:9)\n"
         "    %fs = tt.splat %factor : i32 -> " + t + "\n    %w = " + operation + " %v, %fs : " + t + "\n"
         "    %ys = tt.splat %y : !tt.ptr<i32> -> " + p + "\n    %yp = tt.addptr %ys, %offs : " + p + ", " + t + "\n"
         "    tt.store %yp, %w, %mask : " + p + " loc(\"scale.py\":8:5)\n    tt.return\n  }\n}\n";
}

struct Case {
  std::string name = "scale", operation = "arith.muli";
  int block = 64, n = 1000, factor = 2, launches = 1, size = 1000;
};

const test::Scratch& scratch() {
  static const test::Scratch folder;
  return folder;
}

std::string bundle(const std::string& file, const Case& c) {
  const std::string path = scratch() / file;
  auto writer = launch::BundleWriter::open(path);
  EXPECT_TRUE(writer);
  for (int i = 0; i < c.launches; ++i) {
    Bench bench(kernel(c.name, c.block, c.operation));
    std::vector<int32_t> x(static_cast<size_t>(c.size));
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<int32_t>(k) + i;
    bench.array("x", x).array("y", std::vector<int32_t>(x.size(), 1)).scalar("n", c.n).scalar("factor", c.factor);
    bench.launch.kernel = c.name;
    bench.launch.irText = kernel(c.name, c.block, c.operation);
    bench.launch.irName = c.name + ".ttir";
    bench.launch.index = static_cast<uint32_t>(i);
    bench.launch.grid = {(c.size + c.block - 1) / c.block, 1, 1};
    const Status added = writer->add(bench.launch);
    EXPECT_TRUE(added) << added.error().str();
  }
  EXPECT_TRUE(writer->finish());
  return file;
}

struct Said {
  int status;
  std::string text;
};

Said said(const std::string& arguments) {
  const std::string command = "cd '" + (scratch() / "") + "' && '" TILESIGHT_BINARY "' diff " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

void expectGolden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(TILESIGHT_GOLDENS) + "/" + name;
  if (rebase) {
    std::ofstream(path) << actual;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing: run the test with --rebase";
  EXPECT_EQ(actual, std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
}

void expectSaid(const std::string& name, int status, const std::string& arguments) {
  const Said got = said(arguments);
  EXPECT_EQ(got.status, status) << got.text;
  expectGolden(name, got.text);
}

TEST(Diff, OtherBlocksAndNamesAreTheSame) {
  expectSaid("same.txt", 0, bundle("a.tsb", {}) + " " + bundle("b.tsb", {.name = "scale_fast", .block = 128}));
}

TEST(Diff, ElementsThatOneSideDoesNotWrite) {
  const std::string files = bundle("whole.tsb", {}) + " " + bundle("short.tsb", {.n = 992});
  expectSaid("elements.txt", 1, files);
  expectSaid("elements.json", 1, files + " --json -");
}

TEST(Diff, ValuesAndWhoWroteThem) {
  expectSaid("values.txt", 1, bundle("mul.tsb", {}) + " " + bundle("add.tsb", {.operation = "arith.addi", .block = 32}));
}

TEST(Diff, LaunchesArePairedByKernelAndOrder) {
  const std::string two = bundle("two.tsb", {.launches = 2}), three = bundle("three.tsb", {.launches = 3});
  expectSaid("unpaired.txt", 1, two + " " + three);
  expectSaid("chosen.txt", 1, two + " " + three + " --launch 1:2");
  EXPECT_EQ(said(two + " " + three + " --launch 1:1 --quiet").status, 0);
}

TEST(Diff, OtherShapes) { expectSaid("shapes.txt", 1, bundle("large.tsb", {}) + " " + bundle("small.tsb", {.size = 500})); }

TEST(Diff, WhatIsUnknown) {
  expectSaid("unknown.txt", 3, bundle("known.tsb", {}) + " " + bundle("strange.tsb", {.operation = "math.nonsense"}));
}

TEST(Diff, BadInput) {
  const std::string file = bundle("one.tsb", {});
  EXPECT_EQ(said(file + " nowhere.tsb").status, 2);
  EXPECT_EQ(said(file).status, 2);
  EXPECT_EQ(said(file + " " + file + " --launch 0:7").status, 2);
  EXPECT_EQ(said(file + " " + file + " --launch 0").status, 2);
}

}  // namespace
}  // namespace tilesight

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) tilesight::rebase |= std::strcmp(argv[i], "--rebase") == 0;
  return RUN_ALL_TESTS();
}
