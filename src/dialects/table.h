// The operation tables: one row per operation, from one `.def` file per dialect. They drive the
// parser, the printer, the verifier and the operation lists in the docs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/format.h"

namespace tilesight::dialects {

enum class Arity : uint8_t { One, Optional, Variadic };

/// What a value's type may be. `like` accepts a tensor of it too.
enum class TypeClass : uint8_t {
  Any,
  Int,         // i1 ... i128
  Float,
  Numeric,     // Int or Float
  IntOrIndex,
  Pointer,     // !tt.ptr
  I1, I32, I64, Index,
  Tensor,      // any ranked tensor
  IntTensor, FloatTensor,
  Descriptor,  // !tt.tensordesc
  View,        // !tile.view
  Token,       // !ttg.async.token
};

struct ValueGroup {
  std::string name;
  Arity arity = Arity::One;
  TypeClass type = TypeClass::Any;
  bool like = false;  // scalar or tensor
};

enum class AttributeForm : uint8_t {
  Any, I32, I64, Bool, Unit, String, Symbol, Type, I32Array, I64Array, Enum, Flags, Dictionaries,
  Bits,  // an Enum whose cases may be joined by |
};

/// The names of an enumeration and the integers that the generic form writes for them.
struct EnumInfo {
  std::string name;
  uint32_t width = 32;  // of the integer attribute in generic form
  std::vector<std::pair<std::string, int64_t>> cases;
  const int64_t* value(std::string_view keyword) const;
  const std::string* keyword(int64_t value) const;
  /// The integer of keywords joined by |, or nullopt if one is unknown; and back ("" if unknown).
  std::optional<int64_t> bits(std::string_view keywords) const;
  std::string keywords(int64_t bits) const;
};

struct AttributeInfo {
  std::string name;
  AttributeForm form = AttributeForm::Any;
  const EnumInfo* enumeration = nullptr;  // Enum, Bits
  bool optional = false;                  // may be absent (an attribute with a default may, too)
  bool hasDefault = false;
  std::string defaultText;                // keyword, integer or true/false
  bool required() const { return !optional && !hasDefault && form != AttributeForm::Unit; }
};

/// How types follow from each other: target = function(source), both names of value groups.
enum class RuleKind : uint8_t {
  Same,     // equal types
  Pointee,  // the type that the pointer (or tensor of pointers) points to, same shape
  I1Like,   // i1 with the source's shape
  Element,  // the source's element type
  ElementPointer,  // pointer to an element of the tensor that the source points to
  SameShape,
  SameElement,
  SameCount,  // as many elements
};

struct TypeRule {
  RuleKind kind;
  std::string target, source;
};

enum class Trait : uint32_t {
  Pure = 1u << 0,
  Terminator = 1u << 1,
  Commutative = 1u << 2,
  Isolated = 1u << 3,     // its regions see no values from outside
  Function = 1u << 4,     // a function: sym_name, function_type, one region
  Call = 1u << 5,         // callee names a function
  Reads = 1u << 6,
  Writes = 1u << 7,
  Elementwise = 1u << 8,
  SingleBlock = 1u << 9,
  SegmentSizes = 1u << 10,      // generic form carries operandSegmentSizes
  EqualVariadics = 1u << 11,    // all variadic operand groups have the same size
  ImplicitYield = 1u << 12,     // an omitted terminator means an empty scf.yield
  NoTerminator = 1u << 13,      // blocks end without one (modules)
  Synchronizes = 1u << 14,
};

struct OpInfo {
  std::string name;      // "tt.load"
  std::string dialect;   // "tt"
  std::string format;    // as in the table; "generic" or "custom" where there is none
  std::string versions;  // releases of the compiler that write it, "" for all
  std::vector<ValueGroup> operands, results;
  std::vector<AttributeInfo> attributes;
  std::vector<std::string> regions, successors;
  std::vector<TypeRule> rules;
  std::vector<std::string> parents;  // allowed parent operations; empty for any
  uint32_t traits = 0;
  bool added = false;    // of a plugin's dialect, see added.h
  std::vector<FormatElement> elements;  // compiled format

  bool has(Trait trait) const { return traits & static_cast<uint32_t>(trait); }
  bool isCustom() const { return format == "custom"; }
  bool isGeneric() const { return format == "generic"; }
  const AttributeInfo* attribute(std::string_view key) const;
  /// Position of an operand or result group, or -1.
  int operandGroup(std::string_view group) const;
  int resultGroup(std::string_view group) const;
  /// True if some operand group is optional or variadic.
  bool hasSegments() const;
};

/// The row of an operation, of the core's tables or of a dialect that was added (added.h), or null if
/// no table has it.
const OpInfo* find(std::string_view name);

/// Every row of the core's tables, dialect by dialect, in their order.
const std::vector<OpInfo>& allOperations();

/// The attribute forms' enumerations, for docs.
const std::vector<EnumInfo>& allEnums();
/// One of them, or null.
const EnumInfo* findEnum(std::string_view name);

/// Fills `segments` with the size of each operand group, where the number of operands decides it:
/// optional groups are filled from the left, one variadic group takes the rest, or all variadic
/// groups share it equally (EqualVariadics). Leaves it empty if the operation has no such groups.
/// False if `count` operands cannot be distributed.
bool inferSegments(const OpInfo& info, size_t count, std::vector<uint32_t>& segments);

}  // namespace tilesight::dialects
