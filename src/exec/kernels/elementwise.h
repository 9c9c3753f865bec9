// The loops of the three operand forms, over an operation given as a struct with
// `static Out apply(In a, In b)` and `kCommutes`. They are not inlined: what runs them block by block
// (narrow.h) would multiply the code.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

template <class Op, class In, class Out>
struct Loops {
  [[gnu::noinline]] static void vv(void* out, const void* a, const void* b, size_t n) {
    Out* o = static_cast<Out*>(out);
    const In* x = static_cast<const In*>(a);
    const In* y = static_cast<const In*>(b);
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) o[i] = Op::apply(x[i], y[i]);
  }
  [[gnu::noinline]] static void vs(void* out, const void* a, const void* b, size_t n) {
    Out* o = static_cast<Out*>(out);
    const In* x = static_cast<const In*>(a);
    const In y = *static_cast<const In*>(b);
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) o[i] = Op::apply(x[i], y);
  }
  [[gnu::noinline]] static void sv(void* out, const void* a, const void* b, size_t n) {
    if constexpr (Op::kCommutes) {
      vs(out, b, a, n);
    } else {
      Out* o = static_cast<Out*>(out);
      const In x = *static_cast<const In*>(a);
      const In* y = static_cast<const In*>(b);
      TS_VECTOR_LOOP
      for (size_t i = 0; i < n; ++i) o[i] = Op::apply(x, y[i]);
    }
  }
  static constexpr BinaryForms forms() { return {vv, vs, sv}; }
};

/// A loop over an operation `static Out apply(In)`.
template <class Op, class In, class Out>
[[gnu::noinline]] void unaryLoop(void* out, const void* a, size_t n) {
  Out* o = static_cast<Out*>(out);
  const In* x = static_cast<const In*>(a);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) o[i] = Op::apply(x[i]);
}

TS_ISA_END
