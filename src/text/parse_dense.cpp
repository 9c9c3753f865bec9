// Constant data:
//   dense ::= `dense` `<` (literal | list | "0x..." | nothing) `>` `:` tensor type
//   array ::= `array` `<` element type (`:` literal (`,` literal)*)? `>`
// Sizes are bounded by the text: a splat is stored once, a list as long as it is written.
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ir/float_format.h"
#include "text/parser.h"

namespace tilesight::text {

namespace {

void appendBits(std::string& data, uint64_t bits, bool signExtend, uint32_t bytes) {
  char raw[16];
  std::memset(raw, signExtend && static_cast<int64_t>(bits) < 0 ? 0xFF : 0, sizeof raw);
  std::memcpy(raw, &bits, 8);
  data.append(raw, bytes);
}

bool decodeHex(std::string_view text, std::string& out) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return false;
  text.remove_prefix(2);
  if (text.size() % 2) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    unsigned byte = 0;
    auto [end, status] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (status != std::errc() || end != text.data() + i + 2) return false;
    out += static_cast<char>(byte);
  }
  return true;
}

}  // namespace

/// `-`? number | `true` | `false` | string
bool Parser::parseLiteral(Literal& out) {
  out.negative = take("-");
  out.token = token_;
  if (is(TokenKind::Integer) || is(TokenKind::Float) ||
      (!out.negative && (at("true") || at("false")))) {
    advance();
    return true;
  }
  return errorHere("a number");
}

/// The bit pattern of a literal in an element type.
bool Parser::literalBits(const Literal& literal, ir::Type element, uint64_t& bits) {
  const Token& token = literal.token;
  if (token.kind == TokenKind::BareId) {
    if (element.elementKind() != ir::ElementKind::I1)
      return error(token.offset, fmt::format("'{}' is not {}", token.text, element.str()));
    bits = token.text == "true";
    return true;
  }
  if (element.kind() == ir::TypeKind::Float) {
    const ir::ElementKind kind = element.elementKind();
    if (token.kind == TokenKind::Integer) {
      if (token.text.size() < 3 || (token.text[1] != 'x' && token.text[1] != 'X'))
        return error(token.offset, "expected a float: a decimal with a point, or bits in hexadecimal");
      if (literal.negative) return error(token.offset, "bits of a float cannot have a sign");
      std::string_view digits = token.text.substr(2);
      auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
      const uint32_t width = ir::floatWidth(kind);
      if (status != std::errc() || (width < 64 && bits >> width))
        return error(token.offset, fmt::format("bits do not fit {}", element.str()));
      return true;
    }
    double value = 0;
    auto [end, status] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (status == std::errc::result_out_of_range) {
      const bool tiny = token.text.find("e-") != std::string_view::npos || token.text.find("E-") != std::string_view::npos ||
                        (token.text.starts_with("0") && token.text.find_first_of("eE") == std::string_view::npos);
      value = tiny ? 0.0 : HUGE_VAL;
    }
    bits = ir::floatToBits(literal.negative ? -value : value, kind);
    return true;
  }
  if (element.kind() != ir::TypeKind::Integer && element.kind() != ir::TypeKind::Index)
    return error(token.offset, fmt::format("a number cannot have type {}", element.str()));
  if (token.kind == TokenKind::Float)
    return error(token.offset, fmt::format("expected an integer for {}", element.str()));
  int64_t value = 0;
  if (!integerValue(token.text, literal.negative, element, token.offset, value)) return false;
  bits = static_cast<uint64_t>(value);
  const uint32_t width = element.kind() == ir::TypeKind::Index ? 64 : element->width;
  if (width < 64) bits &= (uint64_t{1} << width) - 1;
  return true;
}

/// Nested lists; all lists of one level have the same length.
bool Parser::parseDenseList(std::vector<Literal>& literals, std::vector<int64_t>& shape, size_t axis) {
  Nest nest(*this);
  if (!nest.ok) return false;
  const uint32_t begin = token_.offset;
  if (!expect("[", "to begin a list")) return false;
  int64_t count = 0;
  const bool firstVisit = shape.size() <= axis;
  if (firstVisit) shape.push_back(-1);
  if (!take("]")) {
    do {
      if (at("[")) {
        if (shape.size() == axis + 1 && count > 0) return error(token_.offset, "list where a number is expected");
        if (!parseDenseList(literals, shape, axis + 1)) return false;
      } else {
        if (shape.size() > axis + 1) return error(token_.offset, "number where a list is expected");
        Literal literal;
        if (!parseLiteral(literal)) return false;
        literals.push_back(literal);
      }
      ++count;
    } while (take(","));
    if (!expect("]", "to end the list")) return false;
  }
  if (shape[axis] < 0) shape[axis] = count;
  else if (shape[axis] != count) return error(begin, "lists of one level differ in length");
  return true;
}

