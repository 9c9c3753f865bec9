// Types:
//   type     ::= `iN` | `siN` | `uiN` | float | `index` | `none` | tensor | function | `!`dialect | alias
//   tensor   ::= `tensor` `<` (extent `x`)* type (`,` encoding)? `>`
//   function ::= `(` types `)` `->` (type | `(` types `)`)
// Everything else is kept as it is written.
#include <algorithm>

#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

namespace {

using ir::ElementKind;

ElementKind floatKind(std::string_view name) {
  static const std::unordered_map<std::string_view, ElementKind> kinds = {
      {"f16", ElementKind::F16},   {"bf16", ElementKind::BF16}, {"f32", ElementKind::F32},
      {"f64", ElementKind::F64},   {"tf32", ElementKind::TF32},
      {"f8E4M3FN", ElementKind::F8E4M3FN},       {"f8E5M2", ElementKind::F8E5M2},
      {"f8E4M3FNUZ", ElementKind::F8E4M3FNUZ},   {"f8E5M2FNUZ", ElementKind::F8E5M2FNUZ},
      {"f8E4M3B11FNUZ", ElementKind::F8E4M3B11FNUZ},
      {"f8E8M0FNU", ElementKind::F8E8M0FNU},     {"f4E2M1FN", ElementKind::F4E2M1FN}};
  auto found = kinds.find(name);
  return found == kinds.end() ? ElementKind::Invalid : found->second;
}

/// The width in "i32", "si8", "ui64"; 0 if `name` is no integer type.
uint32_t integerWidth(std::string_view name, ir::Signedness& signedness) {
  signedness = ir::Signedness::Signless;
  if (name.starts_with("si")) signedness = ir::Signedness::Signed, name.remove_prefix(1);
  else if (name.starts_with("ui")) signedness = ir::Signedness::Unsigned, name.remove_prefix(1);
  if (name.size() < 2 || name[0] != 'i' || name.size() > 9) return 0;
  uint32_t width = 0;
  for (char c : name.substr(1)) {
    if (c < '0' || c > '9') return 0;
    width = width * 10 + static_cast<uint32_t>(c - '0');
  }
  return width;
}

/// Builtin types that are written with <...> and kept as text.
bool isOpaqueBuiltin(std::string_view name) {
  return name == "memref" || name == "vector" || name == "complex" || name == "tuple";
}

/// Other float types of MLIR, known by name only.
bool isOtherFloat(std::string_view name) {
  return name == "f80" || name == "f128" || name == "f8E4M3" || name == "f8E3M4" ||
         name == "f6E2M3FN" || name == "f6E3M2FN";
}

}  // namespace

bool Parser::atType() const {
  if (is(TokenKind::ExclamId) || at("(")) return true;
  if (!is(TokenKind::BareId)) return false;
  ir::Signedness signedness;
  return token_.text == "tensor" || token_.text == "index" || token_.text == "none" ||
         floatKind(token_.text) != ElementKind::Invalid || integerWidth(token_.text, signedness) ||
         isOpaqueBuiltin(token_.text) || isOtherFloat(token_.text);
}

