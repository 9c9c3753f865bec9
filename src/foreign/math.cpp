#include "foreign/rows.h"

namespace tilesight::foreign {

namespace {

constexpr int None = -1;
using enum exec::UnaryOp;

}  // namespace

void addMath(std::vector<Function>& rows) {
  // Both widths under NVIDIA's names and under AMD's; AMD has none where the table says "".
  auto add = [&](Function wide, Function narrow, std::string_view amdWide, std::string_view amdNarrow) {
    rows.push_back(wide);
    rows.push_back(narrow);
    if (amdWide == "__ocml__f64") return;
    wide.symbol = amdWide;
    narrow.symbol = amdNarrow;
    rows.push_back(wide);
    rows.push_back(narrow);
  };
#define TS_MATH1(nvidia, ocml, kernel, expression, bound, source)                                           \
  {                                                                                                         \
    auto wide = [](f64 x) { return expression; };                                                           \
    auto narrow = [](f32 a) { f64 x = a; return f32(expression); };                                         \
    add(detail::row<f64, f64>("__nv_" nvidia, wide, int(kernel)),                                           \
        detail::row<f32, f32>("__nv_" nvidia "f", narrow, int(kernel)),                                     \
        "__ocml_" ocml "_f64", "__ocml_" ocml "_f32");                                                      \
  }
#define TS_MATH2(nvidia, ocml, expression, bound, source)                                                   \
  {                                                                                                         \
    auto wide = [](f64 x, f64 y) { return expression; };                                                    \
    auto narrow = [](f32 a, f32 b) { f64 x = a, y = b; return f32(expression); };                           \
    add(detail::row<f64, f64, f64>("__nv_" nvidia, wide),                                                   \
        detail::row<f32, f32, f32>("__nv_" nvidia "f", narrow),                                             \
        "__ocml_" ocml "_f64", "__ocml_" ocml "_f32");                                                      \
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