bool Parser::parseDenseElements(ir::Attribute& out) {
  const Token begin = token_;
  advance();
  if (!expect("<", "after 'dense'")) return false;
  std::vector<Literal> literals;
  std::vector<int64_t> shape;
  Token rawData;
  bool isList = false;
  if (at("[")) {
    isList = true;
    if (!parseDenseList(literals, shape, 0)) return false;
  } else if (is(TokenKind::String)) {
    rawData = token_;
    advance();
  } else if (at("(")) {
    return errorHere("a number (complex constants are not supported)");
  } else if (!at(">")) {
    Literal literal;
    if (!parseLiteral(literal)) return false;
    literals.push_back(literal);
  }
  if (!expect(">", "to end the data") || !expect(":", "before the type of the data")) return false;
  const uint32_t typeOffset = token_.offset;
  ir::Type type;
  if (!parseType(type)) return false;
  if (type.kind() == ir::TypeKind::Opaque) {  // vectors, memrefs
    out = context_.opaqueAttr(std::string(slice(begin.offset, typeOffset)) + type.str());
    return true;
  }
  if (!type.isTensor()) return error(typeOffset, "expected a tensor type");
  for (int64_t extent : type.shape())
    if (extent < 0) return error(typeOffset, "data needs a static shape");
  const ir::Type element = type.elementType();
  const uint32_t bytes = ir::denseElementBytes(element);
  if (!bytes) return error(typeOffset, fmt::format("data of element type {} is not supported", element.str()));
  const int64_t count = type.numElements();

  std::string data;
  bool splat = false;
  if (rawData.kind == TokenKind::String) {
    if (!decodeHex(rawData.text.substr(1, rawData.text.size() - 2), data))
      return error(rawData.offset, "expected \"0x...\" with an even number of digits");
    if (element.elementKind() == ir::ElementKind::I1) {
      // Bit-packed in this form, or one byte 00 or FF for a splat.
      std::string unpacked;
      splat = data.size() == 1 && count != 1 && (data[0] == 0 || static_cast<uint8_t>(data[0]) == 0xFF);
      if (splat) {
        unpacked.push_back(data[0] != 0);
      } else {
        if (static_cast<int64_t>(data.size()) != (count / 8 + (count % 8 != 0)))
          return error(rawData.offset, "data does not have the size of its type");
        for (int64_t i = 0; i < count; ++i) unpacked.push_back((data[i / 8] >> (i % 8)) & 1);
      }
      data = std::move(unpacked);
    } else {
      splat = data.size() == bytes && count != 1;
      int64_t total = 0;
      if (!splat && (__builtin_mul_overflow(count, int64_t{bytes}, &total) || total != static_cast<int64_t>(data.size())))
        return error(rawData.offset, "data does not have the size of its type");
    }
  } else if (isList) {
    if (count == 0 && literals.empty()) {
      shape = type.shape();
    }
    if (shape != type.shape())
      return error(begin.offset, "the lists do not have the shape of the type");
    const bool signExtend = element.kind() == ir::TypeKind::Integer && element->width > 64;
    for (const Literal& literal : literals) {
      uint64_t bits = 0;
      if (!literalBits(literal, element, bits)) return false;
      appendBits(data, bits, signExtend, bytes);
    }
    if (static_cast<int64_t>(literals.size()) != count)
      return error(begin.offset, "the lists do not have the shape of the type");
    // One value throughout is a splat, as MLIR has it.
    if (count > 1 || (count == 1 && type.shape().empty())) {
      splat = true;
      for (size_t i = bytes; splat && i < data.size(); ++i) splat = data[i] == data[i - bytes];
      if (splat) data.resize(bytes);
    }
    if (count == 1) splat = true;
  } else if (literals.empty()) {
    if (count != 0) return error(begin.offset, "data is missing");
  } else {
    uint64_t bits = 0;
    if (!literalBits(literals[0], element, bits)) return false;
    appendBits(data, bits, element.kind() == ir::TypeKind::Integer && element->width > 64, bytes);
    splat = true;
  }
  if (count == 1 && !data.empty()) splat = true;
  out = context_.denseElements(type, std::move(data), splat);
  return true;
}

bool Parser::parseDenseArray(ir::Attribute& out) {
  advance();
  if (!expect("<", "after 'array'")) return false;
  const uint32_t typeOffset = token_.offset;
  ir::AttributeStorage storage;
  storage.kind = ir::AttributeKind::DenseArray;
  if (!parseType(storage.type)) return false;
  const bool isFloat = storage.type.kind() == ir::TypeKind::Float;
  const uint32_t bytes = ir::denseElementBytes(storage.type);
  if (!bytes || bytes > 8 || storage.type.kind() == ir::TypeKind::Index)
    return error(typeOffset, "an array holds integers or floats");
  if (take(":")) {
    do {
      Literal literal;
      uint64_t bits = 0;
      if (!parseLiteral(literal) || !literalBits(literal, storage.type, bits)) return false;
      if (isFloat) {
        appendBits(storage.data, bits, false, bytes);
      } else {
        int64_t value = static_cast<int64_t>(bits);
        const uint32_t width = storage.type->width;
        if (width > 1 && width < 64 && storage.type->signedness != ir::Signedness::Unsigned)
          value = static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
        storage.integers.push_back(value);
      }
    } while (take(","));
  }
  if (!expect(">", "to end the array")) return false;
  out = context_.intern(std::move(storage));
  return true;
}

}  // namespace tilesight::text
