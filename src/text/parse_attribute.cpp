// Attribute values:
//   attr ::= `unit` | `true` | `false` | number (`:` type)? | string (`:` type)? | `[` attrs `]`
//          | `{` named `}` | `dense` ... | `array` ... | symbol | type | `#`alias | `#`dialect ...
#include <charconv>

#include <fmt/format.h>

#include "ir/float_format.h"
#include "text/parser.h"

namespace tilesight::text {

bool Parser::parseString(std::string& out) {
  if (!is(TokenKind::String)) return errorHere("a string");
  if (!unescape(token_.text, out)) return error(token_.offset, "unknown escape in string");
  advance();
  return true;
}

/// `@name` or `@a::@b`; without the first @.
bool Parser::parseSymbol(std::string& out) {
  if (!is(TokenKind::AtId)) return errorHere("a symbol");
  if (token_.text[0] == '"') {
    if (!unescape(token_.text, out)) return error(token_.offset, "unknown escape in symbol");
  } else {
    out = token_.text;
  }
  advance();
  return true;
}

bool Parser::parseOptionalColonType(ir::Type& out, ir::Type fallback) {
  out = fallback;
  if (!at(":")) return true;
  advance();
  return parseType(out);
}

bool Parser::parseNamedAttributes(std::vector<ir::NamedAttribute>& out, std::string_view close) {
  std::unordered_map<std::string, bool> seen;
  for (const auto& [name, value] : out) seen.emplace(name, true);
  if (take(close)) return true;
  do {
    const uint32_t offset = token_.offset;
    std::string key;
    if (is(TokenKind::String)) {
      if (!parseString(key)) return false;
    } else if (!parseBareWord(key, "the name of an attribute")) {
      return false;
    }
    if (!seen.emplace(key, true).second) return error(offset, fmt::format("attribute '{}' occurs twice", key));
    ir::Attribute value = context_.unit();
    if (take("=") && !parseAttribute(value)) return false;
    out.emplace_back(std::move(key), value);
  } while (take(","));
  return expect(close, "after attributes");
}

bool Parser::parseAttributeDictionary(std::vector<ir::NamedAttribute>& out) {
  return expect("{", "before attributes") && parseNamedAttributes(out, "}");
}

bool Parser::parseAttribute(ir::Attribute& out) {
  Nest nest(*this);
  if (!nest.ok) return false;
  const Token first = token_;
  switch (token_.kind) {
    case TokenKind::Integer:
    case TokenKind::Float: return parseNumber(out);
    case TokenKind::String: {
      std::string text;
      if (!parseString(text)) return false;
      if (!at(":")) {
        out = context_.string(std::move(text));
        return true;
      }
      ir::Type type;
      if (!parseOptionalColonType(type, {})) return false;
      out = context_.opaqueAttr(std::string(slice(first.offset, first.end)) + " : " + type.str());
      return true;
    }
    case TokenKind::AtId: {
      std::string text;
      if (!parseSymbol(text)) return false;
      if (!at("::")) {
        out = context_.symbol(std::move(text));
        return true;
      }
      std::string all(slice(first.offset, first.end));
      while (take("::")) {
        const Token part = token_;
        if (!parseSymbol(text)) return false;
        all += "::" + std::string(slice(part.offset, part.end));
      }
      out = context_.opaqueAttr(std::move(all));
      return true;
    }
    case TokenKind::HashId: {
      advance();
      if (first.text.find('.') != std::string_view::npos || (at("<") && token_.offset == first.end)) {
        std::string text(slice(first.offset, first.end));
        if (at("<") && token_.offset == first.end && !parseOpaqueText(first.offset, text)) return false;
        // An attribute may have a type: #dialect.attr : type.
        out = context_.opaqueAttr(std::move(text));
        return true;
      }
      Alias* alias = nullptr;
      if (!useAlias(first.text, false, first.offset, alias)) return false;
      if (alias->isLocation && !expand(alias->size, first.offset)) return false;
      out = alias->isLocation ? context_.opaqueAttr(alias->location.str()) : alias->attribute;
      return true;
    }
    default: break;
  }
  if (at("-")) return parseNumber(out);
  if (at("[")) {
    std::vector<ir::Attribute> elements;
    if (!parseList("[", "]", "around an array", [&] {
          ir::Attribute element;
          if (!parseAttribute(element)) return false;
          elements.push_back(element);
          return true;
        }))
      return false;
    out = context_.array(std::move(elements));
    return true;
  }
  if (at("{")) {
    std::vector<ir::NamedAttribute> entries;
    if (!parseAttributeDictionary(entries)) return false;
    out = context_.dictionary(std::move(entries));
    return true;
  }
  if (take("unit")) {
    out = context_.unit();
    return true;
  }
  if (at("true") || at("false")) {
    out = context_.boolean(at("true"));
    advance();
    return true;
  }
  if (at("dense")) return parseDenseElements(out);
  if (at("array")) return parseDenseArray(out);
  if (at("loc")) {
    ir::Location location;
    const uint64_t sizeBefore = aliasSize_;
    if (!parseLocation(location) || !expand(aliasSize_ - sizeBefore, first.offset)) return false;
    out = context_.opaqueAttr(location.str());
    return true;
  }
  // Attributes of other kinds that are a word and brackets: kept as written.
  for (std::string_view word : {"affine_map", "affine_set", "strided", "sparse", "dense_resource", "distinct"}) {
    if (!at(word)) continue;
    std::string text;
    advance();
    if (word == "distinct") {
      uint32_t id = 0;
      if (!expect("[", "after 'distinct'") || !parseUnsigned(id, "a number") || !expect("]", "after the number"))
        return false;
      if (!parseOpaqueText(first.offset, text)) return false;
    } else if (!parseOpaqueText(first.offset, text)) {
      return false;
    }
    if (take(":")) {
      ir::Type type;
      if (!parseType(type)) return false;
      text += " : " + type.str();
    }
    out = context_.opaqueAttr(std::move(text));
    return true;
  }
  if (atType()) {
    ir::Type type;
    if (!parseType(type)) return false;
    out = context_.typeAttr(type);
    return true;
  }
  return errorHere("an attribute");
}

/// The number in `digits` (decimal or 0x) for an integer type: signless types take both the signed
/// and the unsigned range.
bool Parser::integerValue(std::string_view digits, bool negative, ir::Type type, uint32_t offset, int64_t& out) {
  const bool hex = digits.size() > 2 && (digits[1] == 'x' || digits[1] == 'X');
  uint64_t magnitude = 0;
  std::string_view body = hex ? digits.substr(2) : digits;
  auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), magnitude, hex ? 16 : 10);
  if (status != std::errc() || end != body.data() + body.size())
    return error(offset, "integer is too large");
  const uint32_t width = type.kind() == ir::TypeKind::Index ? 64 : type->width;
  const ir::Signedness signedness =
      type.kind() == ir::TypeKind::Index ? ir::Signedness::Signless : type->signedness;
  const uint32_t bits = width < 64 ? width : 64;
  const uint64_t most = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  const uint64_t half = bits == 0 ? 0 : uint64_t{1} << (bits - 1);
  bool fits = true;
  if (negative) fits = signedness != ir::Signedness::Unsigned ? magnitude <= half : magnitude == 0;
  else fits = signedness == ir::Signedness::Signed ? magnitude < half : magnitude <= most;
  if (!fits) return error(offset, fmt::format("integer does not fit {}", type.str()));
  uint64_t value = negative ? 0 - magnitude : magnitude;
  // Sign-extend from the width, so that equal patterns are one attribute; unsigned types do not.
  if (bits < 64 && bits > 0 && signedness != ir::Signedness::Unsigned)
    value = static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
  out = static_cast<int64_t>(value);
  return true;
}

bool Parser::parseNumber(ir::Attribute& out) {
  Literal literal;
  if (!parseLiteral(literal)) return false;
  const bool isFloat = literal.token.kind == TokenKind::Float;
  ir::Type type;
  if (!parseOptionalColonType(type, isFloat ? context_.floating(ir::ElementKind::F64) : context_.integer(64)))
    return false;
  if (type.kind() == ir::TypeKind::Float) {
    uint64_t bits = 0;
    if (!literalBits(literal, type, bits)) return false;
    out = context_.floatAttr(bits, type);
    return true;
  }
  if (isFloat || (type.kind() != ir::TypeKind::Integer && type.kind() != ir::TypeKind::Index)) {
    // A number of a type that the IR does not model.
    if (type.kind() == ir::TypeKind::Opaque) {
      out = context_.opaqueAttr((literal.negative ? "-" : "") + std::string(literal.token.text) + " : " + type.str());
      return true;
    }
    return error(literal.token.offset, fmt::format("a number cannot have type {}", type.str()));
  }
  int64_t value = 0;
  if (!integerValue(literal.token.text, literal.negative, type, literal.token.offset, value)) return false;
  out = context_.integerAttr(value, type);
  return true;
}

}  // namespace tilesight::text
