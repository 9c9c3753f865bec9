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

  /// decode() without branches, for loops.
  TS_INLINE static float decodeFast(uint32_t code) {
    const uint32_t magnitude = code & (kSign - 1);
    const uint32_t sign = (code & kSign) << (32 - kBits);
    constexpr float kStep = bitCast<float>(uint32_t(1 - B - M + 127) << 23);  // of subnormal numbers
    const uint32_t subnormal = bitCast<uint32_t>(float(int32_t(magnitude)) * kStep);
    const uint32_t normal = (magnitude << (23 - M)) + (uint32_t(127 - B) << 23);
    uint32_t bits = (magnitude < (1u << M) ? subnormal : normal) | sign;
    if constexpr (S == Specials::Ieee) {
      const uint32_t special = magnitude == kInfinity ? 0x7f800000u | sign : BitsOf<float>::kNaN;
      bits = magnitude < kInfinity ? bits : special;
    } else {
      bits = (S == Specials::Fnuz ? code : magnitude) == kNaN ? BitsOf<float>::kNaN : bits;
    }
    return bitCast<float>(bits);
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
    const uint32_t half = kToZero ? 0 : (1u << (kDrop - 1)) - 1 + ((magnitude >> kDrop) & 1);
    const uint32_t rounded = (magnitude + half) >> kDrop;
    uint32_t code = rounded - (uint32_t(127 - B) << M);
    // Below the smallest normal number: a multiple of the smallest subnormal one. (bf16 has the
    // exponents of f32, whose subnormal numbers round in place as well.)
    if constexpr (B != 127) {
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
    }
    // Compared as f32 patterns, where nothing wraps.
    constexpr uint32_t kLargestBits = bitCast<uint32_t>(decode(kLargest));
    if constexpr (S == Specials::Ieee && !kIsFp8) {
      if constexpr (kToZero) {
        code = magnitude > kLargestBits ? kLargest : code;
        code = magnitude == 0x7f800000u ? kInfinity : code;
      } else {
        code = magnitude + half > kLargestBits + (1u << kDrop) - 1 ? kInfinity : code;
      }
    } else {
      code = magnitude > kLargestBits ? kLargest : code;
    }
    if constexpr (S == Specials::Fnuz) {
      code = code == 0 ? 0 : code | sign;
    } else {
      code |= sign;
    }
    return magnitude > 0x7f800000u ? kNaN : code;
  }

  /// decode(encode(x)) to nearest even, without leaving f32.
  TS_INLINE static float round(float x) {
    const uint32_t bits = bitCast<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    constexpr int kDrop = 23 - M;
    constexpr uint32_t kMask = (1u << kDrop) - 1;
    uint32_t rounded = (magnitude + (kMask >> 1) + ((magnitude >> kDrop) & 1)) & ~kMask;
    if constexpr (B != 127) {
      constexpr float kSmallestNormal = bitCast<float>(uint32_t(1 - B + 127) << 23);
      constexpr float kRounder = bitCast<float>(uint32_t(1 - B - M + 23 + 127) << 23);
      const float value = bitCast<float>(magnitude);
      rounded = value < kSmallestNormal ? bitCast<uint32_t>((value + kRounder) - kRounder) : rounded;
    }
    constexpr uint32_t kLargestBits = bitCast<uint32_t>(decode(kLargest));
    constexpr uint32_t kBeyond = S == Specials::Ieee && !kIsFp8 ? 0x7f800000u : kLargestBits;
    rounded = rounded > kLargestBits ? kBeyond : rounded;
    uint32_t sign = bits & 0x80000000u;
    if constexpr (S == Specials::Fnuz) sign = rounded == 0 ? 0 : sign;
    return magnitude > 0x7f800000u ? quietNaN<float>() : bitCast<float>(rounded | sign);
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
