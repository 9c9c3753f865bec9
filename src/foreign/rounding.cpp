// Compiled with -frounding-math: the rounding is switched around an operation.
#include "foreign/rows.h"

namespace tilesight::foreign {

void addRounding(std::vector<Function>& rows) {
// Volatile operands: the operation is done at run time, between the two switches.
#define TS_DIRECTION1(symbol, R, A, expression, rounding)                              \
  rows.push_back(detail::row<R, A>(symbol, [](A a_) {                                  \
    volatile A a = a_;                                                                 \
    return rounded(rounding, [&] { return R(expression); });                           \
  }));
#define TS_DIRECTION2(symbol, R, A, B, expression, rounding)                           \
  rows.push_back(detail::row<R, A, B>(symbol, [](A a_, B b_) {                         \
    volatile A a = a_;                                                                 \
    volatile B b = b_;                                                                 \
    return rounded(rounding, [&] { return R(expression); });                           \
  }));
#define TS_DIRECTION3(symbol, R, A, B, C, expression, rounding)                        \
  rows.push_back(detail::row<R, A, B, C>(symbol, [](A a_, B b_, C c_) {                \
    volatile A a = a_;                                                                 \
    volatile B b = b_;                                                                 \
    volatile C c = c_;                                                                 \
    return rounded(rounding, [&] { return R(expression); });                           \
  }));
#define TS_ROUNDED1(stem, R, A, expression)                           \
  TS_DIRECTION1(stem "_rn", R, A, expression, Rounding::Nearest)      \
  TS_DIRECTION1(stem "_rz", R, A, expression, Rounding::Zero)         \
  TS_DIRECTION1(stem "_rd", R, A, expression, Rounding::Down)         \
  TS_DIRECTION1(stem "_ru", R, A, expression, Rounding::Up)
#define TS_ROUNDED2(stem, R, A, B, expression)                        \
  TS_DIRECTION2(stem "_rn", R, A, B, expression, Rounding::Nearest)   \
  TS_DIRECTION2(stem "_rz", R, A, B, expression, Rounding::Zero)      \
  TS_DIRECTION2(stem "_rd", R, A, B, expression, Rounding::Down)      \
  TS_DIRECTION2(stem "_ru", R, A, B, expression, Rounding::Up)
#define TS_ROUNDED3(stem, R, A, B, C, expression)                       \
  TS_DIRECTION3(stem "_rn", R, A, B, C, expression, Rounding::Nearest)  \
  TS_DIRECTION3(stem "_rz", R, A, B, C, expression, Rounding::Zero)     \
  TS_DIRECTION3(stem "_rd", R, A, B, C, expression, Rounding::Down)     \
  TS_DIRECTION3(stem "_ru", R, A, B, C, expression, Rounding::Up)
#define TS_TO_INTEGER(stem, R, A)                                                                      \
  rows.push_back(detail::row<R, A>(stem "_rn", [](A a) { return integerOf<R>(a, Rounding::Nearest); })); \
  rows.push_back(detail::row<R, A>(stem "_rz", [](A a) { return integerOf<R>(a, Rounding::Zero); }));  \
  rows.push_back(detail::row<R, A>(stem "_rd", [](A a) { return integerOf<R>(a, Rounding::Down); }));  \
  rows.push_back(detail::row<R, A>(stem "_ru", [](A a) { return integerOf<R>(a, Rounding::Up); }));
#include "foreign/rounding.def"
}

}  // namespace tilesight::foreign
