// The definitions the kernels are tested against, one element at a time and written for clarity:
// integers in __int128, floats as exact long doubles or by searching all codes of a format.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "support.h"

namespace tilesight::exec::reference {

using Int = __int128;

inline unsigned widthOf(ElementKind kind) { return kind == ElementKind::I1 ? 1 : 8 * bytesOf(kind); }
inline uint64_t maskOf(ElementKind kind) {
  return widthOf(kind) == 64 ? ~uint64_t(0) : (uint64_t(1) << widthOf(kind)) - 1;
}
inline Int asUnsigned(ElementKind kind, uint64_t bits) { return Int(bits & maskOf(kind)); }
inline Int asSigned(ElementKind kind, uint64_t bits) {
  const Int value = asUnsigned(kind, bits);
  return value >> (widthOf(kind) - 1) ? value - (Int(1) << widthOf(kind)) : value;
}

inline uint64_t binaryInt(BinaryOp op, ElementKind kind, uint64_t aBits, uint64_t bBits) {
  const Int a = asSigned(kind, aBits), b = asSigned(kind, bBits);
  const Int ua = asUnsigned(kind, aBits), ub = asUnsigned(kind, bBits);
  const unsigned width = widthOf(kind);
  const auto result = [&]() -> Int {
    switch (op) {
      case BinaryOp::AddI: return a + b;
      case BinaryOp::SubI: return a - b;
      case BinaryOp::MulI: return a * b;
      case BinaryOp::DivS: return b == 0 ? 0 : a / b;
      case BinaryOp::DivU: return ub == 0 ? 0 : ua / ub;
      case BinaryOp::RemS: return b == 0 ? 0 : a % b;
      case BinaryOp::RemU: return ub == 0 ? 0 : ua % ub;
      case BinaryOp::And: return ua & ub;
      case BinaryOp::Or: return ua | ub;
      case BinaryOp::Xor: return ua ^ ub;
      case BinaryOp::Shl: return ub >= width ? 0 : ua << unsigned(ub);
      case BinaryOp::ShrS: return ub >= width ? (a < 0 ? -1 : 0) : a >> unsigned(ub);
      case BinaryOp::ShrU: return ub >= width ? 0 : ua >> unsigned(ub);
      case BinaryOp::MinS: return a < b ? a : b;
      case BinaryOp::MaxS: return a > b ? a : b;
      case BinaryOp::MinU: return ua < ub ? ua : ub;
      case BinaryOp::MaxU: return ua > ub ? ua : ub;
      case BinaryOp::MulHiU: return Int((static_cast<unsigned __int128>(ua) * static_cast<unsigned __int128>(ub)) >> width);
      default: ADD_FAILURE() << "no integer operation"; return 0;
    }
  }();
  return uint64_t(result) & maskOf(kind);
}

inline bool compareInt(CmpIOp op, ElementKind kind, uint64_t aBits, uint64_t bBits) {
  const Int a = asSigned(kind, aBits), b = asSigned(kind, bBits);
  const Int ua = asUnsigned(kind, aBits), ub = asUnsigned(kind, bBits);
  switch (op) {
    case CmpIOp::Eq: return a == b;
    case CmpIOp::Ne: return a != b;
    case CmpIOp::Slt: return a < b;
    case CmpIOp::Sle: return a <= b;
    case CmpIOp::Sgt: return a > b;
    case CmpIOp::Sge: return a >= b;
    case CmpIOp::Ult: return ua < ub;
    case CmpIOp::Ule: return ua <= ub;
    case CmpIOp::Ugt: return ua > ub;
    case CmpIOp::Uge: return ua >= ub;
  }
  return false;
}

// ---- float formats -------------------------------------------------------------------------------

struct FloatFormat {
  int exponentBits, mantissaBits, bias;
  enum Specials { Ieee, Finite, Fnuz } specials;
  int width() const { return 1 + exponentBits + mantissaBits; }
  bool isFp8() const { return width() == 8; }
};

inline FloatFormat formatOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::F16: return {5, 10, 15, FloatFormat::Ieee};
    case ElementKind::BF16: return {8, 7, 127, FloatFormat::Ieee};
    case ElementKind::F32: return {8, 23, 127, FloatFormat::Ieee};
    case ElementKind::F64: return {11, 52, 1023, FloatFormat::Ieee};
    case ElementKind::F8E4M3FN: return {4, 3, 7, FloatFormat::Finite};
    case ElementKind::F8E5M2: return {5, 2, 15, FloatFormat::Ieee};
    case ElementKind::F8E4M3FNUZ: return {4, 3, 8, FloatFormat::Fnuz};
    case ElementKind::F8E5M2FNUZ: return {5, 2, 16, FloatFormat::Fnuz};
    case ElementKind::F8E4M3B11FNUZ: return {4, 3, 11, FloatFormat::Fnuz};
    default: ADD_FAILURE() << "no float kind"; return {};
  }
}

