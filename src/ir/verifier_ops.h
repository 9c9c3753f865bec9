// Rules of single operations that the tables cannot say: shapes, regions, symbols.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/operation.h"

namespace tilesight::ir {

/// Functions of a module by symbol name.
using SymbolTable = std::unordered_map<std::string_view, const Operation*>;

/// What is wrong with `op`, or an empty string. Counts, attributes and type rules of the table hold
/// already.
std::string verifyOperation(const Operation& op, const SymbolTable& symbols);

}  // namespace tilesight::ir
