// Floating-point arithmetic of one element, in f32 or f64. Results that are NaN are canonical.
#pragma once

#include "exec/kernels/int_ops.h"

TS_ISA_BEGIN

struct AddF : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return canonical(a + b); } };
struct SubF : Ordered { template <class T> TS_INLINE static T apply(T a, T b) { return canonical(a - b); } };
struct MulF : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return canonical(a * b); } };
struct DivF : Ordered { template <class T> TS_INLINE static T apply(T a, T b) { return canonical(a / b); } };

/// C fmod. It is exact, so every libm gives the same bits.
struct RemF : Ordered {
  TS_INLINE static float apply(float a, float b) { return canonical(__builtin_fmodf(a, b)); }
  TS_INLINE static double apply(double a, double b) { return canonical(__builtin_fmod(a, b)); }
};

/// The smaller of two numbers, -0 < +0; unspecified if one is NaN. The two selections (a single
/// instruction each) differ only for zeros of different sign, where their or has the sign.
template <class T> TS_INLINE T smallerNumber(T a, T b) {
  return bitCast<T>(Bits<T>(bitCast<Bits<T>>(a < b ? a : b) | bitCast<Bits<T>>(b < a ? b : a)));
}
template <class T> TS_INLINE T largerNumber(T a, T b) {
  return bitCast<T>(Bits<T>(bitCast<Bits<T>>(a > b ? a : b) & bitCast<Bits<T>>(b > a ? b : a)));
}
template <class T> TS_INLINE T nanIfEither(T a, T b, T number) {
  const T first = a == a ? number : quietNaN<T>();
  return b == b ? first : quietNaN<T>();
}
template <class T> TS_INLINE T otherIfNaN(T a, T b, T number) {
  const T first = a == a ? number : b;
  return canonical(b == b ? first : a);
}

struct MinimumF : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return nanIfEither(a, b, smallerNumber(a, b)); } };
struct MaximumF : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return nanIfEither(a, b, largerNumber(a, b)); } };
struct MinNumF : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return otherIfNaN(a, b, smallerNumber(a, b)); } };
struct MaxNumF : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return otherIfNaN(a, b, largerNumber(a, b)); } };

TS_ISA_END
