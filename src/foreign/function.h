// The functions of device libraries that kernels call by name: NVIDIA's libdevice (`__nv_*`) and AMD's
// (`__ocml_*`, `__ockl_*`, `__triton_hip_*`), as Triton's own language.extra declares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/type.h"

namespace tilesight::foreign {

inline constexpr int kMaxArguments = 4;

/// Evaluates n elements: out[i] = f(in[0][i * step[0]], in[1][i * step[1]], ..). Steps are 0 (one
/// element for all) or 1, in elements. Spans do not overlap.
using Evaluate = void (*)(void* out, const void* const* in, const int64_t* step, size_t n);

struct Function {
  std::string_view symbol;
  ir::ElementKind result = ir::ElementKind::Invalid;
  int arity = 0;
  ir::ElementKind arguments[kMaxArguments] = {};
  Evaluate evaluate = nullptr;
  /// The exec::UnaryOp whose vector kernel computes the same function, or -1.
  int unary = -1;
};

/// The function of this name whose arguments have these kinds (integers are signless); null if there is
/// none. Some names are overloaded (`__triton_hip_iabs`).
const Function* find(std::string_view symbol, std::span<const ir::ElementKind> arguments);
/// Is there any function of this name?
bool known(std::string_view symbol);
/// The index of a function in all(), and the table itself.
std::span<const Function> all();

}  // namespace tilesight::foreign
