// What is counted of accesses, against counting element by element.
#include "server/survey.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "exec/run.h"
#include "ir/type.h"

namespace tilesight::server {
namespace {

constexpr int64_t kBase = 1 << 20;

class SurveyTest : public testing::Test {
 protected:
  void SetUp() override {
    survey.launch_begin({sizeof(ts_launch), "kernel", {2, 1, 1}, 1});
    argument.name = "x";
    argument.element = static_cast<uint32_t>(ir::ElementKind::F32);
    argument.is_tensor = 1;
    argument.rank = 2;
    argument.shape = extents;
    argument.strides = strides;
    argument.address = kBase;
    survey.argument(argument);
  }
  ts_access access(int64_t row, int64_t column, int64_t program) {
    this->program = {sizeof(ts_program), {program, 0, 0}, program};
    ts_access a{};
    a.op = 3;
    a.element_bytes = 4;
    a.rank = 2;
    a.shape = tile;
    a.form = TS_FORM_AFFINE;
    a.base = kBase + 4 * (row * 8 + column);
    a.strides = steps;
    a.mask.form = TS_FORM_SPLAT;
    a.mask.all = 1;
    a.elements = a.active = tile[0] * tile[1];
    a.program = &this->program;
    return a;
  }
  const ElementMap& map() const { return survey.maps()[0]; }

  int64_t extents[2] = {4, 8}, strides[2] = {8, 1}, tile[2] = {2, 4}, steps[2] = {32, 4};
  ts_argument argument{};
  ts_program program{};
  Survey survey{exec::host(), ""};
};

TEST_F(SurveyTest, ReadsAreCountedPerElement) {
  survey.on_load(access(0, 0, 0));
  survey.on_load(access(1, 2, 1));
  survey.finish();
  ASSERT_EQ(map().elements(), 32 + 2 * kMargin);
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 8; ++c)
      EXPECT_EQ(map().reads(kMargin + r * 8 + c), (r < 2 && c < 4) + (r >= 1 && r < 3 && c >= 2 && c < 6)) << r << "," << c;
  EXPECT_EQ(map().writes(kMargin), 0u);
  EXPECT_EQ(survey.ops().at(3).read, 64u);
  EXPECT_EQ(survey.programs().accesses[1], 1u);
}

TEST_F(SurveyTest, TheLastWriterAndElementsThatSeveralWrote) {
  survey.on_store(access(0, 0, 0));
  survey.on_store(access(0, 2, 1));
  survey.finish();
  EXPECT_EQ(map().writer(kMargin + 0), 0);
  EXPECT_EQ(map().writer(kMargin + 2), 1);
  EXPECT_TRUE(map().isShared(kMargin + 2));
  EXPECT_EQ(map().writer(kMargin + 4), 1);
  EXPECT_FALSE(map().isShared(kMargin + 4));
  EXPECT_EQ(map().writer(kMargin + 7), -1);
  EXPECT_EQ(map().writes(kMargin + 2), 2);
}

TEST_F(SurveyTest, MaskedElementsAreNotCounted) {
  const int64_t lo[2] = {0, 1}, hi[2] = {1, 3};
  ts_access a = access(0, 0, 0);
  a.mask = {TS_FORM_AFFINE, 0, lo, hi, nullptr};
  a.active = 2;
  survey.on_load(a);
  survey.finish();
  for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(map().reads(kMargin + i), i == 1 || i == 2) << i;
  EXPECT_EQ(survey.programs().masked[0], 6);
}

TEST_F(SurveyTest, WhatLiesOutsideIsCountedAsOutside) {
  survey.on_load(access(3, 0, 0));
  survey.finish();
  EXPECT_EQ(map().outside(), 4u);
  EXPECT_EQ(map().reads(kMargin + 24), 1);
}

TEST_F(SurveyTest, OneElementForAllCountsOncePerElementOfTheTile) {
  steps[0] = steps[1] = 0;
  survey.on_load(access(0, 5, 0));
  survey.finish();
  EXPECT_EQ(map().reads(kMargin + 5), 8);
  EXPECT_EQ(map().reads(kMargin + 6), 0);
}

TEST_F(SurveyTest, ColumnsThatAreContiguousAreRows) {
  steps[0] = 4, steps[1] = 32;  // transposed
  survey.on_load(access(0, 0, 0));
  survey.finish();
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 2; ++c) EXPECT_EQ(map().reads(kMargin + r * 8 + c), 1);
  EXPECT_EQ(map().reads(kMargin + 2), 0);
}

