// Arithmetic of one element that device libraries and PTX share.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tilesight::foreign {

using i32 = int32_t;
using i64 = int64_t;
using u32 = uint32_t;
using u64 = uint64_t;
__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;
using f32 = float;
using f64 = double;
// Results that are moved, not computed: NaNs keep their bits.
struct f32bits { u32 bits; };
struct f64bits { u64 bits; };

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

inline constexpr int environment(Rounding rounding) {
  switch (rounding) {
    case Rounding::Zero: return FE_TOWARDZERO;
    case Rounding::Down: return FE_DOWNWARD;
    case Rounding::Up: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

/// Evaluates `f` with a rounding. The caller's file is compiled with -frounding-math, and its operands
/// are volatile, so that nothing moves out of the two switches.
template <typename F>
auto rounded(Rounding rounding, F&& f) {
  if (rounding == Rounding::Nearest) return f();
  std::fesetround(environment(rounding));
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return static_cast<std::remove_volatile_t<decltype(result)>>(result);
}

/// A float without fraction, by a rounding. Exact.
template <typename T>
T toWhole(T x, Rounding rounding) {
  switch (rounding) {
    case Rounding::Zero: return std::trunc(x);
    case Rounding::Down: return std::floor(x);
    case Rounding::Up: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

/// PTX's cvt from float to integer: rounds, then the nearest value that fits. NaN gives 0, or only the
/// top bit if the source is f64 or the target has 64 bits.
template <typename To, typename From>
To integerOf(From x, Rounding rounding) {
  if (std::isnan(x))
    return std::is_same_v<From, f64> || sizeof(To) == 8 ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
  f64 whole = toWhole(f64(x), rounding);
  // The limits are powers of two, minus one at the top: compare with the power, which f64 holds.
  f64 low = std::is_signed_v<To> ? -std::ldexp(1.0, 8 * sizeof(To) - 1) : 0.0;
  f64 top = std::ldexp(1.0, 8 * sizeof(To) - (std::is_signed_v<To> ? 1 : 0));
  if (whole < low) return std::numeric_limits<To>::min();
  if (whole >= top) return std::numeric_limits<To>::max();
  return static_cast<To>(whole);
}
template <typename To, typename From, Rounding R>
To toInteger(From x) {
  return integerOf<To>(x, R);
}

template <typename T>
T reverseBits(T x) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i, x >>= 1) result = T(result << 1) | (x & 1);
  return result;
}

/// prmt.b32: byte i of the result is byte (selector nibble i & 7) of b:a, or its sign spread if bit 3 is set.
inline u32 bytePermute(u32 a, u32 b, u32 selector) {
  u64 bytes = u64(b) << 32 | a;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    u32 nibble = selector >> (4 * i) & 0xf;
    u32 byte = bytes >> (8 * (nibble & 7)) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

inline i64 signed24(u32 x) { return i32(x << 8) >> 8; }

template <typename T>
i32 exponentOf(T x) {
  if (std::isnan(x) || x == 0) return std::numeric_limits<i32>::min();
  if (std::isinf(x)) return std::numeric_limits<i32>::max();
  return std::ilogb(x);
}

}  // namespace tilesight::foreign
