// Elementary functions in f64, in the manner of math_f32.h: branch-free, the same bits everywhere.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN
namespace f64 {

TS_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TS_INLINE double asDouble(uint64_t bits) { return bitCast<double>(bits); }
TS_INLINE uint64_t asBits(double x) { return bitCast<uint64_t>(x); }

inline constexpr double kRounder = 0x1.8p52;  // x + kRounder rounds |x| < 2^51 to an integer
inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Low = 0x1.abc9e3b39803fp-56;
inline constexpr double kLog2e = 0x1.71547652b82fep0, kLog2eLow = 0x1.777d0ffda0d24p-56;

/// a*x^n + .. with the coefficients from the highest power down.
template <size_t kCount>
TS_INLINE double polynomial(double x, const double (&coefficients)[kCount]) {
  double p = coefficients[0];
  TS_UNROLL
  for (size_t i = 1; i < kCount; ++i) p = fma(p, x, coefficients[i]);
  return p;
}

/// y * 2^k, k from the low bits of a rounded number; |k| <= 2040.
TS_INLINE double scale(double y, double shifted) {
  // Biased by 2048 so that halving is a logical shift (arithmetic ones of 64 bits do not vectorise).
  const uint64_t k = asBits(shifted) - asBits(kRounder) + 2048;
  const uint64_t half = k >> 1;
  return y * asDouble((half - 1) << 52) * asDouble((k - half - 1) << 52);
}

/// x with its magnitude (and that of NaN) limited.
TS_INLINE double limit(double x, double magnitude) {
  const uint64_t bits = asBits(x) & ~BitsOf<double>::kSign;
  const uint64_t limited = bits < asBits(magnitude) ? bits : asBits(magnitude);
  return asDouble(limited | (asBits(x) & BitsOf<double>::kSign));
}
TS_INLINE double unlessNaN(double x, double value) { return x == x ? value : quietNaN<double>(); }

/// exp(r) - 1 - r for |r| <= ln2/2.
TS_INLINE double expTail(double r) {
  return (r * r) * polynomial(r, {0x1.1f9e068209749p-29, 0x1.af6ccc24231fap-26, 0x1.27e4bf1dc1c6bp-22,
                                  0x1.71ddef943c0d4p-19, 0x1.a01a01b460990p-16, 0x1.a01a01b3baf18p-13,
                                  0x1.6c16c16c1355cp-10, 0x1.111111110ebb3p-7, 0x1.555555555555ep-5,
                                  0x1.555555555555cp-3, 0.5});
}

TS_INLINE double exp(double x) {
  const double inside = limit(x, 746.0);
  const double shifted = fma(inside, kLog2e, kRounder);
  const double n = shifted - kRounder;
  const double high = fma(n, -kLn2, inside);
  const double r = fma(n, -kLn2Low, high);
  return unlessNaN(x, scale(1.0 + (r + expTail(r)), shifted));
}

TS_INLINE double exp2(double x) {
  const double inside = limit(x, 1076.0);
  const double shifted = inside + kRounder;
  const double r = inside - (shifted - kRounder);
  const double p = polynomial(r, {0x1.c4da844bbb258p-36, 0x1.ea0441d656d80p-32, 0x1.e4cee85809f2fp-28,
                                  0x1.b524db3de2136p-24, 0x1.62c0224d9b48ap-20, 0x1.ffcbfc75ee1adp-17,
                                  0x1.430912f868d8bp-13, 0x1.5d87fe78a22afp-10, 0x1.3b2ab6fba4e81p-7,
                                  0x1.c6b08d704a0d1p-5, 0x1.ebfbdff82c58fp-3, 0x1.62e42fefa39efp-1});
  return unlessNaN(x, scale(fma(p, r, 1.0), shifted));
}

/// exp(x) - 1 for 0 <= x <= 50, as a sum of two numbers.
struct Sum { double high, low; };
TS_INLINE Sum expMinus1(double x) {
  const double shifted = fma(x, kLog2e, kRounder);
  const double n = shifted - kRounder;
  const double near = fma(n, -kLn2, x);
  const double r = fma(n, -kLn2Low, near);
  const double rLow = fma(n, -kLn2Low, near - r);
  const double power = asDouble((asBits(shifted) - asBits(kRounder) + 1023) << 52);
  // power * (1 + r + tail) - 1, with the large terms summed exactly. power - 1 may round beyond
  // 2^53, where it no longer matters.
  const double whole = power - 1.0, first = power * r;
  const double sum = whole + first;
  const bool wholeLarger = absolute(whole) >= absolute(first);
  const double error = wholeLarger ? first - (sum - whole) : whole - (sum - first);
  const double rest = fma(power, expTail(r) + rLow, error);
  const double high = sum + rest;
  return {high, rest - (high - sum)};
}

/// x = 2^e * (1 + f) with 1 + f in sqrt(1/2)..sqrt(2), for positive finite x.
struct Split { double e, f; };
TS_INLINE Split split(double x) {
  const bool subnormal = x < 0x1p-1022;
  const uint64_t bits = asBits(subnormal ? x * 0x1p54 : x);
  // Biased so that the shift is a logical one.
  const uint64_t e = (bits - 0x3fe6a09e667f3bcdu + (uint64_t(1100) << 52)) >> 52;
  const double m = asDouble(bits - ((e - 1100) << 52));
  // 2^52 + e as bits: a conversion that vectorises.
  const double exponent = asDouble(e | 0x4330000000000000u) - (0x1p52 + 1100.0);
  return {subnormal ? exponent - 54.0 : exponent, m - 1.0};
}

TS_INLINE double logSpecials(double x, double value) {
  const double positive = x == kInfinity ? x : value;
  const double zero = x == 0.0 ? -kInfinity : positive;
  return x >= 0.0 ? zero : quietNaN<double>();
}

/// log(1 + f) = f - h + s * (h + R), with h = f^2/2, s = f/(2 + f) and R = 2 atanh(s)/s - 2.
TS_INLINE double atanhTail(double s) {
  const double z = s * s;
  return z * polynomial(z, {0x1.0f72f50e56ebep-3, 0x1.0f5b0bf4a4894p-3, 0x1.3b20bf320d26bp-3,
                            0x1.745cddc3502d1p-3, 0x1.c71c725a6914cp-3, 0x1.249249242a0eap-2,
                            0x1.9999999999e0ep-2, 0x1.5555555555555p-1});
}

TS_INLINE double log(double x) {
  const auto [e, f] = split(x);
  const double h = 0.5 * f * f;
  const double s = f / (2.0 + f);
  const double tail = s * (h + atanhTail(s)) - h;
  // e * ln2 + f in two parts; the upper part of ln2 is short, so that its product is exact.
  const double whole = e * 0x1.62e42ffp-1;
  const double high = whole + f;
  const double low = f - (high - whole);
  return logSpecials(x, high + (low + fma(e, -0x1.718432a1b0e26p-35, tail)));
}

TS_INLINE double log2(double x) {
  const auto [e, f] = split(x);
  const double h = 0.5 * f * f;
  const double hError = fma(0.5 * f, f, -h);
  const double s = f / (2.0 + f);
  // log(1 + f) in two parts, then times log2(e) in two parts.
  const double upper = f - h;
  const double lower = ((f - upper) - h) - hError + s * (h + atanhTail(s));
  const double product = upper * kLog2e;
  const double productLow = fma(upper, kLog2e, -product) + fma(lower, kLog2e, upper * kLog2eLow);
  const double high = e + product;
  const double low = product - (high - e);
  return logSpecials(x, high + (low + productLow));
}

inline constexpr double kSinCosLimit = 0x1p20;

/// sin(r + rLow) and cos(r + rLow) for |r| <= pi/4, rLow below an ulp of r.
TS_INLINE double sinPolynomial(double r, double rLow) {
  const double z = r * r;
  const double p = polynomial(z, {0x1.5d93014805490p-33, -0x1.ae5e663bf81a2p-26, 0x1.71de3577b9759p-19,
                                  -0x1.a01a019c119f4p-13, 0x1.111111110f87bp-7, -0x1.5555555555549p-3});
  return r + fma(r * z, p, rLow * (1.0 - 0.5 * z));
}
TS_INLINE double cosPolynomial(double r, double rLow) {
  const double z = r * r;
  const double p = polynomial(z, {-0x1.8fae9b5049e9ep-37, 0x1.1ee9ebe726b98p-29, -0x1.27e4f809ee0bdp-22,
                                  0x1.a01a019cb1baep-16, -0x1.6c16c16c1517ep-10, 0x1.555555555554cp-5});
  const double h = 0.5 * z;
  const double main = 1.0 - h;
  // What the two roundings before dropped, the tail, and the correction for rLow.
  const double error = ((1.0 - main) - h) - 0.5 * fma(r, r, -z);
  return main + (error + fma(z * z, p, -r * rLow));
}

/// The value in a quadrant, from the reduced argument; `turned` counts quarter turns.
TS_INLINE double inQuadrant(double r, double rLow, uint64_t quadrant) {
  const double value = quadrant & 1 ? cosPolynomial(r, rLow) : sinPolynomial(r, rLow);
  return asDouble(asBits(value) ^ ((quadrant & 2) << 62));
}

/// sin(x + kQuarterTurns * pi/2) for |x| <= kSinCosLimit; other x give some number.
template <uint32_t kQuarterTurns>
TS_INLINE double sinOrCos(double x) {
  const double magnitude = absolute(x);
  const double shifted = fma(magnitude, 0x1.45f306dc9c883p-1, kRounder);
  const double n = shifted - kRounder;
  // pi/2 in three parts. The first step is exact; the second's error goes into the low part.
  const double a = fma(n, -0x1.921fb54442d18p0, magnitude);
  const double w = n * 0x1.1a62633145c07p-54;
  const double wError = fma(n, 0x1.1a62633145c07p-54, -w);
  const double r = a - w;
  const double rError = a - r - w;
  const double rLow = fma(n, 0x1.f1976b7ed8fbcp-110, rError - wError);
  const double value = inQuadrant(r, rLow, asBits(shifted) + kQuarterTurns);
  return kQuarterTurns == 0 ? asDouble(asBits(value) ^ (asBits(x) & BitsOf<double>::kSign)) : value;
}

TS_INLINE double tanh(double x) {
  const double a = absolute(x);
  // t / (t + 2) for t = exp(2a) - 1, with one correction step that takes the low parts in.
  const auto [t, tLow] = expMinus1(2.0 * (a < 20.0 ? a : 20.0));
  const double d = t + 2.0;
  const double dLow = (t < 2.0 ? t - (d - 2.0) : 2.0 - (d - t)) + tLow;
  const double inverse = 1.0 / d;
  const double q = t * inverse;
  const double rest = fma(-q, d, t) + fma(-q, dLow, tLow);
  // Below 2^-28 the cubic term is less than half an ulp.
  return unlessNaN(x, withSign(a < 0x1p-28 ? a : fma(rest, inverse, q), x));
}

TS_INLINE double erf(double x) {
  const double a = absolute(x);
  const double z = a * a;
  const double p = polynomial(
      z, {-0x1.dabd0013b9e4bp-31, 0x1.e4d435cc94626p-27, -0x1.5dc34232e9575p-23, 0x1.b9bf8209604fbp-20,
          -0x1.f4cffdc900f2fp-17, 0x1.f9a30e7d9edd8p-14, -0x1.c02db35950a98p-11, 0x1.565bcd0b97dcdp-8,
          -0x1.b82ce3127a48ap-6, 0x1.ce2f21a042980p-4, -0x1.812746b0379e4p-2, 0x1.06eba8214db69p-3});
  const double small = fma(a, p, a);
  // -log(1 - erf(a)) about two centres.
  const double t = a - 1.5625;
  const double middle = polynomial(
      t, {0x1.1cd1c743b5fe9p-30, -0x1.064fb94a19712p-29, -0x1.24f28737923ebp-30, 0x1.e3c1d6881e663p-26,
          -0x1.6fe6a0bdba404p-23, 0x1.74574c3c6e3efp-21, -0x1.fdc6a70edab6fp-20, 0x1.8520c156afe08p-20,
          0x1.8a0ada65aa10fp-16, -0x1.afc716f174c2dp-13, 0x1.34d557bb2afa4p-10, -0x1.70ba14ced4adep-8,
          0x1.8f496068a2f22p-6, 0x1.cb70c02b3b437p-1, 0x1.cf725de82b9a4p1, 0x1.cdbb85bd8a61cp1});
  const double u = (a < 6.0 ? a : 6.0) - 4.125;
  const double outer = polynomial(
      u, {-0x1.0a9a118842b0cp-39, -0x1.120b8d8c21240p-38, 0x1.3aa67b174b746p-37, 0x1.2c7b5cb2a41cep-41,
          0x1.3795fea60755bp-31, -0x1.50822f1e62354p-28, 0x1.3c0a2e58ed7bfp-25, -0x1.205f9493be540p-22,
          0x1.f242dc642b9dcp-20, -0x1.9fc620b8d3a21p-17, 0x1.54203610775e9p-14, -0x1.150cb47b92599p-11,
          0x1.ccd13b70ca3b3p-9, 0x1.f31ad7b8c21cbp-1, 0x1.0f5b6f2926000p3, 0x1.30854b8fd2300p4});
  const double large = 1.0 - exp(-(a < 2.25 ? middle : outer));
  return unlessNaN(x, withSign(a < 0.875 ? small : large, x));
}

TS_INLINE double rsqrt(double x) { return canonical(1.0 / __builtin_sqrt(x)); }

}  // namespace f64
TS_ISA_END
