// Rounding in two steps without double rounding: the first step truncates and, if it dropped
// anything, sets the last bit ("to odd"); the second may then round to any shorter format.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

/// f64 to f32, to odd. Overflow gives the largest finite number (odd), infinities and NaNs stay.
TS_INLINE float f64ToF32Odd(double x) {
  const float nearest = float(x);
  const double back = double(nearest);
  const uint32_t bits = bitCast<uint32_t>(nearest);
  const uint32_t truncated = absolute(back) > absolute(x) ? bits - 1 : bits;
  const uint32_t odd = back == x ? bits : truncated | 1;
  return x == x ? bitCast<float>(odd) : quietNaN<float>();
}

/// f64 to f32, toward zero.
TS_INLINE float f64ToF32TowardZero(double x) {
  const float nearest = float(x);
  const uint32_t bits = bitCast<uint32_t>(nearest);
  const uint32_t truncated = absolute(double(nearest)) > absolute(x) ? bits - 1 : bits;
  return x == x ? bitCast<float>(truncated) : quietNaN<float>();
}

/// a * b + c of narrow values in f64, to odd. Their product is exact; what the sum drops is found by
/// two-sum, and an even last bit moves to the neighbour on that side.
TS_INLINE double fusedToOdd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double addend = sum - product;
  const double dropped = (product - (sum - addend)) + (c - addend);
  const uint64_t bits = bitCast<uint64_t>(sum);
  const uint64_t neighbour = (dropped > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1;
  const bool inexact = dropped > 0.0 || dropped < 0.0;  // neither for infinities and NaN
  return bitCast<double>(inexact && (bits & 1) == 0 ? neighbour : bits);
}

/// A magnitude to f64, to odd.
TS_INLINE double u64ToF64Odd(uint64_t x) {
  const uint64_t shortened = (x & ~uint64_t(0xfff)) | (uint64_t((x & 0xfff) != 0) << 12);
  const uint64_t exact = x >> 53 ? shortened : x;
  // At most 52 bits below 2^64: the two halves and their sum are exact.
  return double(uint32_t(exact >> 32)) * 0x1p32 + double(uint32_t(exact));
}

TS_ISA_END