bool Parser::parseType(ir::Type& out) {
  Nest nest(*this);
  if (!nest.ok) return false;
  if (at("(")) return parseFunctionType(out);
  if (is(TokenKind::ExclamId)) return parseDialectType(out);
  if (!is(TokenKind::BareId)) return errorHere("a type");

  const Token name = token_;
  ir::Signedness signedness;
  if (uint32_t width = integerWidth(name.text, signedness)) {
    if (width > (1u << 24)) return error(name.offset, "integer type is too wide");
    advance();
    out = context_.integer(width, signedness);
    return true;
  }
  if (ElementKind kind = floatKind(name.text); kind != ElementKind::Invalid) {
    advance();
    out = context_.floating(kind);
    return true;
  }
  if (isOtherFloat(name.text)) {
    advance();
    out = context_.opaqueType(std::string(name.text));
    return true;
  }
  if (name.text == "index") {
    advance();
    out = context_.index();
    return true;
  }
  if (name.text == "none") {
    advance();
    out = context_.none();
    return true;
  }
  if (name.text == "tensor") {
    advance();
    if (!at("<")) return errorHere("'<' after 'tensor'");
    uint32_t ahead = token_.end;
    while (ahead < text_.size() && text_[ahead] == ' ') ++ahead;
    if (ahead < text_.size() && text_[ahead] == '*') {  // unranked
      std::string text;
      if (!parseOpaqueText(name.offset, text)) return false;
      out = context_.opaqueType(std::move(text));
      return true;
    }
    std::vector<int64_t> shape;
    ir::Type element;
    if (!parseShapedBody(shape, element)) return false;
    ir::Attribute encoding;
    if (take(",") && !parseAttribute(encoding)) return false;
    if (!expect(">", "to end the tensor type")) return false;
    out = context_.tensor(std::move(shape), element, encoding);
    return true;
  }
  if (isOpaqueBuiltin(name.text)) {
    advance();
    std::string text;
    if (!parseOpaqueText(name.offset, text)) return false;
    out = context_.opaqueType(std::move(text));
    return true;
  }
  return errorHere("a type");
}

/// From `<`: extents and the element type. Extents run into what follows ("64x64xf32"), so they
/// are read from the characters.
bool Parser::parseShapedBody(std::vector<int64_t>& shape, ir::Type& element) {
  if (!at("<")) return errorHere("'<'");
  uint32_t i = token_.end;
  const auto skipSpace = [&] {
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\n' || text_[i] == '\t' || text_[i] == '\r')) ++i;
  };
  for (;;) {
    skipSpace();
    uint32_t j = i;
    int64_t extent = 0;
    if (j < text_.size() && text_[j] == '?') {
      extent = ir::kDynamicExtent;
      ++j;
    } else {
      while (j < text_.size() && text_[j] >= '0' && text_[j] <= '9') {
        if (__builtin_mul_overflow(extent, int64_t{10}, &extent) ||
            __builtin_add_overflow(extent, int64_t{text_[j] - '0'}, &extent))
          return error(i, "tensor extent is too large");
        ++j;
      }
    }
    if (j == i) break;
    if (j >= text_.size() || text_[j] != 'x') {
      jump(i);
      return error(i, "expected 'x' after a tensor extent");
    }
    if (shape.size() == kMaxRank) return error(i, fmt::format("more than {} dimensions", kMaxRank));
    shape.push_back(extent);
    i = j + 1;
  }
  jump(i);
  return parseType(element);
}

// Triton up to 3.8 gives address spaces by number, 3.9 by name; "global" is the one that is left out.
bool Parser::parsePointerBody(ir::Type& out) {
  static constexpr std::pair<std::string_view, uint32_t> kSpaces[] = {{"descriptor", 0}, {"global", 1}, {"constant", 4}};
  ir::Type pointee;
  uint32_t space = 1;
  std::string name;
  if (!expect("<", "to begin the pointer type") || !parseType(pointee)) return false;
  if (take(",")) {
    if (is(TokenKind::String)) {
      const uint32_t at = token_.offset;
      if (!parseString(name)) return false;
      const auto* known = std::find_if(std::begin(kSpaces), std::end(kSpaces), [&](auto& s) { return s.first == name; });
      if (known == std::end(kSpaces)) return error(at, fmt::format("unknown address space \"{}\"", name));
      space = known->second;
      if (space == 1) name.clear();
    } else if (!parseUnsigned(space, "an address space")) {
      return false;
    }
  }
  if (!expect(">", "to end the pointer type")) return false;
  out = context_.pointer(pointee, space, std::move(name));
  return true;
}

bool Parser::parseDescriptorBody(ir::Type& out) {
  uint32_t ahead = token_.end;
  while (ahead < text_.size() && text_[ahead] == ' ') ++ahead;
  const bool tensorSpelling = at("<") && text_.substr(ahead, 6) == "tensor";
  std::vector<int64_t> shape;
  ir::Type element;
  ir::Attribute layout;
  if (tensorSpelling) {
    advance();  // <
    advance();  // tensor
  }
  if (!parseShapedBody(shape, element)) return false;
  if (take(",") && !parseAttribute(layout)) return false;
  if (!expect(">", "to end the descriptor type")) return false;
  if (tensorSpelling && !expect(">", "to end the descriptor type")) return false;
  out = context_.descriptor(std::move(shape), element, tensorSpelling, layout);
  return true;
}

