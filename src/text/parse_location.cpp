// Locations:
//   loc       ::= `loc` `(` body `)`
//   body      ::= `unknown` | file | name | callsite | fused | #alias | #dialect.attr
//   file      ::= string `:` int `:` int (`to` int? `:` int)?
//   name      ::= string (`(` body `)`)?
//   callsite  ::= `callsite` `(` body `at` body `)`
//   fused     ::= `fused` (`<` attribute `>`)? `[` body (`,` body)* `]`
#include "text/parser.h"

namespace tilesight::text {

bool Parser::parseOptionalLocation(ir::Location& out) {
  return !at("loc") || parseLocation(out);
}

bool Parser::parseLocation(ir::Location& out) {
  return expect("loc", "to begin a location") && expect("(", "after 'loc'") &&
         parseLocationBody(out) && expect(")", "to end the location");
}

bool Parser::parseLocationBody(ir::Location& out) {
  Nest nest(*this);
  if (!nest.ok) return false;

  if (is(TokenKind::HashId)) {
    const Token name = token_;
    if (name.text.find('.') != std::string_view::npos) {
      ir::Attribute attribute;
      if (!parseAttribute(attribute)) return false;
      ir::LocationStorage storage;
      storage.kind = ir::LocationKind::Opaque;
      storage.text = attribute.str();
      out = context_.intern(std::move(storage));
      return true;
    }
    advance();
    Alias* alias = nullptr;
    if (!useAlias(name.text, false, name.offset, alias)) return false;
    if (!alias->isLocation) return error(name.offset, "this alias is not a location");
    out = alias->location;
    return true;
  }

  if (is(TokenKind::String)) {
    std::string text;
    if (!parseString(text)) return false;
    if (take(":")) {
      ir::LocationStorage storage;
      storage.kind = ir::LocationKind::File;
      storage.text = std::move(text);
      if (!parseUnsigned(storage.line, "a line number") ||
          !expect(":", "between line and column") ||
          !parseUnsigned(storage.column, "a column number"))
        return false;
      if (take("to")) {
        storage.endLine = storage.line;
        if (is(TokenKind::Integer) && !parseUnsigned(storage.endLine, "a line number")) return false;
        if (!expect(":", "before the end column") ||
            !parseUnsigned(storage.endColumn, "a column number"))
          return false;
      }
      out = context_.intern(std::move(storage));
      return true;
    }
    ir::Location child;
    if (take("(")) {
      if (!parseLocationBody(child) || !expect(")", "to end the named location")) return false;
    } else {
      child = context_.unknownLocation();
    }
    out = context_.nameLocation(std::move(text), child);
    return true;
  }

  if (take("unknown")) {
    out = context_.unknownLocation();
    return true;
  }
  if (take("callsite")) {
    ir::Location callee, caller;
    if (!expect("(", "after 'callsite'") || !parseLocationBody(callee) ||
        !expect("at", "between callee and caller") || !parseLocationBody(caller) ||
        !expect(")", "to end the call site"))
      return false;
    out = context_.callSite(callee, caller);
    return true;
  }
  if (take("fused")) {
    ir::LocationStorage storage;
    storage.kind = ir::LocationKind::Fused;
    if (take("<")) {
      ir::Attribute metadata;
      if (!parseAttribute(metadata) || !expect(">", "after the metadata")) return false;
      storage.text = metadata.str();
    }
    if (!parseList("[", "]", "around fused locations", [&] {
          ir::Location part;
          if (!parseLocationBody(part)) return false;
          storage.fused.push_back(part);
          return true;
        }))
      return false;
    out = context_.intern(std::move(storage));
    return true;
  }
  return errorHere("a location");
}

}  // namespace tilesight::text
