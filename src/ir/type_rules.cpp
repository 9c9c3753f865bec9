#include "ir/type_rules.h"

namespace tilesight::ir {

using dialects::RuleKind;
using dialects::TypeClass;

Type deriveType(Context& context, RuleKind kind, Type source) {
  if (!source) return {};
  const Attribute encoding(source.isTensor()
                               ? static_cast<const AttributeStorage*>(source->encoding)
                               : nullptr);
  switch (kind) {
    case RuleKind::Same: return source;
    case RuleKind::Pointee: {
      const Type pointer = source.elementType();
      if (!pointer.isPointer()) return {};
      return source.isTensor() ? context.tensor(source.shape(), pointer->inner, encoding)
                               : pointer->inner;
    }
    case RuleKind::I1Like:
      return source.isTensor() ? context.tensor(source.shape(), context.integer(1), encoding)
                               : context.integer(1);
    case RuleKind::Element: return source.elementType();
    case RuleKind::ElementPointer:
      if (!source.isPointer()) return {};
      return context.pointer(source->inner.elementType(), source->addressSpace, source->text);
    default: return {};
  }
}

namespace {

bool scalarOfClass(Type type, TypeClass wanted) {
  const TypeKind kind = type.kind();
  const auto isWidth = [&](uint32_t width) {
    return kind == TypeKind::Integer && type->width == width;
  };
  switch (wanted) {
    case TypeClass::Any: return true;
    case TypeClass::Int: return kind == TypeKind::Integer;
    case TypeClass::Float: return kind == TypeKind::Float;
    case TypeClass::Numeric: return kind == TypeKind::Integer || kind == TypeKind::Float;
    case TypeClass::IntOrIndex: return kind == TypeKind::Integer || kind == TypeKind::Index;
    case TypeClass::Pointer: return kind == TypeKind::Pointer;
    case TypeClass::I1: return isWidth(1);
    case TypeClass::I32: return isWidth(32);
    case TypeClass::I64: return isWidth(64);
    case TypeClass::Index: return kind == TypeKind::Index;
    case TypeClass::Descriptor: return kind == TypeKind::Descriptor;
    case TypeClass::View: return kind == TypeKind::View;
    case TypeClass::Token: return kind == TypeKind::Opaque;
    default: return false;
  }
}

}  // namespace

bool isOfClass(Type type, const dialects::ValueGroup& group) {
  if (!type) return false;
  // Types and elements that the IR does not model are not judged.
  if (type.kind() == TypeKind::Opaque || type.elementType().kind() == TypeKind::Opaque) return true;
  switch (group.type) {
    case TypeClass::Any: return true;
    case TypeClass::Tensor: return type.isTensor();
    case TypeClass::IntTensor:
      return type.isTensor() && type.elementType().kind() == TypeKind::Integer;
    case TypeClass::FloatTensor:
      return type.isTensor() && type.elementType().kind() == TypeKind::Float;
    default:
      if (type.isTensor()) return group.like && scalarOfClass(type.elementType(), group.type);
      return scalarOfClass(type, group.type);
  }
}

std::string describe(const dialects::ValueGroup& group) {
  const auto scalar = [&](const char* one, const char* many) {
    return group.like ? std::string(one) + " or a tensor of " + many : std::string(one);
  };
  switch (group.type) {
    case TypeClass::Any: return "any type";
    case TypeClass::Int: return scalar("an integer", "integers");
    case TypeClass::Float: return scalar("a float", "floats");
    case TypeClass::Numeric: return scalar("an integer or float", "them");
    case TypeClass::IntOrIndex: return scalar("an integer or index", "them");
    case TypeClass::Pointer: return scalar("a pointer", "pointers");
    case TypeClass::I1: return scalar("i1", "i1");
    case TypeClass::I32: return scalar("i32", "i32");
    case TypeClass::I64: return scalar("i64", "i64");
    case TypeClass::Index: return scalar("index", "index");
    case TypeClass::Tensor: return "a tensor";
    case TypeClass::IntTensor: return "a tensor of integers";
    case TypeClass::FloatTensor: return "a tensor of floats";
    case TypeClass::Descriptor: return "a tensor descriptor";
    case TypeClass::View: return "a view";
    case TypeClass::Token: return "!ttg.async.token";
  }
  return "any type";
}

Type onlyType(Context& context, const dialects::ValueGroup& group) {
  if (group.like) return {};
  switch (group.type) {
    case TypeClass::I1: return context.integer(1);
    case TypeClass::I32: return context.integer(32);
    case TypeClass::I64: return context.integer(64);
    case TypeClass::Index: return context.index();
    case TypeClass::Token: return context.opaqueType("!ttg.async.token");
    default: return {};
  }
}

}  // namespace tilesight::ir
