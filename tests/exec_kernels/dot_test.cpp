// Dot products against the chain of their definition, bit by bit, over ragged shapes and strides.
#include <cmath>

#include "reference.h"

namespace tilesight::exec {
namespace {

using reference::decode;
using reference::encode;

struct Case {
  ElementKind a, b, acc;
  DotPrecision precision = DotPrecision::Ieee;
};

using enum ElementKind;
const Case kCases[] = {
    {F32, F32, F32}, {F32, F32, F32, DotPrecision::Tf32}, {F64, F64, F64}, {F16, F16, F32}, {F16, F16, F16},
    {BF16, BF16, F32}, {BF16, BF16, BF16}, {F8E4M3FN, F8E4M3FN, F32}, {F8E4M3FN, F8E5M2, F32}, {F8E5M2, F8E5M2, F16},
    {F8E4M3FNUZ, F8E5M2FNUZ, F32}, {I8, I8, I32},
};

/// To ten bits of mantissa, ties away from zero.
float toTf32(float x) {
  if (!std::isfinite(x)) return x;
  int exponent;
  const double mantissa = std::frexp(double(x), &exponent);
  // Subnormal numbers keep the spacing of the smallest normal ones.
  const int last = std::max(exponent - 11, -126 - 10);
  return float(std::ldexp(std::round(std::ldexp(mantissa, exponent - last)), last));
}

uint64_t chain(const Case& c, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t d) {
  if (c.acc == I32) {
    uint32_t sum = uint32_t(d);
    for (size_t k = 0; k < a.size(); ++k) sum += uint32_t(int32_t(int8_t(a[k])) * int32_t(int8_t(b[k])));
    return sum;
  }
  if (c.acc == F64) {
    double sum = fromBits<double>(d);
    for (size_t k = 0; k < a.size(); ++k) sum = std::fma(fromBits<double>(a[k]), fromBits<double>(b[k]), sum);
    return encode(F64, sum);
  }
  float sum = float(decode(c.acc, d));
  for (size_t k = 0; k < a.size(); ++k) {
    float x = float(decode(c.a, a[k])), y = float(decode(c.b, b[k]));
    if (c.precision == DotPrecision::Tf32) {
      x = toTf32(x);
      y = toTf32(y);
    }
    sum = std::fma(x, y, sum);
  }
  return encode(c.acc, sum);
}

/// A matrix in memory, by rows or by columns, with or without gaps between elements or lines.
struct Matrix {
  Span memory;
  int64_t row, column;
  Matrix(ElementKind kind, int64_t rows, int64_t columns, int layout, RandomElements& random) : memory(kind, 0) {
    switch (layout) {
      case 0: row = columns, column = 1; break;
      case 1: row = 1, column = rows; break;
      case 2: row = columns + 5, column = 1; break;
      case 3: row = 1, column = rows + 3; break;
      case 4: row = 0, column = 1; break;  // broadcast operands
      case 5: row = 1, column = 0; break;
      default: row = 3 * columns, column = 2; break;
    }
    memory = random.span(kind, size_t(rows * row + columns * column + 1));
    // Mostly ordinary values: chains that end in NaN at once would show nothing.
    if (reference::FloatFormat(kind == I8 ? reference::FloatFormat{} : reference::formatOf(kind)).exponentBits)
      for (size_t i = 0; i < memory.size(); ++i)
        if (std::fabs(double(decode(kind, memory.bits(i)))) > 1e3 || std::isnan(double(decode(kind, memory.bits(i)))))
          if (random.engine()() % 512 != 0) memory.set(i, encode(kind, 0.1L * (long double)(random.engine()() % 100) - 5));
  }
  uint64_t at(int64_t i, int64_t j) const { return memory.bits(size_t(i * row + j * column)); }
};

void expectDot(const Case& c, int64_t m, int64_t n, int64_t k, int layoutA, int layoutB) {
  RandomElements random(uint64_t(m * 1000 + n * 100 + k));
  const Matrix a(c.a, m, k, layoutA, random), b(c.b, k, n, layoutB, random);
  Span start(c.acc, size_t(m * n));
  for (size_t i = 0; i < start.size(); ++i)
    start.set(i, c.acc == I32 ? random.engine()() & 0xffffffffu : encode(c.acc, (long double)(random.engine()() % 2000) / 64 - 15));
  Span expected = start;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      std::vector<uint64_t> x, y;
      for (int64_t l = 0; l < k; ++l) {
        x.push_back(a.at(i, l));
        y.push_back(b.at(l, j));
      }
      expected.set(size_t(i * n + j), chain(c, x, y, start.bits(size_t(i * n + j))));
    }
  for (const KernelSet* set : allSets()) {
    const DotFn dot = set->dot(c.a, c.b, c.acc, c.precision);
    ASSERT_NE(dot, nullptr);
    Span d = start;
    dot({a.memory.data(), a.row, a.column, b.memory.data(), b.row, b.column, d.data(), m, n, k});
    ASSERT_EQ(d, expected) << set->name << " " << nameOf(c.a) << " * " << nameOf(c.b) << " -> " << nameOf(c.acc) << ", " << m << "x"
                           << n << "x" << k << ", layouts " << layoutA << ", " << layoutB;
    // All sums may start from one element, whatever lies in d.
    Span filled(c.acc, start.size()), other = start;
    for (size_t i = 0; i < start.size(); ++i) filled.set(i, start.bits(0));
    dot({a.memory.data(), a.row, a.column, b.memory.data(), b.row, b.column, filled.data(), m, n, k});
    dot({a.memory.data(), a.row, a.column, b.memory.data(), b.row, b.column, other.data(), m, n, k, start.data()});
    ASSERT_EQ(other, filled) << set->name << " " << nameOf(c.a) << " -> " << nameOf(c.acc) << " from one element";
  }
}

TEST(Dots, FollowTheChainOfTheirDefinition) {
  const int64_t shapes[][3] = {{1, 1, 1}, {16, 16, 16}, {64, 64, 32}, {17, 33, 5}, {7, 50, 9}, {3, 8, 64}, {13, 4, 3}, {9, 31, 0}};
  for (const Case& c : kCases)
    for (const auto& [m, n, k] : shapes) expectDot(c, m, n, k, 0, 0);
}

TEST(Dots, TakeOperandsInAnyLayout) {
  for (const Case& c : kCases)
    for (int layoutA = 0; layoutA < 7; ++layoutA)
      for (int layoutB = 0; layoutB < 7; ++layoutB) expectDot(c, 19, 37, 11, layoutA, layoutB);
}

TEST(Dots, WhatHasNoKernelIsNull) {
  for (const KernelSet* set : allSets()) {
    EXPECT_EQ(set->dot(F32, F32, F32, DotPrecision::Tf32x3), nullptr);
    EXPECT_EQ(set->dot(F32, F16, F32, DotPrecision::Ieee), nullptr);
    EXPECT_EQ(set->dot(F64, F64, F32, DotPrecision::Ieee), nullptr);
    EXPECT_EQ(set->dot(I16, I16, I32, DotPrecision::Ieee), nullptr);
    EXPECT_EQ(set->binary(BinaryOp::AddF, I32).vv, nullptr);
    EXPECT_EQ(set->binary(BinaryOp::AddI, F32).vv, nullptr);
    EXPECT_EQ(set->unary(UnaryOp::Exp, I32), nullptr);
    EXPECT_EQ(set->reduce(BinaryOp::SubI, I32), nullptr);
    EXPECT_EQ(set->select(3).vv, nullptr);
  }
}

}  // namespace
}  // namespace tilesight::exec
