#include "ir/context.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

namespace tilesight::ir {

namespace {

/// A byte string that is equal exactly for equal storages; parts are interned already, so pointers
/// identify them.
class Key {
 public:
  template <typename T>
  Key& number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text_.append(bytes, sizeof(T));
    return *this;
  }
  Key& string(std::string_view value) {
    number(value.size());
    text_.append(value);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string keyOf(const TypeStorage& s) {
  Key key;
  key.number(s.kind).number(s.element).number(s.width).number(s.signedness).number(s.inner.operator->());
  key.number(s.addressSpace).number(s.encoding).string(s.text);
  key.number(s.shape.size());
  for (int64_t extent : s.shape) key.number(extent);
  key.number(s.inputs.size());
  for (Type type : s.inputs) key.number(type.operator->());
  key.number(s.results.size());
  for (Type type : s.results) key.number(type.operator->());
  return key.take();
}

std::string keyOf(const AttributeStorage& s) {
  Key key;
  key.number(s.kind).number(s.integer).number(s.bits).number(s.type.operator->()).number(s.splat);
  key.string(s.text).string(s.data);
  key.number(s.integers.size());
  for (int64_t value : s.integers) key.number(value);
  key.number(s.elements.size());
  for (Attribute element : s.elements) key.number(element.raw());
  key.number(s.entries.size());
  for (const auto& [name, value] : s.entries) key.string(name).number(value.raw());
  return key.take();
}

std::string keyOf(const LocationStorage& s) {
  Key key;
  key.number(s.kind).string(s.text).number(s.line).number(s.column).number(s.endLine).number(s.endColumn);
  key.number(s.child.raw()).number(s.caller.raw());
  key.number(s.fused.size());
  for (Location part : s.fused) key.number(part.raw());
  return key.take();
}

template <typename Storage>
class Pool {
 public:
  const Storage* intern(Storage storage) {
    std::string key = keyOf(storage);
    auto found = map_.find(key);
    if (found == map_.end())
      found = map_.emplace(std::move(key), std::make_unique<Storage>(std::move(storage))).first;
    return found->second.get();
  }

 private:
  std::unordered_map<std::string, std::unique_ptr<Storage>> map_;
};

ElementKind integerKind(uint32_t width) {
  switch (width) {
    case 1: return ElementKind::I1;
    case 4: return ElementKind::I4;
    case 8: return ElementKind::I8;
    case 16: return ElementKind::I16;
    case 32: return ElementKind::I32;
    case 64: return ElementKind::I64;
    case 128: return ElementKind::I128;
    default: return ElementKind::Invalid;
  }
}

}  // namespace

struct Context::Impl {
  Pool<TypeStorage> types;
  Pool<AttributeStorage> attributes;
  Pool<LocationStorage> locations;

