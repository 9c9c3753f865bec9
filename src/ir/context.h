// Owns everything that is interned: types, attributes, locations. Not thread-safe: one context per
// module being built; reading is safe from any thread once building is done.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/attribute.h"
#include "ir/location.h"
#include "ir/type.h"

namespace tilesight::ir {

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Type integer(uint32_t width, Signedness signedness = Signedness::Signless);
  Type floating(ElementKind kind);
  Type index();
  Type none();
  /// `spaceName`: the address space as it is spelled where it has a name; empty for numbers and for 1.
  Type pointer(Type pointee, uint32_t addressSpace = 1, std::string spaceName = {});
  Type tensor(std::vector<int64_t> shape, Type element, Attribute encoding = {});
  Type descriptor(std::vector<int64_t> shape, Type element, bool tensorSpelling);
  Type descriptor(std::vector<int64_t> shape, Type element, bool tensorSpelling, Attribute layout);
  Type view(std::vector<int64_t> shape, Type element);
  Type function(std::vector<Type> inputs, std::vector<Type> results);
  Type opaqueType(std::string text);
  /// `type` with another shape: scalar element, or tensor of it.
  Type withShape(Type element, const std::vector<int64_t>& shape);

  Attribute unit();
  Attribute boolean(bool value);
  Attribute integerAttr(int64_t value, Type type);
  Attribute i32(int64_t value) { return integerAttr(value, integer(32)); }
  Attribute floatAttr(uint64_t bits, Type type);
  Attribute string(std::string text);
  Attribute keyword(std::string text);
  Attribute symbol(std::string name);
  Attribute typeAttr(Type type);
  Attribute array(std::vector<Attribute> elements);
  Attribute dictionary(std::vector<NamedAttribute> entries);
  Attribute denseArray(std::vector<int64_t> values, Type element);
  Attribute denseElements(Type tensorType, std::string data, bool splat);
  Attribute opaqueAttr(std::string text);
  Attribute intern(AttributeStorage storage);

  /// `loc(unknown)`. A default-constructed Location is unknown too, and is not printed at all.
  Location unknownLocation();
  Location fileLocation(std::string path, uint32_t line, uint32_t column);
  Location nameLocation(std::string name, Location child);
  Location callSite(Location callee, Location caller);
  Location intern(LocationStorage storage);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilesight::ir
