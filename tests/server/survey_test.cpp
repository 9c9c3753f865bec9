// What is counted of accesses, against counting element by element.
#include "server/survey.h"

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
    ts_argument argument{};
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
  ts_program program{};
  Survey survey{exec::host(), ""};
};

TEST_F(SurveyTest, ReadsAreCountedPerElement) {
  survey.on_load(access(0, 0, 0));
  survey.on_load(access(1, 2, 1));
  survey.finish();
  ASSERT_EQ(map().count, 32 + 2 * kMargin);
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 8; ++c)
      EXPECT_EQ(map().reads[kMargin + static_cast<size_t>(r * 8 + c)], (r < 2 && c < 4) + (r >= 1 && r < 3 && c >= 2 && c < 6)) << r << "," << c;
  EXPECT_TRUE(map().writes.empty());
  EXPECT_EQ(survey.ops().at(3).read, 64u);
  EXPECT_EQ(survey.programs().accesses[1], 1u);
}

TEST_F(SurveyTest, TheLastWriterAndElementsThatSeveralWrote) {
  survey.on_store(access(0, 0, 0));
  survey.on_store(access(0, 2, 1));
  survey.finish();
  EXPECT_EQ(map().writer[kMargin + 0], 1u);
  EXPECT_EQ(map().writer[kMargin + 2], 2u | kShared);
  EXPECT_EQ(map().writer[kMargin + 4], 2u);
  EXPECT_EQ(map().writer[kMargin + 7], 0u);
  EXPECT_EQ(map().writes[kMargin + 2], 2);
}

TEST_F(SurveyTest, MaskedElementsAreNotCounted) {
  const int64_t lo[2] = {0, 1}, hi[2] = {1, 3};
  ts_access a = access(0, 0, 0);
  a.mask = {TS_FORM_AFFINE, 0, lo, hi, nullptr};
  a.active = 2;
  survey.on_load(a);
  survey.finish();
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(map().reads[kMargin + i], i == 1 || i == 2) << i;
  EXPECT_EQ(survey.programs().masked[0], 6);
}

TEST_F(SurveyTest, WhatLiesOutsideIsCountedAsOutside) {
  survey.on_load(access(3, 0, 0));
  survey.finish();
  EXPECT_EQ(map().outside, 4u);
  EXPECT_EQ(map().reads[kMargin + 24], 1);
}

TEST_F(SurveyTest, OneElementForAllCountsOncePerElementOfTheTile) {
  steps[0] = steps[1] = 0;
  survey.on_load(access(0, 5, 0));
  survey.finish();
  EXPECT_EQ(map().reads[kMargin + 5], 8);
  EXPECT_EQ(map().reads[kMargin + 6], 0);
}

TEST_F(SurveyTest, ColumnsThatAreContiguousAreRows) {
  steps[0] = 4, steps[1] = 32;  // transposed
  survey.on_load(access(0, 0, 0));
  survey.finish();
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 2; ++c) EXPECT_EQ(map().reads[kMargin + static_cast<size_t>(r * 8 + c)], 1);
  EXPECT_EQ(map().reads[kMargin + 2], 0);
}

}  // namespace
}  // namespace tilesight::server
