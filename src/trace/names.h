// What users call a value, and where it stands in their source.
#pragma once

#include <string>

#include "ir/operation.h"

namespace tilesight::trace {

/// The variable of an assignment whose value this is, or one that went into it: "qk"; "" if it has no name.
/// Arguments of loops are what the loop carries, results of loops and branches likewise.
std::string variableName(const ir::Value& value);

/// Triton gives the variable's name to all values of `p = exp(qk - m[:, None])`. Is this one on the way to the variable only:
/// is another value of that name made of it, in the same line?
bool isPartOfVariable(const ir::Value& value);

/// "%qk_43" as the text has it; "" where the text has a number.
std::string ssaName(const ir::Value& value);

struct SourceLine {
  std::string file;
  uint32_t line = 0, column = 0;
};
/// Of the operation that makes the value, or of the argument. Text without locations: the line of the text, in
/// `textName`.
SourceLine placeOf(const ir::Operation& op, const std::string& textName);
SourceLine placeOf(const ir::Value& value, const ir::Operation& holder, const std::string& textName);

}  // namespace tilesight::trace
