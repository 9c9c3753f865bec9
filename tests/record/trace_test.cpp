// The rows of a trace, against what the launch does.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "../engine/engine_launch.h"
#include "../findings/scratch.h"
#include "arrow/file_writer.h"
#include "record/perfetto.h"
#include "record/reader.h"
#include "record/recorder.h"

namespace tilesight::record {
namespace {

namespace fs = std::filesystem;

// y[8 pid + i] = x[8 pid + i] + x[table[i]] for i < 6, as often as `turns` says; program 3 does nothing.
constexpr const char* kKernel = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %table: !tt.ptr<i32>, %turns: i32) {
    %pid = tt.get_program_id x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c8 = arith.constant 8 : i32
    %six = arith.constant dense<6> : tensor<8xi32>
    %works = arith.cmpi ne, %pid, %c3 : i32
    scf.if %works {
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %mask = arith.cmpi slt, %r, %six : tensor<8xi32>
      %first = arith.muli %pid, %c8 : i32
      %firsts = tt.splat %first : i32 -> tensor<8xi32>
      %offs = arith.addi %firsts, %r : tensor<8xi32>
      %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
      %ys = tt.splat %y : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
      %ts = tt.splat %table : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
      %tp = tt.addptr %ts, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
      %t = tt.load %tp : tensor<8x!tt.ptr<i32>> loc("t"("k.py":3:9))
      %gp = tt.addptr %xs, %t : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
      %xp = tt.addptr %xs, %offs : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
      %yp = tt.addptr %ys, %offs : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
      scf.for %i = %c0 to %turns step %c1 : i32 {
        %a = tt.load %xp, %mask : tensor<8x!tt.ptr<i32>> loc("a"("k.py":5:9))
        %b = tt.load %gp, %mask : tensor<8x!tt.ptr<i32>> loc("b"("k.py":6:9))
        %sum = arith.addi %a, %b : tensor<8xi32> loc("sum"("k.py":7:9))
        tt.store %yp, %sum, %mask : tensor<8x!tt.ptr<i32>> loc("k.py":8:9)
      }
    }
    tt.return
  }
}
)";

const test::Scratch& scratch() {
  static const test::Scratch folder;
  return folder;
}

std::string traced(int programs, int turns, unsigned threads, const std::string& name, RecorderOptions options = {}, bool divide = false) {
  const std::string folder = scratch() / name;
  fs::remove_all(folder);
  auto recorder = Recorder::open(folder, options);
  EXPECT_TRUE(recorder) << recorder.error().str();
  for (uint32_t launch = 0; launch < 2; ++launch) {
    exec::Bench bench(kKernel);
    bench.array("x", std::vector<int32_t>(static_cast<size_t>(8 * programs), 1)).array("y", std::vector<int32_t>(static_cast<size_t>(8 * programs)));
    bench.array("table", {5, 3, 5, 7, 2, 0, 1, 4}).scalar("turns", turns);
    bench.launch.grid = {programs, 1, 1};
    auto client = (*recorder)->begin(bench.kernel, bench.launch, launch);
    EXPECT_TRUE(client);
    exec::RunOptions run;
    run.threads = threads;
    run.alwaysDivide = divide;
    run.clients.push_back(*client);
    const auto report = bench.run(programs, run);
    EXPECT_TRUE((*recorder)->end(&report, "b.tsb"));
  }
  EXPECT_TRUE((*recorder)->finish());
  return folder;
}

std::map<std::string, std::string> files(const std::string& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    result[fs::relative(entry.path(), folder).string()] = std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return result;
}

struct Row {
  std::map<std::string, int64_t> numbers;
  std::map<std::string, std::string> texts;
  std::vector<int64_t> cells;
};

std::vector<Row> rows(const std::string& folder, Table table) {
  const auto trace = Trace::open(folder);
  EXPECT_TRUE(trace) << trace.error().str();
  std::vector<Row> result;
  const auto read = trace->each(table, [&](const arrow::Batch& batch) -> Status {
    for (size_t i = 0; i < static_cast<size_t>(batch.rows); ++i) {
      Row row;
      for (size_t c = 0; c < batch.columns.size(); ++c) {
        const arrow::Field& field = schemaOf(table).fields[c];
        const arrow::Values& values = batch.columns[c];
        if (field.type == arrow::Type::Text || field.type == arrow::Type::Name) row.texts[field.name] = values.texts[i];
        else if (field.name == "cells") row.cells.assign(values.ints.begin() + values.offsets[i], values.ints.begin() + values.offsets[i + 1]);
        else if (values.offsets.empty()) row.numbers[field.name] = values.ints[i];
      }
      result.push_back(std::move(row));
    }
    return {};
  });
  EXPECT_TRUE(read) << read.error().str();
  return result;
}

