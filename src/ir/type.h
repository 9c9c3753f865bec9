// Types: interned, compared by pointer. A default-constructed Type is "no type".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesight::ir {

class Context;
class Attribute;
struct TypeStorage;

enum class TypeKind : uint8_t {
  Integer,     // i1 .. i128; si8, ui32 with `signedness`
  Float,       // see ElementKind
  Index,       // builtin index
  Pointer,     // !tt.ptr<element[, addressSpace]>, a number (up to 3.8) or its name in quotes
  Tensor,      // tensor<shape x element[, encoding]>, 0-D included
  Descriptor,  // !tt.tensordesc<...>: block shape and element; `text` keeps the spelling form
  View,        // !tile.view<...>: the common IR's descriptor or block pointer
  Function,    // (inputs) -> results
  None,
  Opaque,      // anything else, kept as the text it was written in
};

/// What one element is, for storage and arithmetic. Values are stable: they are part of the
/// client table in include/tilesight/client.h and of bundles.
enum class ElementKind : uint8_t {
  Invalid = 0,
  I1, I4, I8, I16, I32, I64, I128,
  F16, BF16, F32, F64, TF32,
  F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B11FNUZ, F8E8M0FNU, F4E2M1FN,
  Pointer,  // a 64-bit virtual address
};

enum class Signedness : uint8_t { Signless, Signed, Unsigned };

class Type {
 public:
  Type() = default;
  explicit Type(const TypeStorage* storage) : storage_(storage) {}

  explicit operator bool() const { return storage_ != nullptr; }
  bool operator==(const Type& other) const = default;
  const TypeStorage* operator->() const { return storage_; }
  const TypeStorage& storage() const { return *storage_; }

  TypeKind kind() const;
  bool isTensor() const { return storage_ && kind() == TypeKind::Tensor; }
  bool isPointer() const { return storage_ && kind() == TypeKind::Pointer; }
  /// The element of a tensor, or the type itself for a scalar.
  Type elementType() const;
  /// The kind of one element (of the tensor, or of the scalar); Invalid for views and the like.
  ElementKind elementKind() const;
  /// Shape of a tensor; empty for scalars.
  const std::vector<int64_t>& shape() const;
  /// Number of elements; 1 for scalars.
  int64_t numElements() const;

  /// MLIR text form.
  std::string str() const;

 private:
  const TypeStorage* storage_ = nullptr;
};

/// An extent written `?`. Front ends of tile DSLs do not make them; they are kept, never executed.
inline constexpr int64_t kDynamicExtent = INT64_MIN;

struct TypeStorage {
  TypeKind kind = TypeKind::None;
  ElementKind element = ElementKind::Invalid;  // Integer, Float: its own kind
  uint32_t width = 0;                          // Integer and Float: bits
  Signedness signedness = Signedness::Signless;
  Type inner;                    // Pointer: pointee; Tensor, Descriptor, View: element type
  std::vector<int64_t> shape;    // Tensor, Descriptor, View (block shape)
  uint32_t addressSpace = 1;     // Pointer
  const void* encoding = nullptr;  // Tensor, Descriptor: interned attribute storage, or null
  std::vector<Type> inputs, results;  // Function
  std::string text;              // Opaque: as written. Descriptor: "tensor" when the old
                                 // !tt.tensordesc<tensor<..>> spelling was used. Pointer: the
                                 // address space by name
};

/// Size in bytes of one element in memory (i1 is one byte); 0 if it has no byte size (i4, fp4).
uint32_t elementBytes(ElementKind kind);
/// Short name as in MLIR ("f32", "i8", "f8E4M3FN"); "ptr" for pointers.
const char* elementName(ElementKind kind);
bool isIntegerKind(ElementKind kind);
bool isFloatKind(ElementKind kind);

}  // namespace tilesight::ir
