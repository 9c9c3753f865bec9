// What the tables' type rules mean for actual types.
#pragma once

#include <string>

#include "dialects/table.h"
#include "ir/context.h"
#include "ir/type.h"

namespace tilesight::ir {

/// The type that `kind` derives from `source`; no type if it derives none (a shape rule, or a
/// source of the wrong kind).
Type deriveType(Context& context, dialects::RuleKind kind, Type source);

/// True if `type` is of the class, and scalar unless the group accepts tensors.
bool isOfClass(Type type, const dialects::ValueGroup& group);

/// The class in words, for messages: "a pointer or a tensor of pointers".
std::string describe(const dialects::ValueGroup& group);

/// The one type of a class that has only one (i1, i32, i64, index); no type for others.
Type onlyType(Context& context, const dialects::ValueGroup& group);

}  // namespace tilesight::ir