/// All that a survey knows of elements, to compare.
std::vector<std::array<int64_t, 5>> cells(const ElementMap& map) {
  std::vector<std::array<int64_t, 5>> all;
  for (int64_t i = 0; i < map.elements(); ++i) all.push_back({map.reads(i), map.writes(i), map.first(i), map.writer(i), map.isShared(i)});
  return all;
}

// Programs in ranges, each with a survey of its own, against all in one: random accesses, atomics among them.
TEST_F(SurveyTest, RangesOfProgramsAddUpToTheWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Survey whole(exec::host(), ""), parts(exec::host(), "");
    const ts_launch launch{sizeof(ts_launch), "kernel", {6, 1, 1}, 1};
    for (Survey* s : {&whole, &parts}) s->launch_begin(launch), s->argument(argument);
    for (int64_t from = 0; from < 6;) {
      const int64_t past = from + 1 + static_cast<int64_t>(random() % 3);
      Survey range = parts.fork();
      for (int64_t p = from; p < std::min<int64_t>(past, 6); ++p)
        for (unsigned n = random() % 4; n > 0; --n) {
          const ts_access a = access(static_cast<int64_t>(random() % 4), static_cast<int64_t>(random() % 6), p);
          const unsigned what = random() % 3;
          for (Survey* s : {&whole, &range}) what == 0 ? s->on_load(a) : what == 1 ? s->on_store(a) : s->on_atomic(a);
        }
      parts.merge(std::move(range));
      from = past;
    }
    whole.finish(), parts.finish();
    ASSERT_EQ(cells(whole.maps()[0]), cells(parts.maps()[0])) << round;
    ASSERT_EQ(whole.maps()[0].outside(), parts.maps()[0].outside());
    ASSERT_EQ(whole.programs().accesses, parts.programs().accesses);
    ASSERT_EQ(whole.programs().written, parts.programs().written);
    ASSERT_EQ(whole.accesses(), parts.accesses());
  }
}

TEST_F(SurveyTest, CellsOfSeveralElementsHaveTheSumOfTheirs) {
  ElementMap fine(argument), coarse(argument, 10);  // 32 elements: 4 in a cell
  ASSERT_EQ(coarse.cell(), 4);
  for (ElementMap* map : {&fine, &coarse}) {
    map->add(kBase + 4 * 3, 7, 4, 2, true, false, 0);
    map->add(kBase + 4 * 9, 1, 4, 1, false, true, 5);
    map->add(kBase + 4 * 30, 4, 4, 1, true, false, 1);  // two of them outside
    map->finish();
  }
  for (int64_t i = 0; i < fine.elements(); i += 4) {
    int64_t reads = 0, writes = 0, writer = -1;
    for (int64_t k = i; k < std::min(i + 4, fine.elements()); ++k) reads += fine.reads(k), writes += fine.writes(k), writer = std::max(writer, fine.writer(k));
    EXPECT_EQ(coarse.reads(i), reads) << i;
    EXPECT_EQ(coarse.writes(i), writes) << i;
    EXPECT_EQ(coarse.writer(i), writer) << i;
  }
  EXPECT_EQ(coarse.outside(), 2u);
}

TEST_F(SurveyTest, CountsThatDoNotFitAreNotKnown) {
  ElementMap map(argument);
  for (int i = 0; i < 4; ++i) map.add(kBase, 1, 4, 1 << 30, true, false, 0);
  map.finish();
  EXPECT_TRUE(map.overflowed());
}

}  // namespace
}  // namespace tilesight::server
