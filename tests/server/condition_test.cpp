// Conditions: what they mean, and what is said of wrong ones.
#include "server/condition.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace tilesight::server {
namespace {

const std::map<std::string, Numbers> kValues = {
    {"i", {{}, {3}}}, {"qk", {{2, 2}, {1, -2, NAN, 4}}}, {"m", {{2}, {1, INFINITY}}}, {"row", {{2, 1}, {10, 20}}}, {"acc", {{2, 2}, {0, 0, 0, 0}}}};

std::string said(const std::string& text) {
  auto condition = Condition::parse(text);
  if (!condition) return condition.error().message;
  auto holds = condition->holds([](const std::string& name) -> const Numbers& { return kValues.at(name); });
  return !holds ? holds.error().message : *holds ? "yes" : "no";
}

TEST(Condition, WhatHoldsOfSomeElementHolds) {
  EXPECT_EQ(said("isnan(qk)"), "yes");
  EXPECT_EQ(said("isnan(acc)"), "no");
  EXPECT_EQ(said("isinf(m)"), "yes");
  EXPECT_EQ(said("qk > 3"), "yes");
  EXPECT_EQ(said("qk > 4"), "no");
  EXPECT_EQ(said("all(acc == 0)"), "yes");
  EXPECT_EQ(said("all(isfinite(qk))"), "no");
}

TEST(Condition, ReductionsAndArithmetic) {
  EXPECT_EQ(said("max(abs(row)) == 20 and i == 3"), "yes");
  EXPECT_EQ(said("max(qk) > 0"), "no");  // it is NaN
  EXPECT_EQ(said("count(isnan(qk)) == 1"), "yes");
  EXPECT_EQ(said("sum(row) / 2 == mean(row) * 1"), "yes");
  EXPECT_EQ(said("i - 1 - 1 == 1"), "yes");
  EXPECT_EQ(said("2 + i * 2 == 8"), "yes");
  EXPECT_EQ(said("-i < -2.5e0"), "yes");
  EXPECT_EQ(said("not (i == 3) or i < 4"), "yes");
  EXPECT_EQ(said("!(i == 3) || false && i > 0"), "no");
  EXPECT_EQ(said("min(row) == -inf"), "no");
}

TEST(Condition, TilesAreBroadcast) {
  EXPECT_EQ(said("row + m > 1e300"), "yes");
  EXPECT_EQ(said("all(row * acc == 0)"), "yes");
  EXPECT_EQ(said("any(m == qk)"), "yes");
}

TEST(Condition, WrongOnesSayWhere) {
  EXPECT_EQ(said("qk >"), "column 5: a value is missing: a variable, a number, or isnan(..)");
  EXPECT_EQ(said("isnan(qk"), "column 9: a \")\" is missing");
  EXPECT_EQ(said("isnam(qk)"), "column 1: there is no function \"isnam\"; did you mean isnan?; there are isnan, isinf, isfinite, abs, any, all, max, "
                               "min, sum, mean, count");
  EXPECT_EQ(said("max(qk, 1) > 2"), "column 7: max() takes one value");
  EXPECT_EQ(said("qk = 1"), "column 4: \"=\" is not expected here");
  EXPECT_EQ(said("1 > 2"), "the condition has no variable, such as qk in isnan(qk)");
  EXPECT_EQ(said("i and and i"), "column 7: a value is missing before \"and\"");
  EXPECT_EQ(said("1.2.3 < i"), "column 1: \"1.2.3\" is no number");
  EXPECT_EQ(said(""), "column 1: a value is missing: a variable, a number, or isnan(..)");
  EXPECT_EQ(said(std::string(500, '(') + "i"), "column 61: this is nested too deeply");
  EXPECT_EQ(said(std::string(2000, '-') + "i"), "the condition is too long");
}

}  // namespace
}  // namespace tilesight::server
