#include "ir/attribute.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "ir/float_format.h"
#include "ir/spelling.h"

namespace tilesight::ir {

namespace {

void append(std::string& out, const AttributeStorage& attribute);

/// `count` significant digits of a finite value and the power of ten of the first.
std::string significantDigits(double value, int count, int& power) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", count - 1, std::fabs(value));
  const char* exponent = std::strchr(text, 'e');
  power = exponent ? std::atoi(exponent + 1) : 0;
  std::string digits;
  for (const char* at = text; at != exponent && static_cast<int>(digits.size()) < count; ++at)
    if (*at >= '0' && *at <= '9') digits += *at;
  return digits;
}

/// A decimal that reads back to the same bits, in the two ways in which MLIR writes them: six digits
/// in scientific notation, else as many as the format can need; else the bits themselves.
void appendFloat(std::string& out, uint64_t bits, ElementKind kind) {
  const double value = bitsToFloat(bits, kind);
  const auto accept = [&](const std::string& text) {
    if (text.find('.') == std::string::npos) return false;  // would read as an integer
    double read = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (status != std::errc() || floatToBits(std::signbit(value) ? -read : read, kind) != bits) return false;
    out += (std::signbit(value) ? "-" : "") + text;
    return true;
  };
  if (std::isfinite(value)) {
    int power = 0;
    std::string digits = significantDigits(value, 6, power);
    // MLIR does not take six digits that round up to the next power of ten.
    const bool carried = digits == "100000" && std::fabs(value) < std::pow(10.0, power);
    if (!carried && accept(fmt::format("{}.{}0e{}{:02}", digits[0], digits.substr(1), power < 0 ? '-' : '+', std::abs(power)))) return;

    const int most = kind == ElementKind::F64 ? 17 : kind == ElementKind::F32 ? 9 : kind == ElementKind::F16 ? 5 : 4;
    digits = significantDigits(value, most, power);
    digits.resize(std::max<size_t>(digits.find_last_not_of('0') + 1, 1));
    if (power >= 0 && power < static_cast<int>(digits.size()) - 1) {
      if (accept(digits.substr(0, power + 1) + "." + digits.substr(power + 1))) return;
    } else if (power < 0 && power >= -3) {
      if (accept("0." + std::string(-power - 1, '0') + digits)) return;
    } else if (accept(fmt::format("{}.{}E{}{}", digits[0], digits.size() > 1 ? digits.substr(1) : "0", power < 0 ? '-' : '+', std::abs(power)))) {
      return;
    }
  }
  fmt::format_to(std::back_inserter(out), "0x{:0{}X}", bits, (floatWidth(kind) + 3) / 4);
}

void appendElement(std::string& out, const char* data, Type element) {
  const ElementKind kind = element.elementKind();
  const uint32_t bytes = denseElementBytes(element);
  uint64_t bits = 0;
  std::memcpy(&bits, data, bytes < 8 ? bytes : 8);
  if (kind == ElementKind::I1) {
    out += bits ? "true" : "false";
  } else if (element.kind() == TypeKind::Float) {
    appendFloat(out, bits, kind);
  } else {
    // Signless integers print signed; unsigned types print unsigned.
    const uint32_t width = element.kind() == TypeKind::Index ? 64 : element->width;
    if (element->signedness == Signedness::Unsigned) {
      fmt::format_to(std::back_inserter(out), "{}", bits);
    } else {
      int64_t value = static_cast<int64_t>(bits);
      if (width < 64) value = static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
      fmt::format_to(std::back_inserter(out), "{}", value);
    }
  }
}

void appendDenseList(std::string& out, const AttributeStorage& attribute, size_t axis, size_t& next) {
  const Type element = attribute.type.elementType();
  const uint32_t bytes = denseElementBytes(element);
  const auto& shape = attribute.type.shape();
  if (axis == shape.size()) {
    appendElement(out, attribute.data.data() + next * bytes, element);
    ++next;
    return;
  }
  out += '[';
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (i) out += ", ";
    appendDenseList(out, attribute, axis + 1, next);
  }
  out += ']';
}

void appendDense(std::string& out, const AttributeStorage& attribute) {
  out += "dense<";
  if (attribute.splat) {
    appendElement(out, attribute.data.data(), attribute.type.elementType());
  } else if (!attribute.data.empty()) {
    size_t next = 0;
    appendDenseList(out, attribute, 0, next);
  }
  out += "> : " + attribute.type.str();
}