TEST(Trace, ARowIsAnAccess) {
  const std::string folder = traced(5, 2, 1, "trace-rows", {.elements = true});
  const auto all = rows(folder, Table::Accesses);
  ASSERT_EQ(all.size(), 2u * 4 * (1 + 2 * 3));
  const Row& a = all[7 + 4];  // program 1, its second turn
  EXPECT_EQ(a.texts.at("variable"), "a");
  EXPECT_EQ(a.texts.at("tensor"), "x");
  EXPECT_EQ(a.texts.at("kind"), "load");
  EXPECT_EQ(a.texts.at("file"), "k.py");
  EXPECT_EQ(a.texts.at("form"), "affine");
  EXPECT_EQ(a.texts.at("mask"), "box");
  EXPECT_EQ(a.texts.at("element"), "i32");
  for (auto [column, value] : std::map<std::string, int64_t>{
           {"launch", 0}, {"program", 1}, {"number", 4}, {"line", 5}, {"col", 9}, {"trip", 1}, {"outer_trip", -1}, {"element_bytes", 4},
           {"elements", 8}, {"active", 6}, {"bytes", 24}, {"base", 32}, {"low", 0}, {"high", 24}, {"rank", 1}, {"size_0", 8},
           {"stride_0", 4}, {"from_0", 0}, {"to_0", 6}, {"size_1", 1}, {"stride_1", 0}, {"from_1", 0}, {"to_1", 1}})
    EXPECT_EQ(a.numbers.at(column), value) << column;
  const Row& b = all[7 + 5];
  EXPECT_EQ(b.texts.at("form"), "dense");
  EXPECT_EQ(b.numbers.at("base"), 0);
  EXPECT_EQ(b.numbers.at("high"), 32);
  EXPECT_EQ(b.cells, (std::vector<int64_t>{20, 12, 20, 28, 8, 0}));
  EXPECT_TRUE(a.cells.empty());
  EXPECT_EQ(all[7 + 6].texts.at("kind"), "store");
  EXPECT_EQ(all[7 + 6].texts.at("variable"), "sum");
}

TEST(Trace, EveryProgramHasARow) {
  const auto programs = rows(traced(6, 2, 1, "trace-programs"), Table::Programs);
  ASSERT_EQ(programs.size(), 12u);
  EXPECT_EQ(programs[3].numbers.at("accesses"), 0);
  EXPECT_EQ(programs[5].numbers.at("x"), 5);
  EXPECT_EQ(programs[5].numbers.at("accesses"), 7);
  EXPECT_EQ(programs[5].numbers.at("loads"), 5);
  EXPECT_EQ(programs[5].numbers.at("bytes_written"), 48);
  EXPECT_EQ(programs[5].numbers.at("bytes_read"), 32 + 2 * 48);
  const auto launches = rows(traced(6, 2, 1, "trace-launches"), Table::Launches);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[1].numbers.at("accesses"), 35);
  EXPECT_EQ(launches[1].texts.at("arguments"), R"({"turns":2})");
  EXPECT_EQ(rows(traced(6, 2, 1, "trace-tensors"), Table::Tensors).size(), 6u);
}

