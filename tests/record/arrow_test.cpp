// Files that are written are read again; files that are anything else are errors.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "../findings/scratch.h"
#include "arrow/batch.h"
#include "arrow/file_reader.h"
#include "arrow/file_writer.h"

namespace tilesight::arrow {
namespace {

const Schema& sample() {
  static const Schema schema{"sample", {{"i", Type::Int32, {}}, {"u", Type::UInt32, {}}, {"l", Type::Int64, {}}, {"d", Type::Float64, {}},
                                        {"t", Type::Text, {}}, {"n", Type::Name, {}}, {"a", Type::Int32List, {}}, {"b", Type::Int64List, {}},
                                        {"c", Type::TextList, {}}}};
  return schema;
}

const test::Scratch& scratch() {
  static const test::Scratch folder;
  return folder;
}

std::string write(const std::string& name) {
  const std::string path = scratch() / name;
  std::remove(path.c_str());
  Packer packer;
  auto file = FileWriter::open(path, sample());
  EXPECT_TRUE(file);
  Rows rows(sample());
  for (int64_t batch = 0; batch < 2; ++batch) {
    for (int64_t i = 0; i < 100; ++i)
      rows.add(-i).add(int64_t{4000000000}).add(i << 40).add(0.5 * static_cast<double>(i)).add("text " + std::to_string(i)).add(i % 3 ? std::string("many") : std::string("few"))
          .add(std::vector<int64_t>(static_cast<size_t>(i % 4), i)).add(std::vector<int64_t>{i, -1})
          .add(std::vector<std::string>(static_cast<size_t>(i % 2), "é" + std::to_string(batch)));
    EXPECT_TRUE(file->append(rows.encode(packer)));
    rows.clear();
  }
  EXPECT_FALSE(std::ifstream(path)) << "it has its name before it is whole";
  EXPECT_TRUE(file->finish(rows.names(), packer));
  return path;
}

std::vector<uint8_t> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Reads all there is. True if nothing was wrong; else every error has a text.
bool readable(std::vector<uint8_t> bytes) {
  const auto file = FileReader::parse(std::move(bytes), "x");
  if (!file) {
    EXPECT_FALSE(file.error().message.empty());
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < file->batches(); ++i) {
    const auto batch = file->batch(i);
    if (!batch) {
      EXPECT_FALSE(batch.error().message.empty());
    }
    good = good && batch;
  }
  return good;
}

TEST(Arrow, WhatIsWrittenIsRead) {
  const auto file = FileReader::open(write("round.arrow"));
  ASSERT_TRUE(file) << file.error().str();
  ASSERT_EQ(file->batches(), 2u);
  ASSERT_EQ(file->schema().fields.size(), sample().fields.size());
  for (size_t i = 0; i < sample().fields.size(); ++i) {
    EXPECT_EQ(file->schema().fields[i].name, sample().fields[i].name);
    EXPECT_EQ(file->schema().fields[i].type, sample().fields[i].type);
  }
  const auto batch = file->batch(1);
  ASSERT_TRUE(batch) << batch.error().str();
  ASSERT_EQ(batch->rows, 100);
  const auto& c = batch->columns;
  EXPECT_EQ(c[0].ints[7], -7);
  EXPECT_EQ(c[1].ints[7], 4000000000);
  EXPECT_EQ(c[2].ints[7], int64_t{7} << 40);
  EXPECT_EQ(c[3].floats[7], 3.5);
  EXPECT_EQ(c[4].texts[7], "text 7");
  EXPECT_EQ(c[5].texts[6], "few");
  EXPECT_EQ(c[5].texts[7], "many");
  EXPECT_EQ(c[6].offsets[8] - c[6].offsets[7], 3);
  EXPECT_EQ(c[6].ints[static_cast<size_t>(c[6].offsets[7])], 7);
  EXPECT_EQ(c[7].ints[15], -1);
  EXPECT_EQ(c[8].texts[0], "é1");
}

TEST(Arrow, TruncationsAreErrors) {
  const std::vector<uint8_t> whole = contents(write("cut.arrow"));
  ASSERT_TRUE(readable(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    ASSERT_FALSE(readable({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)})) << size << " bytes of " << whole.size();
}

TEST(Arrow, FlippedBitsAreErrorsOrOtherValues) {
  const std::vector<uint8_t> whole = contents(write("flip.arrow"));
  size_t errors = 0;
  for (size_t at = 0; at < whole.size(); ++at)
    for (uint8_t bit : {0x01, 0x80}) {
      std::vector<uint8_t> bytes = whole;
      bytes[at] ^= bit;
      errors += !readable(std::move(bytes));
    }
  EXPECT_GT(errors, whole.size() / 4);
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bytes = whole;
    for (int n = 0; n < 8; ++n) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    readable(std::move(bytes));
  }
}

TEST(Arrow, AnUnfinishedFileLeavesNothing) {
  const std::string path = scratch() / "dropped.arrow";
  { ASSERT_TRUE(FileWriter::open(path, sample())); }
  EXPECT_FALSE(std::ifstream(path));
  EXPECT_FALSE(std::ifstream(scratch() / ".dropped.arrow.part"));
  EXPECT_FALSE(FileWriter::open("/nowhere/at/all.arrow", sample()));
}

}  // namespace
}  // namespace tilesight::arrow