void appendDenseArray(std::string& out, const AttributeStorage& attribute) {
  out += "array<" + attribute.type.str();
  const uint32_t bytes = denseElementBytes(attribute.type);
  const size_t count = attribute.type.kind() == TypeKind::Float
                           ? attribute.data.size() / bytes
                           : attribute.integers.size();
  for (size_t i = 0; i < count; ++i) {
    out += i ? ", " : ": ";
    if (attribute.type.kind() == TypeKind::Float)
      appendElement(out, attribute.data.data() + i * bytes, attribute.type);
    else if (attribute.type.elementKind() == ElementKind::I1)
      out += attribute.integers[i] ? "true" : "false";
    else
      fmt::format_to(std::back_inserter(out), "{}", attribute.integers[i]);
  }
  out += '>';
}

void append(std::string& out, const AttributeStorage& attribute) {
  switch (attribute.kind) {
    case AttributeKind::Unit: out += "unit"; return;
    case AttributeKind::Bool: out += attribute.integer ? "true" : "false"; return;
    case AttributeKind::Integer:
      if (attribute.type.kind() == TypeKind::Integer &&
          attribute.type->signedness == Signedness::Unsigned)
        fmt::format_to(std::back_inserter(out), "{} : {}", static_cast<uint64_t>(attribute.integer),
                       attribute.type.str());
      else
        fmt::format_to(std::back_inserter(out), "{} : {}", attribute.integer, attribute.type.str());
      return;
    case AttributeKind::Float:
      appendFloat(out, attribute.bits, attribute.type.elementKind());
      out += " : " + attribute.type.str();
      return;
    case AttributeKind::String: out += quoted(attribute.text); return;
    case AttributeKind::Array:
      out += '[';
      for (size_t i = 0; i < attribute.elements.size(); ++i) {
        if (i) out += ", ";
        append(out, *attribute.elements[i].raw());
      }
      out += ']';
      return;
    case AttributeKind::Dictionary:
      out += '{';
      for (size_t i = 0; i < attribute.entries.size(); ++i) {
        if (i) out += ", ";
        out += namedAttributeText(attribute.entries[i]);
      }
      out += '}';
      return;
    case AttributeKind::DenseElements: appendDense(out, attribute); return;
    case AttributeKind::DenseArray: appendDenseArray(out, attribute); return;
    case AttributeKind::Symbol: out += symbolText(attribute.text); return;
    case AttributeKind::TypeValue: out += attribute.type.str(); return;
    case AttributeKind::Keyword:
    case AttributeKind::Opaque: out += attribute.text; return;
  }
}

}  // namespace

std::string namedAttributeText(const NamedAttribute& entry) {
  std::string out = isBareIdentifier(entry.first) ? entry.first : quoted(entry.first);
  if (entry.second && entry.second.kind() != AttributeKind::Unit) out += " = " + entry.second.str();
  return out;
}

uint32_t denseElementBytes(Type element) {
  switch (element.kind()) {
    case TypeKind::Index: return 8;
    case TypeKind::Integer: {
      const uint32_t width = element->width;
      if (width <= 8) return 1;
      if (width <= 16) return 2;
      if (width <= 32) return 4;
      return width <= 64 ? 8 : (width <= 128 ? 16 : 0);
    }
    case TypeKind::Float: {
      const uint32_t width = floatWidth(element.elementKind());
      return (width + 7) / 8;
    }
    default: return 0;
  }
}

AttributeKind Attribute::kind() const { return storage_ ? storage_->kind : AttributeKind::Unit; }

std::optional<int64_t> Attribute::asInteger() const {
  if (storage_ && (storage_->kind == AttributeKind::Bool || storage_->kind == AttributeKind::Integer))
    return storage_->integer;
  return std::nullopt;
}

std::string_view Attribute::asString() const {
  if (storage_ && (storage_->kind == AttributeKind::String ||
                   storage_->kind == AttributeKind::Keyword ||
                   storage_->kind == AttributeKind::Symbol))
    return storage_->text;
  return {};
}

std::string Attribute::str() const {
  std::string out;
  if (storage_) append(out, *storage_);
  return storage_ ? out : "<no attribute>";
}

}  // namespace tilesight::ir
