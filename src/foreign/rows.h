// How the tables of functions become code: a loop over n elements around each row's expression.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "exec/kernels/kernels.h"
#include "foreign/function.h"
#include "foreign/libm.h"
#include "foreign/scalar.h"
#include "foreign/special.h"

namespace tilesight::foreign {

/// The rows of one file, in the order of the table.
void addMath(std::vector<Function>& rows);
void addInteger(std::vector<Function>& rows);
void addRounding(std::vector<Function>& rows);

namespace detail {

template <typename T>
constexpr ir::ElementKind kindOf() {
  if constexpr (std::is_same_v<T, f32> || std::is_same_v<T, f32bits>) return ir::ElementKind::F32;
  else if constexpr (std::is_same_v<T, f64> || std::is_same_v<T, f64bits>) return ir::ElementKind::F64;
  else return sizeof(T) == 4 ? ir::ElementKind::I32 : ir::ElementKind::I64;
}

template <typename T>
T at(const void* in, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(in) + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

// A NaN that a function makes is the canonical one, as in exec/kernels.
template <typename R>
void put(void* out, size_t i, R value) {
  if constexpr (std::is_floating_point_v<R>) {
    if (value != value) value = std::numeric_limits<R>::quiet_NaN();
  }
  std::memcpy(static_cast<char*>(out) + i * sizeof(R), &value, sizeof(R));
}

template <typename R, typename... A, size_t... I, typename F>
void loop(void* out, const void* const* in, const int64_t* step, size_t n, F f, std::index_sequence<I...>) {
  for (size_t i = 0; i < n; ++i) put<R>(out, i, static_cast<R>(f(at<A>(in[I], int64_t(i) * step[I])...)));
}

template <typename R, typename... A, typename F>
Function row(std::string_view symbol, F, int unary = -1) {
  Function function;
  function.symbol = symbol;
  function.result = kindOf<R>();
  function.arity = sizeof...(A);
  int i = 0;
  ((function.arguments[i++] = kindOf<A>()), ...);
  function.evaluate = [](void* out, const void* const* in, const int64_t* step, size_t n) {
    loop<R, A...>(out, in, step, n, F{}, std::index_sequence_for<A...>{});
  };
  function.unary = unary;
  return function;
}

}  // namespace detail

#define TS_FUNCTION1(symbol, R, A, expression, bound, source) \
  rows.push_back(detail::row<R, A>(symbol, [](A a) { return expression; }));
#define TS_FUNCTION2(symbol, R, A, B, expression, bound, source) \
  rows.push_back(detail::row<R, A, B>(symbol, [](A a, B b) { return expression; }));
#define TS_FUNCTION3(symbol, R, A, B, C, expression, bound, source) \
  rows.push_back(detail::row<R, A, B, C>(symbol, [](A a, B b, C c) { return expression; }));
#define TS_FUNCTION4(symbol, R, A, B, C, D, expression, bound, source) \
  rows.push_back(detail::row<R, A, B, C, D>(symbol, [](A a, B b, C c, D d) { return expression; }));

}  // namespace tilesight::foreign
