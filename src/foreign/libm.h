// What glibc's libm has beyond the C++ standard and Windows has under other names or not at all.
#pragma once

#include <cmath>

namespace tilesight::foreign {

#if defined(_WIN32)
// <cmath> hides these, as the ISO standard has none of them.
extern "C" double __cdecl _j0(double), __cdecl _j1(double), __cdecl _jn(int, double);
extern "C" double __cdecl _y0(double), __cdecl _y1(double), __cdecl _yn(int, double);

inline double exp10(double x) { return std::pow(10.0, x); }
inline double besselJ0(double x) { return _j0(x); }
inline double besselJ1(double x) { return _j1(x); }
inline double besselJ(int order, double x) { return _jn(order, x); }
inline double besselY0(double x) { return _y0(x); }
inline double besselY1(double x) { return _y1(x); }
inline double besselY(int order, double x) { return _yn(order, x); }
#else
using ::exp10;
inline double besselJ0(double x) { return ::j0(x); }
inline double besselJ1(double x) { return ::j1(x); }
inline double besselJ(int order, double x) { return ::jn(order, x); }
inline double besselY0(double x) { return ::y0(x); }
inline double besselY1(double x) { return ::y1(x); }
inline double besselY(int order, double x) { return ::yn(order, x); }
#endif

}  // namespace tilesight::foreign