  Type type(TypeStorage storage) { return Type(types.intern(std::move(storage))); }
};

Context::Context() : impl_(std::make_unique<Impl>()) {}
Context::~Context() = default;

Type Context::integer(uint32_t width, Signedness signedness) {
  TypeStorage s;
  s.kind = TypeKind::Integer;
  s.element = integerKind(width);
  s.width = width;
  s.signedness = signedness;
  return impl_->type(std::move(s));
}

Type Context::floating(ElementKind kind) {
  TypeStorage s;
  s.kind = TypeKind::Float;
  s.element = kind;
  s.width = kind == ElementKind::TF32 ? 19 : (kind == ElementKind::F4E2M1FN ? 4 : 8 * elementBytes(kind));
  return impl_->type(std::move(s));
}

Type Context::index() {
  TypeStorage s;
  s.kind = TypeKind::Index;
  return impl_->type(std::move(s));
}

Type Context::none() { return impl_->type(TypeStorage{}); }

Type Context::pointer(Type pointee, uint32_t addressSpace, std::string spaceName) {
  TypeStorage s;
  s.kind = TypeKind::Pointer;
  s.inner = pointee;
  s.addressSpace = addressSpace;
  s.text = std::move(spaceName);
  return impl_->type(std::move(s));
}

Type Context::tensor(std::vector<int64_t> shape, Type element, Attribute encoding) {
  TypeStorage s;
  s.kind = TypeKind::Tensor;
  s.inner = element;
  s.shape = std::move(shape);
  s.encoding = encoding.raw();
  return impl_->type(std::move(s));
}

Type Context::descriptor(std::vector<int64_t> shape, Type element, bool tensorSpelling) {
  return descriptor(std::move(shape), element, tensorSpelling, Attribute());
}

Type Context::descriptor(std::vector<int64_t> shape, Type element, bool tensorSpelling,
                         Attribute layout) {
  TypeStorage s;
  s.kind = TypeKind::Descriptor;
  s.inner = element;
  s.shape = std::move(shape);
  s.encoding = layout.raw();
  if (tensorSpelling) s.text = "tensor";
  return impl_->type(std::move(s));
}

Type Context::view(std::vector<int64_t> shape, Type element) {
  TypeStorage s;
  s.kind = TypeKind::View;
  s.inner = element;
  s.shape = std::move(shape);
  return impl_->type(std::move(s));
}

Type Context::function(std::vector<Type> inputs, std::vector<Type> results) {
  TypeStorage s;
  s.kind = TypeKind::Function;
  s.inputs = std::move(inputs);
  s.results = std::move(results);
  return impl_->type(std::move(s));
}

Type Context::opaqueType(std::string text) {
  TypeStorage s;
  s.kind = TypeKind::Opaque;
  s.text = std::move(text);
  return impl_->type(std::move(s));
}

Type Context::withShape(Type element, const std::vector<int64_t>& shape) {
  const Type scalar = element.elementType();
  return shape.empty() ? scalar : tensor(shape, scalar);
}

Attribute Context::intern(AttributeStorage storage) {
  return Attribute(impl_->attributes.intern(std::move(storage)));
}

Attribute Context::unit() { return intern(AttributeStorage{}); }

Attribute Context::boolean(bool value) {
  AttributeStorage s;
  s.kind = AttributeKind::Bool;
  s.integer = value;
  s.type = integer(1);
  return intern(std::move(s));
}

Attribute Context::integerAttr(int64_t value, Type type) {
  if (type.kind() == TypeKind::Integer && type->width == 1) return boolean(value != 0);
  AttributeStorage s;
  s.kind = AttributeKind::Integer;
  s.integer = value;
  s.type = type;
  return intern(std::move(s));
}

Attribute Context::floatAttr(uint64_t bits, Type type) {
  AttributeStorage s;
  s.kind = AttributeKind::Float;
  s.bits = bits;
  s.type = type;
  return intern(std::move(s));
}

namespace {
AttributeStorage textual(AttributeKind kind, std::string text) {
  AttributeStorage s;
  s.kind = kind;
  s.text = std::move(text);
  return s;
}
}  // namespace

Attribute Context::string(std::string text) {
  return intern(textual(AttributeKind::String, std::move(text)));
}
Attribute Context::keyword(std::string text) {
  return intern(textual(AttributeKind::Keyword, std::move(text)));
}
Attribute Context::symbol(std::string name) {
  return intern(textual(AttributeKind::Symbol, std::move(name)));
}
Attribute Context::opaqueAttr(std::string text) {
  return intern(textual(AttributeKind::Opaque, std::move(text)));
}

Attribute Context::typeAttr(Type type) {
  AttributeStorage s;
  s.kind = AttributeKind::TypeValue;
  s.type = type;
  return intern(std::move(s));
}

Attribute Context::array(std::vector<Attribute> elements) {
  AttributeStorage s;
  s.kind = AttributeKind::Array;
  s.elements = std::move(elements);
  return intern(std::move(s));
}

Attribute Context::dictionary(std::vector<NamedAttribute> entries) {
  AttributeStorage s;
  s.kind = AttributeKind::Dictionary;
  s.entries = std::move(entries);
  return intern(std::move(s));
}

Attribute Context::denseArray(std::vector<int64_t> values, Type element) {
  AttributeStorage s;
  s.kind = AttributeKind::DenseArray;
  s.integers = std::move(values);
  s.type = element;
  return intern(std::move(s));
}

Attribute Context::denseElements(Type tensorType, std::string data, bool splat) {
  AttributeStorage s;
  s.kind = AttributeKind::DenseElements;
  s.type = tensorType;
  s.data = std::move(data);
  s.splat = splat;
  return intern(std::move(s));
}

Location Context::intern(LocationStorage storage) {
  return Location(impl_->locations.intern(std::move(storage)));
}

Location Context::unknownLocation() { return intern(LocationStorage{}); }

Location Context::fileLocation(std::string path, uint32_t line, uint32_t column) {
  LocationStorage s;
  s.kind = LocationKind::File;
  s.text = std::move(path);
  s.line = line;
  s.column = column;
  return intern(std::move(s));
}

Location Context::nameLocation(std::string name, Location child) {
  LocationStorage s;
  s.kind = LocationKind::Name;
  s.text = std::move(name);
  s.child = child;
  return intern(std::move(s));
}

Location Context::callSite(Location callee, Location caller) {
  LocationStorage s;
  s.kind = LocationKind::CallSite;
  s.child = callee;
  s.caller = caller;
  return intern(std::move(s));
}

}  // namespace tilesight::ir