// Small programs, programs that fill a batch by themselves, and loops that fill none.
TEST(Trace, TheSameForAnyNumberOfThreads) {
  for (auto [programs, turns] : std::vector<std::pair<int, int>>{{5000, 1}, {300, 100}, {7, 30000}, {200, 700}}) {
    const auto one = files(traced(programs, turns, 1, "trace-one"));
    EXPECT_GE(one.size(), 5u);
    EXPECT_TRUE(files(traced(programs, turns, 2, "trace-two", {}, true)) == one) << programs << " programs, " << turns << " turns";
    EXPECT_TRUE(files(traced(programs, turns, 7, "trace-seven", {}, true)) == one) << programs << " programs, " << turns << " turns";
  }
  const auto all = rows(traced(7, 30000, 3, "trace-large", {}, true), Table::Accesses);
  ASSERT_EQ(all.size(), 2u * 6 * 90001);
  for (size_t i = 1; i < all.size() / 2; ++i) {
    const bool next = all[i].numbers.at("program") != all[i - 1].numbers.at("program");
    ASSERT_EQ(all[i].numbers.at("number"), next ? 0 : all[i - 1].numbers.at("number") + 1) << i;
  }
}

TEST(Trace, FoldersOfOthersAreLeftAlone) {
  const std::string folder = traced(2, 1, 1, "trace-there");
  EXPECT_FALSE(Recorder::open(folder));
  const std::string file = scratch() / "trace-file";
  std::ofstream(file) << "x";
  EXPECT_FALSE(Recorder::open(file));
  EXPECT_FALSE(Recorder::open("/proc/nothing/here"));
  EXPECT_FALSE(Trace::open(scratch() / "trace-nowhere"));
}

TEST(Trace, BrokenSegmentsAreNamed) {
  const std::string folder = traced(2, 1, 1, "trace-broken");
  const std::string segment = folder + "/accesses/000000-0000.arrow";
  fs::resize_file(segment, fs::file_size(segment) - 5);
  const auto trace = Trace::open(folder);
  ASSERT_TRUE(trace);
  const auto read = trace->each(Table::Accesses, [](const arrow::Batch&) -> Status { return {}; });
  ASSERT_FALSE(read);
  EXPECT_EQ(fs::path(read.error().file), fs::path(segment));
  EXPECT_EQ(read.error().message, "is not whole: its end is missing");
  fs::remove(segment);
  fs::copy_file(folder + "/programs/000000-0000.arrow", segment);
  const auto other = trace->each(Table::Accesses, [](const arrow::Batch&) -> Status { return {}; });
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "has other columns than the table accesses of this version");
}

TEST(Trace, AGridOfAnySizeIsNoTrouble) {
  const std::string folder = traced(2, 1, 1, "trace-grid"), segment = folder + "/launches/000000-0000.arrow";
  fs::remove(segment);
  arrow::Packer packer;
  auto file = arrow::FileWriter::open(segment, schemaOf(Table::Launches));
  ASSERT_TRUE(file);
  arrow::Rows launches(schemaOf(Table::Launches));
  for (const arrow::Field& field : schemaOf(Table::Launches).fields) {
    if (field.type == arrow::Type::TextList) launches.add(std::vector<std::string>());
    else if (field.type == arrow::Type::Text || field.type == arrow::Type::Name) launches.add(std::string());
    else launches.add(field.name.starts_with("grid_") ? int64_t{1} << 32 : int64_t{0});  // x * y is 0 in 64 bits
  }
  ASSERT_TRUE(file->append(launches.encode(packer)) && file->finish(launches.names(), packer));
  const auto trace = Trace::open(folder);
  ASSERT_TRUE(trace);
  const auto totals = writePerfetto(*trace, scratch() / "grid.json", 1000);
  ASSERT_TRUE(totals) << totals.error().str();
  EXPECT_EQ(totals->written, 2 * 2 * 4);
  EXPECT_NE(scratch().read("grid.json").find("program (1,0,0)"), std::string::npos);
}

TEST(Trace, ThePageHasTheColumns) {
  std::ifstream file(TILESIGHT_DOCS "/trace.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (Table table : kAllTables) {
    std::string expected = "| column | type | what it is |\n|---|---|---|\n";
    for (const arrow::Field& field : schemaOf(table).fields)
      expected += "| `" + field.name + "` | " + arrow::typeName(field.type) + " | " + field.meaning + " |\n";
    const size_t section = page.find("### " + schemaOf(table).table + "\n");
    ASSERT_NE(section, page.npos);
    const size_t start = page.find("| column", section);
    ASSERT_NE(start, page.npos);
    EXPECT_EQ(page.substr(start, page.find("\n\n", start) + 1 - start), expected) << "docs/trace.md, " << schemaOf(table).table;
  }
}

}  // namespace
}  // namespace tilesight::record
