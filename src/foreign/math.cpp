#include "foreign/rows.h"

namespace tilesight::foreign {

namespace {

constexpr int None = -1;
using enum exec::UnaryOp;

}  // namespace

void addMath(std::vector<Function>& rows) {
  auto amd = [](std::string_view name) { return !name.ends_with("__f32") && !name.ends_with("__f64"); };
  auto add = [&](Function row) {
    if (amd(row.symbol)) rows.push_back(row);
  };
#define TS_MATH1(nvidia, ocml, kernel, expression, bound, source)                                           \
  {                                                                                                         \
    auto wide = [](f64 x) { return expression; };                                                           \
    auto narrow = [](f32 a) { f64 x = a; return f32(expression); };                                         \
    Function w = detail::row<f64, f64>("__nv_" nvidia, wide, int(kernel));                                  \
    Function n = detail::row<f32, f32>("__nv_" nvidia "f", narrow, int(kernel));                            \
    rows.push_back(w);                                                                                      \
    rows.push_back(n);                                                                                      \
    w.symbol = "__ocml_" ocml "_f64";                                                                       \
    n.symbol = "__ocml_" ocml "_f32";                                                                       \
    add(w);                                                                                                 \
    add(n);                                                                                                 \
  }
#define TS_MATH2(nvidia, ocml, expression, bound, source)                                                   \
  {                                                                                                         \
    auto wide = [](f64 x, f64 y) { return expression; };                                                    \
    auto narrow = [](f32 a, f32 b) { f64 x = a, y = b; return f32(expression); };                           \
    Function w = detail::row<f64, f64, f64>("__nv_" nvidia, wide);                                          \
    Function n = detail::row<f32, f32, f32>("__nv_" nvidia "f", narrow);                                    \
    rows.push_back(w);                                                                                      \
    rows.push_back(n);                                                                                      \
    w.symbol = "__ocml_" ocml "_f64";                                                                       \
    n.symbol = "__ocml_" ocml "_f32";                                                                       \
    add(w);                                                                                                 \
    add(n);                                                                                                 \
  }
#define TS_MATH3(nvidia, ocml, expression, bound, source)                                                   \
  {                                                                                                         \
    auto wide = [](f64 x, f64 y, f64 z) { return expression; };                                             \
    auto narrow = [](f32 a, f32 b, f32 c) { f64 x = a, y = b, z = c; return f32(expression); };             \
    rows.push_back(detail::row<f64, f64, f64, f64>("__nv_" nvidia, wide));                                  \
    rows.push_back(detail::row<f32, f32, f32, f32>("__nv_" nvidia "f", narrow));                            \
  }
#define TS_FAST(symbol, arity, expression, bound, source) TS_FAST##arity(symbol, expression)
#define TS_FAST1(symbol, expression) \
  rows.push_back(detail::row<f32, f32>(symbol, [](f32 a) { f64 x = a; return f32(expression); }));
#define TS_FAST2(symbol, expression) \
  rows.push_back(detail::row<f32, f32, f32>(symbol, [](f32 a, f32 b) { f64 x = a, y = b; return f32(expression); }));
#include "foreign/math.def"
}

}  // namespace tilesight::foreign
