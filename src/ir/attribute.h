// Attributes: interned, compared by pointer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/type.h"

namespace tilesight::ir {

struct AttributeStorage;

enum class AttributeKind : uint8_t {
  Unit,
  Bool,
  Integer,        // value : type
  Float,          // bits in the format of `type`
  String,
  Array,          // [a, b]
  Dictionary,     // {k = v}
  DenseElements,  // dense<...> : tensor<...>; `data` raw little-endian elements, one if splat
  DenseArray,     // array<i32: 1, 0>; `integers` (or `data` for floats), `type` the element type
  Symbol,         // @name; a nested @a::@b is Opaque
  TypeValue,      // a type
  Keyword,        // an enum written bare in a custom format (x, tf32, acq_rel, slt)
  Opaque,         // #dialect.attr<...> and anything else, as written (aliases resolved to text)
};

using NamedAttribute = std::pair<std::string, class Attribute>;

class Attribute {
 public:
  Attribute() = default;
  explicit Attribute(const AttributeStorage* storage) : storage_(storage) {}
  explicit operator bool() const { return storage_ != nullptr; }
  bool operator==(const Attribute& other) const = default;
  const AttributeStorage* operator->() const { return storage_; }

  AttributeKind kind() const;
  /// The integer of a Bool or Integer attribute; nullopt for others.
  std::optional<int64_t> asInteger() const;
  /// The text of a String, Keyword or Symbol attribute; empty for others.
  std::string_view asString() const;
  std::string str() const;

  const AttributeStorage* raw() const { return storage_; }

 private:
  const AttributeStorage* storage_ = nullptr;
};

struct AttributeStorage {
  AttributeKind kind = AttributeKind::Unit;
  int64_t integer = 0;            // Bool, Integer (sign-extended)
  uint64_t bits = 0;              // Float: the bit pattern in `type`'s format
  Type type;                      // Integer, Float, DenseElements (the tensor type), DenseArray
  bool splat = false;             // DenseElements: `data` holds one element
  std::string text;               // String (unescaped), Symbol (without @), Keyword, Opaque
  std::string data;               // DenseElements: raw bytes; i1 is one byte per element
  std::vector<int64_t> integers;  // DenseArray of integers
  std::vector<Attribute> elements;        // Array
  std::vector<NamedAttribute> entries;    // Dictionary
};

/// Bytes that one element takes in DenseElements data: i1 and i4 take one, f4 one, index eight;
/// 0 if there is no such data.
uint32_t denseElementBytes(Type element);

/// `key = value`, or `key` alone for a unit attribute.
std::string namedAttributeText(const NamedAttribute& entry);

}  // namespace tilesight::ir
