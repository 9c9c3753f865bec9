// Elementary functions in f32, branch-free so that loops over them vectorise. Only + - * fma, bit
// moves and correctly rounded / and sqrt: every instruction set gives the same bits. Error bounds are
// in README.md. The polynomials are minimax fits (fit_polynomials.py).
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN
namespace f32 {

TS_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TS_INLINE float asFloat(uint32_t bits) { return bitCast<float>(bits); }
TS_INLINE uint32_t asBits(float x) { return bitCast<uint32_t>(x); }

inline constexpr float kRounder = 0x1.8p23f;  // x + kRounder rounds |x| < 2^22 to an integer
inline constexpr float kInfinity = __builtin_inff();

/// y * 2^k for k in -252..256; y near 1. Two factors, so that results may be subnormal or infinite.
TS_INLINE float scale(float y, int32_t k) {
  const int32_t half = k >> 1;
  return y * asFloat(uint32_t(half + 127) << 23) * asFloat(uint32_t(k - half + 127) << 23);
}

/// x with its magnitude (and that of NaN) limited; on the bits, which takes a single minimum.
TS_INLINE float limit(float x, float magnitude) {
  const uint32_t bits = asBits(x) & 0x7fffffffu;
  const uint32_t limited = bits < asBits(magnitude) ? bits : asBits(magnitude);
  return asFloat(limited | (asBits(x) & 0x80000000u));
}
TS_INLINE float unlessNaN(float x, float value) { return x == x ? value : quietNaN<float>(); }

TS_INLINE float exp(float x) {
  const float inside = limit(x, 105.0f);
  const float shifted = fma(inside, 0x1.715476p0f, kRounder);
  const float n = shifted - kRounder;
  float r = fma(n, -0x1.62e430p-1f, inside);
  r = fma(n, 0x1.05c610p-29f, r);
  float p = 0x1.a19d50p-13f;
  p = fma(p, r, 0x1.6d4ee8p-10f);
  p = fma(p, r, 0x1.111094p-7f);
  p = fma(p, r, 0x1.5554e6p-5f);
  p = fma(p, r, 0x1.555556p-3f);
  p = fma(p, r, 0.5f);
  const float y = fma(r * r, p, r) + 1.0f;
  return unlessNaN(x, scale(y, int32_t(asBits(shifted) - asBits(kRounder))));
}

TS_INLINE float exp2(float x) {
  const float inside = limit(x, 152.0f);
  const float shifted = inside + kRounder;
  const float r = inside - (shifted - kRounder);
  float p = 0x1.ed8952p-17f;
  p = fma(p, r, 0x1.4410fcp-13f);
  p = fma(p, r, 0x1.5d9c78p-10f);
  p = fma(p, r, 0x1.3b2a5ap-7f);
  p = fma(p, r, 0x1.c6b074p-5f);
  p = fma(p, r, 0x1.ebfbe0p-3f);
  p = fma(p, r, 0x1.62e430p-1f);
  return unlessNaN(x, scale(fma(p, r, 1.0f), int32_t(asBits(shifted) - asBits(kRounder))));
}

/// x = 2^e * (1 + f) with 1 + f in 2/3..4/3, for positive finite x.
struct Split { float e, f; };
TS_INLINE Split split(float x) {
  const bool subnormal = x < 0x1p-126f;
  const uint32_t bits = asBits(subnormal ? x * 0x1p23f : x);
  const int32_t e = int32_t(bits - 0x3f2aaaabu) >> 23;
  const float m = asFloat(bits - (uint32_t(e) << 23));
  return {float(subnormal ? e - 23 : e), m - 1.0f};
}

/// The values of a logarithm where it is no polynomial.
TS_INLINE float logSpecials(float x, float value) {
  const float positive = x == kInfinity ? x : value;
  const float zero = x == 0.0f ? -kInfinity : positive;
  return x >= 0.0f ? zero : quietNaN<float>();
}

/// (log(1 + f) - f + f^2/2) / f^3.
TS_INLINE float logTail(float f) {
  float p = 0x1.e00e40p-4f;
  p = fma(p, f, -0x1.07e35ap-3f);
  p = fma(p, f, 0x1.bb5034p-4f);
  p = fma(p, f, -0x1.f333a8p-4f);
  p = fma(p, f, 0x1.24d78ap-3f);
  p = fma(p, f, -0x1.559bbcp-3f);
  p = fma(p, f, 0x1.99985ep-3f);
  p = fma(p, f, -0x1.ffff02p-3f);
  return fma(p, f, 0x1.555556p-2f);
}

TS_INLINE float log(float x) {
  const auto [e, f] = split(x);
  const float tail = (f * f) * fma(f, logTail(f), -0.5f);
  // e * ln2 + f in two parts; the upper part of ln2 is short, so that its product is exact.
  const float whole = e * 0x1.62e4p-1f;
  const float high = whole + f;
  const float low = f - (high - whole);
  return logSpecials(x, high + (low + fma(e, 0x1.7f7d1cp-20f, tail)));
}

TS_INLINE float log2(float x) {
  const auto [e, f] = split(x);
  // log(1 + f) in two parts, times log2(e) in two parts, plus e.
  const float square = f * f, h = 0.5f * square;
  const float upper = f - h;
  const float lower = fma(square * f, logTail(f), (f - upper) - h);
  const float product = upper * 0x1.715476p0f;
  const float productLow = fma(upper, 0x1.715476p0f, -product) + fma(lower, 0x1.715476p0f, upper * 0x1.4ae0c0p-26f);
  const float high = e + product;
  const float low = product - (high - e);
  return logSpecials(x, high + (low + productLow));
}

/// For |x| <= kSinCosLimit the quadrant and the rest: |x| = quadrant * pi/2 + r.
inline constexpr float kSinCosLimit = 0x1p16f;

TS_INLINE float sinPolynomial(float r, float z) {
  float p = 0x1.7cd75ap-19f;
  p = fma(p, z, -0x1.a05bb8p-13f);
  p = fma(p, z, 0x1.111176p-7f);
  p = fma(p, z, -0x1.555556p-3f);
  return fma(r * z, p, r);
}
TS_INLINE float cosPolynomial(float z) {
  float p = 0x1.99e0f2p-16f;
  p = fma(p, z, -0x1.6c0c1ap-10f);
  p = fma(p, z, 0x1.55554ap-5f);
  p = fma(p, z, -0.5f);
  return fma(p, z, 1.0f);
}

/// sin(x + quarterTurns * pi/2) for |x| <= kSinCosLimit; other x give some number.
template <uint32_t kQuarterTurns>
TS_INLINE float sinOrCos(float x) {
  const float magnitude = absolute(x);
  const float shifted = fma(magnitude, 0x1.45f306p-1f, kRounder);
  const float n = shifted - kRounder;
  float r = fma(n, -0x1.921fb6p0f, magnitude);
  r = fma(n, 0x1.777a5cp-25f, r);
  r = fma(n, 0x1.ee59dap-50f, r);
  const uint32_t quadrant = asBits(shifted) + kQuarterTurns;  // kRounder's own low bits are 0
  const float z = r * r;
  const float value = quadrant & 1 ? cosPolynomial(z) : sinPolynomial(r, z);
  const uint32_t turned = (quadrant & 2) << 30;
  const uint32_t odd = kQuarterTurns == 0 ? asBits(x) & 0x80000000u : 0;
  return asFloat(asBits(value) ^ turned ^ odd);
}

TS_INLINE float tanh(float x) {
  const float a = absolute(x);
  const float z = a * a;
  float p = 0x1.1aa266p-9f;
  p = fma(p, z, -0x1.0c801ep-7f);
  p = fma(p, z, 0x1.63abd6p-6f);
  p = fma(p, z, -0x1.b9f212p-5f);
  p = fma(p, z, 0x1.11107cp-3f);
  p = fma(p, z, -0x1.555554p-2f);
  const float small = fma(a * z, p, a);
  const float e = exp(2.0f * (a < 10.0f ? a : 10.0f));
  const float large = 1.0f - 2.0f / (e + 1.0f);
  return unlessNaN(x, withSign(a < 0.625f ? small : large, x));
}

TS_INLINE float erf(float x) {
  const float a = absolute(x);
  const float z = a * a;
  float p = 0x1.4e3fa6p-14f;
  p = fma(p, z, -0x1.a5ba0ap-11f);
  p = fma(p, z, 0x1.544270p-8f);
  p = fma(p, z, -0x1.b80080p-6f);
  p = fma(p, z, 0x1.ce2d60p-4f);
  p = fma(p, z, -0x1.812740p-2f);
  p = fma(p, z, 0x1.06eba8p-3f);
  const float small = fma(a, p, a);
  // -log(1 - erf(a)) is nearly a parabola.
  const float b = a < 4.0f ? a : 4.0f;
  float q = 0x1.5ecf70p-16f;
  q = fma(q, b, -0x1.c54e18p-12f);
  q = fma(q, b, 0x1.10aa26p-8f);
  q = fma(q, b, -0x1.9b195ep-6f);
  q = fma(q, b, 0x1.bb5650p-4f);
  q = fma(q, b, 0x1.444b42p-1f);
  q = fma(q, b, 0x1.212698p0f);
  q = fma(q, b, -0x1.65aaacp-13f);
  const float large = 1.0f - exp(-q);
  return unlessNaN(x, withSign(a < 0.921875f ? small : large, x));
}

TS_INLINE float rsqrt(float x) { return canonical(1.0f / __builtin_sqrtf(x)); }

}  // namespace f32
TS_ISA_END
