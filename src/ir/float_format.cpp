#include "ir/float_format.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tilesight::ir {

namespace {

enum class Specials : uint8_t {
  Ieee,      // the largest exponent holds infinities and NaNs
  FiniteFN,  // no infinity; all ones is NaN
  FNUZ,      // no infinity, no -0; the pattern of -0 is NaN
  E8M0,      // powers of two only; all ones is NaN
  Finite,    // neither infinity nor NaN
};

struct Format {
  uint32_t exponentBits, mantissaBits;
  int bias;
  Specials specials;
  uint32_t shift = 0;  // unused low bits (tf32 is kept in the bits of an f32)
};

const Format* formatOf(ElementKind kind) {
  static constexpr Format f16{5, 10, 15, Specials::Ieee}, bf16{8, 7, 127, Specials::Ieee},
      f32{8, 23, 127, Specials::Ieee}, f64{11, 52, 1023, Specials::Ieee},
      tf32{8, 10, 127, Specials::Ieee, 13}, e4m3fn{4, 3, 7, Specials::FiniteFN},
      e5m2{5, 2, 15, Specials::Ieee}, e4m3fnuz{4, 3, 8, Specials::FNUZ},
      e5m2fnuz{5, 2, 16, Specials::FNUZ}, e4m3b11{4, 3, 11, Specials::FNUZ},
      e8m0{8, 0, 127, Specials::E8M0}, e2m1{2, 1, 1, Specials::Finite};
  switch (kind) {
    case ElementKind::F16: return &f16;
    case ElementKind::BF16: return &bf16;
    case ElementKind::F32: return &f32;
    case ElementKind::F64: return &f64;
    case ElementKind::TF32: return &tf32;
    case ElementKind::F8E4M3FN: return &e4m3fn;
    case ElementKind::F8E5M2: return &e5m2;
    case ElementKind::F8E4M3FNUZ: return &e4m3fnuz;
    case ElementKind::F8E5M2FNUZ: return &e5m2fnuz;
    case ElementKind::F8E4M3B11FNUZ: return &e4m3b11;
    case ElementKind::F8E8M0FNU: return &e8m0;
    case ElementKind::F4E2M1FN: return &e2m1;
    default: return nullptr;
  }
}

uint64_t nanBits(const Format& f, uint64_t sign) {
  const uint64_t exponentMask = (uint64_t{1} << f.exponentBits) - 1;
  switch (f.specials) {
    case Specials::Ieee:
      return sign | (exponentMask << f.mantissaBits) | (uint64_t{1} << (f.mantissaBits - 1));
    case Specials::FiniteFN:
      return sign | (exponentMask << f.mantissaBits) | ((uint64_t{1} << f.mantissaBits) - 1);
    case Specials::FNUZ: return uint64_t{1} << (f.exponentBits + f.mantissaBits);
    case Specials::E8M0: return 0xFF;
    case Specials::Finite: return 0;
  }
  return 0;
}

/// Magnitude of the largest finite value, as bits without the sign.
uint64_t maxFinite(const Format& f) {
  const uint64_t all = (uint64_t{1} << (f.exponentBits + f.mantissaBits)) - 1;
  switch (f.specials) {
    case Specials::Ieee: return (all >> f.mantissaBits << f.mantissaBits) - 1;
    case Specials::FiniteFN:
    case Specials::E8M0: return all - 1;
    case Specials::FNUZ:
    case Specials::Finite: return all;
  }
  return all;
}

uint64_t e8m0Bits(double value) {
  if (!(value > 0)) return value == 0 ? 0 : 0xFF;
  if (std::isinf(value)) return 0xFF;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  int biased = exponent - 1 + 127;
  if (fraction > 0.75 || (fraction == 0.75 && (biased & 1))) ++biased;
  if (biased < 0) return 0;
  return biased > 254 ? 0xFF : static_cast<uint64_t>(biased);
}

}  // namespace

uint32_t floatWidth(ElementKind kind) {
  const Format* f = formatOf(kind);
  if (!f) return 0;
  if (f->specials == Specials::E8M0) return 8;
  return 1 + f->exponentBits + f->mantissaBits + f->shift;
}

uint64_t floatToBits(double value, ElementKind kind) {
  if (kind == ElementKind::F64) return std::bit_cast<uint64_t>(value);
  const Format* f = formatOf(kind);
  if (!f) return 0;
  if (f->specials == Specials::E8M0) return e8m0Bits(value);

  const uint64_t signBit = uint64_t{1} << (f->exponentBits + f->mantissaBits);
  const uint64_t sign = std::signbit(value) ? signBit : 0;
  if (std::isnan(value)) return nanBits(*f, sign) << f->shift;

  uint64_t magnitude = 0;
  if (std::isinf(value)) {
    magnitude = maxFinite(*f) + 1;
  } else if (value != 0) {
    int exponent = 0;
    std::frexp(value, &exponent);
    int unbiased = exponent - 1;
    const int smallest = 1 - f->bias;
    if (unbiased < smallest) unbiased = smallest;  // subnormal: fixed quantum
    // Scaling by a power of two is exact; nearbyint rounds to nearest even.
    const double scaled =
        std::nearbyint(std::ldexp(std::fabs(value), static_cast<int>(f->mantissaBits) - unbiased));
    // A carry out of the mantissa moves into the exponent by itself.
    if (unbiased + f->bias > (1 << f->exponentBits))
      magnitude = maxFinite(*f) + 1;
    else
      magnitude = (static_cast<uint64_t>(unbiased + f->bias - 1) << f->mantissaBits) +
                  static_cast<uint64_t>(scaled);
  }
  if (magnitude > maxFinite(*f)) {
    if (f->specials == Specials::Finite) return (sign | maxFinite(*f)) << f->shift;
    if (f->specials != Specials::Ieee) return nanBits(*f, sign) << f->shift;
    magnitude = maxFinite(*f) + 1;  // infinity
  }
  if (f->specials == Specials::FNUZ && magnitude == 0) return 0;
  return (sign | magnitude) << f->shift;
}

double bitsToFloat(uint64_t bits, ElementKind kind) {
  if (kind == ElementKind::F64) return std::bit_cast<double>(bits);
  const Format* f = formatOf(kind);
  if (!f) return 0;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (f->specials == Specials::E8M0)
    return (bits & 0xFF) == 0xFF ? nan : std::ldexp(1.0, static_cast<int>(bits & 0xFF) - 127);

  bits >>= f->shift;
  const uint64_t signBit = uint64_t{1} << (f->exponentBits + f->mantissaBits);
  const uint64_t magnitude = bits & (signBit - 1);
  const double sign = (bits & signBit) ? -1.0 : 1.0;
  if (f->specials == Specials::FNUZ && (bits & signBit) && magnitude == 0) return nan;
  if (magnitude > maxFinite(*f)) {
    if (f->specials == Specials::Ieee && magnitude == maxFinite(*f) + 1)
      return sign * std::numeric_limits<double>::infinity();
    return nan;
  }
  const uint64_t mantissa = magnitude & ((uint64_t{1} << f->mantissaBits) - 1);
  const int exponent = static_cast<int>(magnitude >> f->mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(static_cast<double>(mantissa),
                             1 - f->bias - static_cast<int>(f->mantissaBits));
  return sign * std::ldexp(static_cast<double>(mantissa | (uint64_t{1} << f->mantissaBits)),
                           exponent - f->bias - static_cast<int>(f->mantissaBits));
}

}  // namespace tilesight::ir
