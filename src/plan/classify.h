// Which instruction a common operation becomes.
#pragma once

#include <optional>

#include "plan/plan.h"

namespace tilesight::plan {

struct Class {
  Opcode op;
  uint8_t sub = 0, flag = 0;
  int64_t immediate = 0;
  bool pure = true;  // no memory, no control: may be hoisted and dropped
};

/// Nothing for operations that are control flow (handled by the builder). Unsupported ones give
/// Opcode::Unsupported; cannotExecute() says why.
std::optional<Class> classify(const ir::Operation& op);

/// Kinds of atomic read-modify-write, in the order of Triton's enum.
enum class RmwKind : uint8_t { And = 1, Or, Xor, Add, FAdd, Max, Min, UMax, UMin, Xchg, Inc, Dec };

}  // namespace tilesight::plan