bool Parser::parseDialectType(ir::Type& out) {
  const Token name = token_;
  advance();
  if (name.text == "tt.ptr") return parsePointerBody(out);
  if (name.text == "tt.tensordesc") return parseDescriptorBody(out);
  if (name.text == "tile.view") {
    std::vector<int64_t> shape;
    ir::Type element;
    if (!parseShapedBody(shape, element) || !expect(">", "to end the view type")) return false;
    out = context_.view(std::move(shape), element);
    return true;
  }
  // !dialect.type<...>, !dialect<...>, or an alias.
  if (name.text.find('.') != std::string_view::npos || (at("<") && token_.offset == name.end)) {
    std::string text(slice(name.offset, name.end));
    if (at("<") && token_.offset == name.end && !parseOpaqueText(name.offset, text)) return false;
    out = context_.opaqueType(std::move(text));
    return true;
  }
  Alias* alias = nullptr;
  if (!useAlias(name.text, true, name.offset, alias)) return false;
  out = alias->type;
  return true;
}

/// The current token is the `<` that follows text begun at `begin`. Takes everything to the
/// matching bracket, with aliases in it written out.
bool Parser::parseOpaqueText(uint32_t begin, std::string& out) {
  if (!at("<")) return errorHere("'<'");
  out.clear();
  std::string closers;
  uint32_t copied = begin;
  for (;;) {
    switch (token_.kind) {
      case TokenKind::End: return error(begin, "'<' without matching '>'");
      case TokenKind::HashId:
      case TokenKind::ExclamId: {
        const bool isType = is(TokenKind::ExclamId);
        if (token_.text.find('.') == std::string_view::npos && findAlias(token_.text, isType)) {
          Alias* alias = nullptr;
          const Token name = token_;
          out += slice(copied, name.offset);
          if (!useAlias(name.text, isType, name.offset, alias)) return false;
          if (alias->isLocation && !expand(alias->size, name.offset)) return false;
          out += isType ? alias->type.str()
                        : (alias->isLocation ? alias->location.str() : alias->attribute.str());
          copied = name.end;
        }
        break;
      }
      case TokenKind::Punctuation: {
        const std::string_view text = token_.text;
        if (text == "<") closers += '>';
        else if (text == "(") closers += ')';
        else if (text == "[") closers += ']';
        else if (text == "{") closers += '}';
        else if (text == ">" || text == ")" || text == "]" || text == "}") {
          if (closers.empty() || closers.back() != text[0])
            return error(token_.offset, fmt::format("unbalanced '{}'", text));
          closers.pop_back();
          if (closers.empty()) {
            out += slice(copied, token_.end);
            advance();
            return true;
          }
        }
        break;
      }
      default: break;
    }
    advance();
  }
}

bool Parser::parseTypeList(std::vector<ir::Type>& out) {
  do {
    ir::Type type;
    if (!parseType(type)) return false;
    out.push_back(type);
  } while (take(","));
  return true;
}

bool Parser::parseParenthesizedTypes(std::vector<ir::Type>& out) {
  return parseList("(", ")", "around types", [&] {
    ir::Type type;
    if (!parseType(type)) return false;
    out.push_back(type);
    return true;
  });
}

bool Parser::parseResultTypes(std::vector<ir::Type>& out) {
  if (at("(")) return parseParenthesizedTypes(out);
  ir::Type type;
  if (!parseType(type)) return false;
  out.push_back(type);
  return true;
}

bool Parser::parseFunctionType(ir::Type& out) {
  std::vector<ir::Type> inputs, results;
  if (!parseParenthesizedTypes(inputs) || !expect("->", "in a function type") || !parseResultTypes(results))
    return false;
  out = context_.function(std::move(inputs), std::move(results));
  return true;
}

}  // namespace tilesight::text
