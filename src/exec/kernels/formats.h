// The narrow float formats, bit by bit: f16, bf16 and the fp8 kinds, to and from f32.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

enum class Specials : uint8_t {
  Ieee,   // top exponent: infinity, NaN
  Finite, // FN: the code of all ones is NaN, no infinity
  Fnuz,   // the code of -0 is NaN, no infinity, no -0
};

template <int E, int M, int B, Specials S>
struct Format {
  static constexpr int kExponentBits = E, kMantissaBits = M, kBias = B;
  static constexpr Specials kSpecials = S;
  static constexpr int kBits = 1 + E + M;
  static constexpr bool kIsFp8 = kBits == 8;
  using Storage = std::conditional_t<kBits == 8, uint8_t, uint16_t>;
  static constexpr uint32_t kSign = 1u << (kBits - 1);
  static constexpr uint32_t kTopExponent = ((1u << E) - 1) << M;
  static constexpr uint32_t kInfinity = kTopExponent;  // Ieee only
  static constexpr uint32_t kNaN = S == Specials::Ieee     ? kTopExponent | (1u << (M - 1))
                                   : S == Specials::Finite ? kSign - 1
                                                           : kSign;
  static constexpr uint32_t kLargest = S == Specials::Ieee     ? kTopExponent - 1
                                       : S == Specials::Finite ? kSign - 2
                                                               : kSign - 1;

  /// The exact value of a code; NaNs become the canonical one.
  static constexpr float decode(uint32_t code) {
    const uint32_t sign = (code & kSign) << (32 - kBits);
    const uint32_t magnitude = code & (kSign - 1);
    if (S == Specials::Fnuz && code == kNaN) return quietNaN<float>();
    if (S == Specials::Finite && magnitude == kNaN) return quietNaN<float>();
    if (S == Specials::Ieee && magnitude >= kInfinity)
      return magnitude > kInfinity ? quietNaN<float>() : bitCast<float>(sign | 0x7f800000u);
    const uint32_t mantissa = magnitude & ((1u << M) - 1);
    const int exponent = int(magnitude >> M);
    float value = float(exponent == 0 ? mantissa : mantissa | (1u << M));
    const int scale = (exponent == 0 ? 1 : exponent) - B - M;  // in -149..127
    value *= scale >= -126 ? bitCast<float>(uint32_t(scale + 127) << 23)
                           : bitCast<float>(1u << (scale + 149));
    return bitCast<float>(bitCast<uint32_t>(value) | sign);
  }

  // Magnitudes are below 2^31: signed comparisons are the cheaper ones in vectors.
  TS_INLINE static constexpr bool above(uint32_t a, uint32_t b) { return int32_t(a) > int32_t(b); }

  /// decode() without branches, for loops.
  TS_INLINE static float decodeFast(uint32_t code) {
    const uint32_t magnitude = code & (kSign - 1);
    const uint32_t sign = (code & kSign) << (32 - kBits);
    constexpr float kStep = bitCast<float>(uint32_t(1 - B - M + 127) << 23);  // of subnormal numbers
    const uint32_t subnormal = bitCast<uint32_t>(float(int32_t(magnitude)) * kStep);
    const uint32_t normal = (magnitude << (23 - M)) + (uint32_t(127 - B) << 23);
    uint32_t bits = (above(1u << M, magnitude) ? subnormal : normal) | sign;
    if constexpr (S == Specials::Ieee) {
      bits = magnitude == kInfinity ? 0x7f800000u | sign : bits;
      bits = above(magnitude, kInfinity) ? BitsOf<float>::kNaN : bits;
    } else {
      bits = (S == Specials::Fnuz ? code : magnitude) == kNaN ? BitsOf<float>::kNaN : bits;
    }
    return bitCast<float>(bits);
  }

  /// Rounds the pattern of a magnitude to M mantissa bits, in place; kToZero cuts.
  template <bool kToZero>
  TS_INLINE static uint32_t roundPattern(uint32_t magnitude) {
    constexpr int kDrop = 23 - M;
    if constexpr (kToZero) return magnitude;
    else return magnitude + ((1u << (kDrop - 1)) - 1) + ((magnitude >> kDrop) & 1);
  }

