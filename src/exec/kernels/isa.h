// Everything under this folder but kernels.cpp is compiled once per instruction set, each time in a
// namespace of its own (TS_ISA: v3, v4, a64, set by CMake). Nothing inline may live outside that
// namespace: the linker keeps one copy of it, and it could be one that the machine cannot run. For the
// same reason these files use builtins where <algorithm> and <cmath> would bring such functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/kernels/kernels.h"

#ifndef TS_ISA
#error "TS_ISA must name the instruction set's namespace"
#endif

#define TS_ISA_BEGIN namespace tilesight::exec::TS_ISA {
#define TS_ISA_END }

// The spans of one kernel call are equal or do not overlap, so iterations are independent. (clang, used
// for sanitizer builds, checks for overlap at run time instead.)
#if defined(__clang__)
#define TS_VECTOR_LOOP
#define TS_UNROLL _Pragma("unroll")
#define TS_NO_UNROLL
#else
#define TS_VECTOR_LOOP _Pragma("GCC ivdep")
#define TS_UNROLL _Pragma("GCC unroll 32")
#define TS_NO_UNROLL _Pragma("GCC unroll 1")
#endif
#define TS_INLINE [[gnu::always_inline]] inline

TS_ISA_BEGIN

template <class To, class From>
TS_INLINE constexpr To bitCast(From value) {
  return __builtin_bit_cast(To, value);
}

/// Bit pattern type of a float type.
template <class T> struct BitsOf;
template <> struct BitsOf<float> { using Type = uint32_t; static constexpr uint32_t kSign = 0x80000000u, kNaN = 0x7fc00000u; };
template <> struct BitsOf<double> { using Type = uint64_t; static constexpr uint64_t kSign = 0x8000000000000000u, kNaN = 0x7ff8000000000000u; };
template <class T> using Bits = typename BitsOf<T>::Type;

/// The one NaN that operations produce (positive, quiet, empty payload): what the hardware would
/// propagate differs between instruction sets.
template <class T>
TS_INLINE constexpr T quietNaN() { return bitCast<T>(BitsOf<T>::kNaN); }
template <class T>
TS_INLINE T canonical(T x) { return x == x ? x : quietNaN<T>(); }

TS_INLINE float fusedMultiplyAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TS_INLINE double fusedMultiplyAdd(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <class T>
TS_INLINE T absolute(T x) { return bitCast<T>(static_cast<Bits<T>>(bitCast<Bits<T>>(x) & ~BitsOf<T>::kSign)); }
/// |magnitude| with the sign of `sign`.
template <class T>
TS_INLINE T withSign(T magnitude, T sign) {
  return bitCast<T>(static_cast<Bits<T>>((bitCast<Bits<T>>(magnitude) & ~BitsOf<T>::kSign) |
                                         (bitCast<Bits<T>>(sign) & BitsOf<T>::kSign)));
}

constexpr size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

TS_ISA_END
