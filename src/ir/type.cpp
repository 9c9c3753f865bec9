#include "ir/type.h"

#include <fmt/format.h>

#include "ir/attribute.h"

namespace tilesight::ir {

namespace {

struct KindRow {
  ElementKind kind;
  const char* name;
  uint32_t bytes;
};

constexpr KindRow kKinds[] = {
    {ElementKind::Invalid, "invalid", 0},        {ElementKind::I1, "i1", 1},
    {ElementKind::I4, "i4", 0},                  {ElementKind::I8, "i8", 1},
    {ElementKind::I16, "i16", 2},                {ElementKind::I32, "i32", 4},
    {ElementKind::I64, "i64", 8},                {ElementKind::I128, "i128", 16},
    {ElementKind::F16, "f16", 2},                {ElementKind::BF16, "bf16", 2},
    {ElementKind::F32, "f32", 4},                {ElementKind::F64, "f64", 8},
    {ElementKind::TF32, "tf32", 4},              {ElementKind::F8E4M3FN, "f8E4M3FN", 1},
    {ElementKind::F8E5M2, "f8E5M2", 1},          {ElementKind::F8E4M3FNUZ, "f8E4M3FNUZ", 1},
    {ElementKind::F8E5M2FNUZ, "f8E5M2FNUZ", 1},  {ElementKind::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 1},
    {ElementKind::F8E8M0FNU, "f8E8M0FNU", 1},    {ElementKind::F4E2M1FN, "f4E2M1FN", 0},
    {ElementKind::Pointer, "ptr", 8},
};

void appendTypeList(std::string& out, const std::vector<Type>& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i) out += ", ";
    out += types[i].str();
  }
}

void appendShape(std::string& out, const std::vector<int64_t>& shape) {
  for (int64_t extent : shape) {
    if (extent == kDynamicExtent)
      out += "?x";
    else
      fmt::format_to(std::back_inserter(out), "{}x", extent);
  }
}

void append(std::string& out, const TypeStorage& type) {
  switch (type.kind) {
    case TypeKind::Integer:
      if (type.signedness == Signedness::Signed) out += 's';
      if (type.signedness == Signedness::Unsigned) out += 'u';
      fmt::format_to(std::back_inserter(out), "i{}", type.width);
      return;
    case TypeKind::Float: out += elementName(type.element); return;
    case TypeKind::Index: out += "index"; return;
    case TypeKind::None: out += "none"; return;
    case TypeKind::Opaque: out += type.text; return;
    case TypeKind::Pointer:
      out += "!tt.ptr<" + type.inner.str();
      if (!type.text.empty())
        fmt::format_to(std::back_inserter(out), ", \"{}\"", type.text);
      else if (type.addressSpace != 1)
        fmt::format_to(std::back_inserter(out), ", {}", type.addressSpace);
      out += '>';
      return;
    case TypeKind::Tensor:
      out += "tensor<";
      appendShape(out, type.shape);
      out += type.inner.str();
      if (type.encoding)
        out += ", " + Attribute(static_cast<const AttributeStorage*>(type.encoding)).str();
      out += '>';
      return;
    case TypeKind::Descriptor:
      out += type.text == "tensor" ? "!tt.tensordesc<tensor<" : "!tt.tensordesc<";
      appendShape(out, type.shape);
      out += type.inner.str();
      if (type.encoding)
        out += ", " + Attribute(static_cast<const AttributeStorage*>(type.encoding)).str();
      out += type.text == "tensor" ? ">>" : ">";
      return;
    case TypeKind::View:
      out += "!tile.view<";
      appendShape(out, type.shape);
      out += type.inner.str() + ">";
      return;
    case TypeKind::Function:
      out += '(';
      appendTypeList(out, type.inputs);
      out += ") -> ";
      // A single function type as the result needs parentheses to be read back as it was.
      if (type.results.size() == 1 && type.results[0].kind() != TypeKind::Function) {
        out += type.results[0].str();
      } else {
        out += '(';
        appendTypeList(out, type.results);
        out += ')';
      }
      return;
  }
}

}  // namespace

TypeKind Type::kind() const { return storage_ ? storage_->kind : TypeKind::None; }

Type Type::elementType() const {
  return storage_ && storage_->kind == TypeKind::Tensor ? storage_->inner : *this;
}

ElementKind Type::elementKind() const {
  Type element = elementType();
  if (!element) return ElementKind::Invalid;
  switch (element.kind()) {
    case TypeKind::Integer:
    case TypeKind::Float: return element->element;
    case TypeKind::Pointer: return ElementKind::Pointer;
    case TypeKind::Index: return ElementKind::I64;
    default: return ElementKind::Invalid;
  }
}

const std::vector<int64_t>& Type::shape() const {
  static const std::vector<int64_t> none;
  return storage_ ? storage_->shape : none;
}

int64_t Type::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape())
    if (__builtin_mul_overflow(count, extent, &count)) return INT64_MAX;
  return count;
}

std::string Type::str() const {
  std::string out;
  if (storage_) append(out, *storage_);
  return storage_ ? out : "<no type>";
}

uint32_t elementBytes(ElementKind kind) {
  for (const KindRow& row : kKinds)
    if (row.kind == kind) return row.bytes;
  return 0;
}

const char* elementName(ElementKind kind) {
  for (const KindRow& row : kKinds)
    if (row.kind == kind) return row.name;
  return "invalid";
}

bool isIntegerKind(ElementKind kind) {
  return kind >= ElementKind::I1 && kind <= ElementKind::I128;
}

bool isFloatKind(ElementKind kind) {
  return kind >= ElementKind::F16 && kind <= ElementKind::F4E2M1FN;
}

}  // namespace tilesight::ir
