// Integer arithmetic of one element; T is an unsigned type, of the element's width.
#pragma once

#include <type_traits>

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

template <class T> using Signed = std::make_signed_t<T>;
/// Arithmetic is done in at least 32 bits, unsigned, so that promotion to int cannot overflow.
template <class T> using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
template <class T> inline constexpr unsigned kBitsOf = 8 * sizeof(T);

struct Commuting { static constexpr bool kCommutes = true; };
struct Ordered { static constexpr bool kCommutes = false; };

struct AddI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return T(Wide<T>(a) + Wide<T>(b)); } };
struct SubI : Ordered { template <class T> TS_INLINE static T apply(T a, T b) { return T(Wide<T>(a) - Wide<T>(b)); } };
struct MulI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return T(Wide<T>(a) * Wide<T>(b)); } };
struct AndI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return T(a & b); } };
struct OrI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return T(a | b); } };
struct XorI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return T(a ^ b); } };
struct MinSI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return Signed<T>(a) < Signed<T>(b) ? a : b; } };
struct MaxSI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return Signed<T>(a) > Signed<T>(b) ? a : b; } };
struct MinUI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return a < b ? a : b; } };
struct MaxUI : Commuting { template <class T> TS_INLINE static T apply(T a, T b) { return a > b ? a : b; } };

struct MulHiUI : Commuting {
  template <class T> TS_INLINE static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) return T((static_cast<unsigned __int128>(a) * b) >> 64);
    else return T((uint64_t(a) * uint64_t(b)) >> kBitsOf<T>);
  }
};

struct ShlI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    const Wide<T> amount = b & (kBitsOf<Wide<T>> - 1);
    const T shifted = T(Wide<T>(a) << amount);
    return b < kBitsOf<T> ? shifted : T(0);
  }
};
struct ShrUI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    const Wide<T> amount = b & (kBitsOf<Wide<T>> - 1);
    const T shifted = T(Wide<T>(a) >> amount);
    return b < kBitsOf<T> ? shifted : T(0);
  }
};
struct ShrSI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    const Wide<T> amount = b < kBitsOf<T> ? Wide<T>(b) : Wide<T>(kBitsOf<T> - 1);
    return T(Signed<Wide<T>>(Signed<T>(a)) >> amount);
  }
};

// Quotients of up to 32 bits go through floating point, which vectorises: with b <= 2^w, a quotient
// that is no integer stays at least 2^-w (relative) below the next one, more than one rounding.
template <class T> using Real = std::conditional_t<(sizeof(T) <= 2), float, double>;

struct DivUI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      return b == 0 ? 0 : a / b;
    } else {
      using Int = std::conditional_t<(sizeof(T) <= 2), int32_t, int64_t>;
      const T divisor = b == 0 ? T(1) : b;
      const T quotient = T(Int(Real<T>(a) / Real<T>(divisor)));
      return b == 0 ? T(0) : quotient;
    }
  }
};
struct DivSI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    const T negated = T(0 - Wide<T>(a));  // a / -1, with the wrap of the smallest value
    const bool special = b == 0 || b == T(-1);
    const T divisor = special ? T(1) : b;
    const T forSpecial = b == 0 ? T(0) : negated;
    if constexpr (sizeof(T) == 8) {
      return special ? forSpecial : T(Signed<T>(a) / Signed<T>(divisor));
    } else {
      const T quotient = T(int32_t(Real<T>(Signed<T>(a)) / Real<T>(Signed<T>(divisor))));
      return special ? forSpecial : quotient;
    }
  }
};
struct RemUI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    const T remainder = T(Wide<T>(a) - Wide<T>(DivUI::apply(a, b)) * Wide<T>(b));
    return b == 0 ? T(0) : remainder;
  }
};
struct RemSI : Ordered {
  template <class T> TS_INLINE static T apply(T a, T b) {
    const T remainder = T(Wide<T>(a) - Wide<T>(DivSI::apply(a, b)) * Wide<T>(b));
    return b == 0 ? T(0) : remainder;
  }
};

// What the operations above become on i1 (bytes 0 and 1; the signed value of 1 is -1).
struct AndNotBit : Ordered { TS_INLINE static uint8_t apply(uint8_t a, uint8_t b) { return a & uint8_t(~b); } };
struct FirstBit : Ordered { TS_INLINE static uint8_t apply(uint8_t a, uint8_t) { return a; } };
struct ZeroBit : Commuting { TS_INLINE static uint8_t apply(uint8_t, uint8_t) { return 0; } };

TS_ISA_END
