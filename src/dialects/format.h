// Assembly formats: the declarative syntax of one operation, compiled from the table's string.
//
//   `literal`        a keyword or punctuation
//   $name            an operand group or an attribute
//   attr-dict        { attributes that the format does not name }; attr-dict-with-keyword
//   type($name)      its type or types; type(operands), type(results)
//   qualified(type($name))   the same, never abbreviated: where the table allows only pointers or
//                    only descriptors, type($name) drops the name: <f16> for !tt.ptr<f16>
//   functional-type(a, b)   `(types of a) -> types of b`
//   operands         all operands
//   ( ... $x^ ... )? present if $x is; the parser looks at the first element
//   oilist( a | b )  optional clauses in any order
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilesight::dialects {

struct OpInfo;

struct FormatElement {
  enum class Kind : uint8_t {
    Literal, Operand, Attribute, AttrDict, Type, FunctionalType, AllOperands, Optional, OrList,
  };
  Kind kind = Kind::Literal;
  std::string text;          // Literal; Operand, Attribute: name; Type: name, "operands", "results"
  std::string second;        // FunctionalType: the results
  int index = -1;            // Operand, Type of an operand: group; Attribute: attribute
  bool ofResult = false;     // Type: `index` is a result group
  bool abbreviated = false;  // Type: without the name of the type
  bool withKeyword = false;  // AttrDict
  std::vector<FormatElement> children;            // Optional
  std::vector<std::vector<FormatElement>> clauses;  // OrList
  int anchor = -1;           // Optional: child whose presence decides
};

/// Compiles `text` for `info` (whose groups and attributes are known). On a mistake in the table
/// returns its description, else an empty string.
std::string compileFormat(std::string_view text, const OpInfo& info,
                          std::vector<FormatElement>& elements);

}  // namespace tilesight::dialects
