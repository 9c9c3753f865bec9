// Integer constants: scalars, and tensors of equal elements.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/context.h"
#include "ir/operation.h"

namespace tilesight::passes {

/// The value of a constant integer or index, or of every element of a tensor of equal ones, sign-extended.
std::optional<int64_t> constantInteger(const ir::Value* value);

/// Also seen through splats, broadcasts, reshapes and the like.
std::optional<int64_t> splatInteger(const ir::Value* value);

/// `value` as an attribute of `type`: an integer, an index, or a tensor of them. Null for other types.
ir::Attribute integerConstant(ir::Context& context, ir::Type type, int64_t value);

/// Bits of an integer type (64 for index); 0 for others. Of the element of a tensor.
uint32_t integerWidth(ir::Type type);

/// `value` cut to `width` bits and sign-extended.
int64_t wrapped(int64_t value, uint32_t width);

}  // namespace tilesight::passes