  /// The code nearest to x (ties to even), or with kToZero the one next toward zero.
  /// fp8 saturates to the largest finite value, infinities included (cvt.satfinite); f16 and bf16
  /// overflow to infinity, toward zero only from infinity itself. Written without branches.
  template <bool kToZero>
  TS_INLINE static uint32_t encode(float x) {
    const uint32_t bits = bitCast<uint32_t>(x);
    const uint32_t sign = (bits & 0x80000000u) >> (32 - kBits);
    const uint32_t magnitude = bits & 0x7fffffffu;
    constexpr int kDrop = 23 - M;
    // Normal numbers: round in place, then move the exponent's bias. Carries go where they should.
    const uint32_t rounded = roundPattern<kToZero>(magnitude);
    uint32_t code = (rounded >> kDrop) - (uint32_t(127 - B) << M);
    // bf16 has the exponents of f32: its subnormal numbers round in place as well, and the carry out
    // of the largest number is infinity.
    if constexpr (B != 127) {
      // Below the smallest normal number: a multiple of the smallest subnormal one.
      constexpr float kSmallestNormal = bitCast<float>(uint32_t(1 - B + 127) << 23);
      const float value = bitCast<float>(magnitude);
      uint32_t multiple;
      if constexpr (kToZero) {
        constexpr float kScale = bitCast<float>(uint32_t(B - 1 + M + 127) << 23);
        const float limited = value < kSmallestNormal ? value : 0.0f;
        multiple = uint32_t(int32_t(limited * kScale));
      } else {
        // Adding 2^(23 + exponent of the step) leaves no bits below the step.
        constexpr float kRounder = bitCast<float>(uint32_t(1 - B - M + 23 + 127) << 23);
        multiple = bitCast<uint32_t>(value + kRounder) - bitCast<uint32_t>(kRounder);
      }
      code = value < kSmallestNormal ? multiple : code;
      // Overflow, found on f32 patterns, where nothing wraps.
      constexpr uint32_t kLargestBits = bitCast<uint32_t>(decode(kLargest));
      if constexpr (kIsFp8) {
        code = above(magnitude, kLargestBits) ? kLargest : code;
      } else if constexpr (kToZero) {
        code = above(magnitude, kLargestBits) ? kLargest : code;
        code = magnitude == 0x7f800000u ? kInfinity : code;
      } else {
        code = above(rounded, kLargestBits | ((1u << kDrop) - 1)) ? kInfinity : code;
      }
    }
    if constexpr (S == Specials::Fnuz) code = code == 0 ? 0 : code | sign;
    else code |= sign;
    return above(magnitude, 0x7f800000u) ? kNaN : code;
  }

  /// decode(encode(x)) to nearest even, without leaving f32.
  TS_INLINE static float round(float x) {
    const uint32_t bits = bitCast<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t rounded = roundPattern<false>(magnitude) & ~((1u << (23 - M)) - 1);
    if constexpr (B != 127) {
      constexpr float kSmallestNormal = bitCast<float>(uint32_t(1 - B + 127) << 23);
      constexpr float kRounder = bitCast<float>(uint32_t(1 - B - M + 23 + 127) << 23);
      const float value = bitCast<float>(magnitude);
      rounded = value < kSmallestNormal ? bitCast<uint32_t>((value + kRounder) - kRounder) : rounded;
      constexpr uint32_t kLargestBits = bitCast<uint32_t>(decode(kLargest));
      rounded = above(rounded, kLargestBits) ? (kIsFp8 ? kLargestBits : 0x7f800000u) : rounded;
    }
    uint32_t sign = bits & 0x80000000u;
    if constexpr (S == Specials::Fnuz) sign = rounded == 0 ? 0 : sign;
    return above(magnitude, 0x7f800000u) ? quietNaN<float>() : bitCast<float>(rounded | sign);
  }
};

template <ElementKind K> struct FormatOf;
template <> struct FormatOf<ElementKind::F16> { using Type = Format<5, 10, 15, Specials::Ieee>; };
template <> struct FormatOf<ElementKind::BF16> { using Type = Format<8, 7, 127, Specials::Ieee>; };
template <> struct FormatOf<ElementKind::F8E4M3FN> { using Type = Format<4, 3, 7, Specials::Finite>; };
template <> struct FormatOf<ElementKind::F8E5M2> { using Type = Format<5, 2, 15, Specials::Ieee>; };
template <> struct FormatOf<ElementKind::F8E4M3FNUZ> { using Type = Format<4, 3, 8, Specials::Fnuz>; };
template <> struct FormatOf<ElementKind::F8E5M2FNUZ> { using Type = Format<5, 2, 16, Specials::Fnuz>; };
template <> struct FormatOf<ElementKind::F8E4M3B11FNUZ> { using Type = Format<4, 3, 11, Specials::Fnuz>; };

#define TS_NARROW_KINDS(X) \
  X(F16) X(BF16) X(F8E4M3FN) X(F8E5M2) X(F8E4M3FNUZ) X(F8E5M2FNUZ) X(F8E4M3B11FNUZ)

TS_ISA_END
