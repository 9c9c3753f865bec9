#include "foreign/libm.h"

#include "exec/kernels/kernels.h"

// <cmath> hides these, as the ISO standard has none of them.
extern "C" double __cdecl _j0(double), __cdecl _j1(double), __cdecl _jn(int, double);
extern "C" double __cdecl _y0(double), __cdecl _y1(double), __cdecl _yn(int, double);

namespace tilesight::foreign::libm {
namespace {

double kernel(exec::UnaryOp op, double x) {
  double out;
  exec::kernels().unary(op, ir::ElementKind::F64)(&out, &x, 1);
  return out;
}

}  // namespace

// The kernels need a processor with this instruction, too.
[[gnu::target("fma")]] float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
[[gnu::target("fma")]] double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

double sin(double x) { return kernel(exec::UnaryOp::Sin, x); }
double cos(double x) { return kernel(exec::UnaryOp::Cos, x); }
double tan(double x) { return sin(x) / cos(x); }

double j0(double x) { return _j0(x); }
double j1(double x) { return _j1(x); }
double jn(int order, double x) { return _jn(order, x); }
double y0(double x) { return _y0(x); }
double y1(double x) { return _y1(x); }
double yn(int order, double x) { return _yn(order, x); }

}  // namespace tilesight::foreign::libm