/// The value of a code; exact in long double (64 bits of mantissa).
inline long double decode(ElementKind kind, uint64_t code) {
  const FloatFormat f = formatOf(kind);
  const uint64_t sign = code >> (f.width() - 1) & 1;
  const uint64_t exponent = code >> f.mantissaBits & ((uint64_t(1) << f.exponentBits) - 1);
  const uint64_t mantissa = code & ((uint64_t(1) << f.mantissaBits) - 1);
  const uint64_t top = (uint64_t(1) << f.exponentBits) - 1;
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  if (f.specials == FloatFormat::Fnuz && code == uint64_t(1) << (f.width() - 1)) return nan;
  if (f.specials == FloatFormat::Finite && exponent == top && mantissa == (uint64_t(1) << f.mantissaBits) - 1) return nan;
  if (f.specials == FloatFormat::Ieee && exponent == top) {
    if (mantissa != 0) return nan;
    return sign ? -std::numeric_limits<long double>::infinity() : std::numeric_limits<long double>::infinity();
  }
  const long double magnitude =
      exponent == 0 ? std::ldexp((long double)mantissa, 1 - f.bias - f.mantissaBits)
                    : std::ldexp((long double)(mantissa | uint64_t(1) << f.mantissaBits), int(exponent) - f.bias - f.mantissaBits);
  return sign ? -magnitude : magnitude;
}

inline uint64_t canonicalNaN(ElementKind kind) {
  const FloatFormat f = formatOf(kind);
  if (f.specials == FloatFormat::Fnuz) return uint64_t(1) << (f.width() - 1);
  if (f.specials == FloatFormat::Finite) return (uint64_t(1) << (f.width() - 1)) - 1;
  return ((uint64_t(1) << (f.exponentBits + 1)) - 1) << (f.mantissaBits - 1);
}

/// The code of an exact value, rounded to nearest even or toward zero.
inline uint64_t encode(ElementKind kind, long double value, bool towardZero = false) {
  const FloatFormat f = formatOf(kind);
  if (std::isnan(value)) return canonicalNaN(kind);
  const uint64_t signBit = uint64_t(1) << (f.width() - 1);
  const uint64_t top = ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
  const uint64_t largest = f.specials == FloatFormat::Ieee ? top - 1 : f.specials == FloatFormat::Finite ? signBit - 2 : signBit - 1;
  const uint64_t sign = std::signbit(value) ? signBit : 0;
  const long double magnitude = std::fabs(value);
  uint64_t code;
  if (std::isinf(magnitude)) {
    code = f.isFp8() ? largest : top;
  } else {
    // Codes of positive numbers are in order: the largest one not above the value, by bisection.
    uint64_t low = 0, high = largest;
    while (low < high) {
      const uint64_t middle = low + (high - low + 1) / 2;
      if (decode(kind, middle) <= magnitude) low = middle;
      else high = middle - 1;
    }
    code = low;
    if (!towardZero && decode(kind, code) != magnitude) {
      if (code < largest) {
        // Differences of neighbours and a value between them are exact in long double for all kinds
        // but f64, whose values come from integers or f64 arithmetic with room to spare.
        const long double below = magnitude - decode(kind, code), above = decode(kind, code + 1) - magnitude;
        if (above < below || (above == below && (code & 1))) ++code;
      } else if (!f.isFp8()) {
        // Beyond the largest: as if the exponent went on.
        const long double step = decode(kind, largest) - decode(kind, largest - 1);
        if (magnitude - decode(kind, largest) >= step / 2) code = top;
      }
    }
  }
  if (f.specials == FloatFormat::Fnuz && code == 0) return 0;
  return code | sign;
}

}  // namespace tilesight::exec::reference
