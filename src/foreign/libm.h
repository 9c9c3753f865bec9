// The C library's functions of numbers: glibc's, and on Windows what mingw-w64's lack or get wrong.
#pragma once

#include <cmath>

namespace tilesight::foreign::libm {

#if defined(_WIN32)

// mingw-w64 rounds fma twice, and its sin, cos and tan (the x87's) know pi to 66 bits only: these are the
// processor's fma, which heeds the rounding mode, and the engine's kernels.
float fma(float x, float y, float z);
double fma(double x, double y, double z);
double sin(double x);
double cos(double x);
double tan(double x);

inline double exp10(double x) { return std::pow(10.0, x); }
double j0(double x);
double j1(double x);
double jn(int order, double x);
double y0(double x);
double y1(double x);
double yn(int order, double x);

#else

using std::cos;
using std::fma;
using std::sin;
using std::tan;
using ::exp10;
using ::j0;
using ::j1;
using ::jn;
using ::y0;
using ::y1;
using ::yn;

#endif

}  // namespace tilesight::foreign::libm
