#include "text/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/text.h"

namespace tilesight::text {

Parser::Parser(std::string_view text, std::string fileName, ir::Context& context)
    : text_(text), fileName_(std::move(fileName)), context_(context), lexer_(text) {
  lineStarts_.push_back(0);
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') lineStarts_.push_back(static_cast<uint32_t>(i + 1));
}

Parser::Nest::Nest(Parser& parser) : parser_(parser) {
  ok = ++parser_.depth_ <= kMaxDepth;
  if (!ok) parser_.error(parser_.token_.offset, fmt::format("nested more than {} deep", kMaxDepth));
}

bool Parser::at(std::string_view spelling) const {
  return (token_.kind == TokenKind::Punctuation || token_.kind == TokenKind::BareId) &&
         token_.text == spelling;
}

bool Parser::take(std::string_view spelling) {
  if (!at(spelling)) return false;
  advance();
  return true;
}

bool Parser::expect(std::string_view spelling, std::string_view context) {
  if (take(spelling)) return true;
  return errorHere(fmt::format("'{}' {}", spelling, context));
}

std::pair<uint32_t, uint32_t> Parser::lineAndColumn(uint32_t offset) const {
  auto after = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  const auto line = static_cast<uint32_t>(after - lineStarts_.begin());
  return {line, offset - lineStarts_[line - 1] + 1};
}

bool Parser::error(uint32_t offset, std::string message) {
  if (!diagnostic_) {
    auto [line, column] = lineAndColumn(offset);
    if (message.size() > 800) message.replace(797, std::string::npos, "...");  // a type can be long
    diagnostic_ = Diagnostic{fileName_, line, column, std::move(message), {}};
  }
  return false;
}

bool Parser::errorHere(std::string_view expected) {
  std::string found;
  switch (token_.kind) {
    case TokenKind::End: found = "the end of the file"; break;
    case TokenKind::Error:
      if (!token_.text.empty() && token_.text[0] == '"')
        return error(token_.offset, "string without closing quote on its line");
      if (token_.text.starts_with("{-#"))
        return error(token_.offset, "'{-#' without closing '#-}'");
      [[fallthrough]];
    default: {
      std::string_view text = slice(token_.offset, token_.end);
      for (char c : text.substr(0, 40)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7F) found += c;
        else found += fmt::format("\\x{:02X}", byte);
      }
      found = "'" + found + (text.size() > 40 ? "...'" : "'");
    }
  }
  return error(token_.offset, fmt::format("expected {}, found {}", expected, found));
}

bool Parser::parseBareWord(std::string& out, std::string_view what) {
  if (!is(TokenKind::BareId)) return errorHere(what);
  out = token_.text;
  advance();
  return true;
}

bool Parser::parseUnsigned(uint32_t& out, std::string_view what) {
  if (!is(TokenKind::Integer)) return errorHere(what);
  uint64_t value = 0;
  for (char c : token_.text) {
    if (c < '0' || c > '9') return errorHere(what);
    value = value * 10 + static_cast<uint64_t>(c - '0');
    if (value > UINT32_MAX) return error(token_.offset, fmt::format("{} is too large", what));
  }
  out = static_cast<uint32_t>(value);
  advance();
  return true;
}

bool Parser::parseList(std::string_view open, std::string_view close, std::string_view context,
                       const std::function<bool()>& element) {
  if (!expect(open, context)) return false;
  if (take(close)) return true;
  do {
    if (!element()) return false;
  } while (take(","));
  return expect(close, context);
}

Result<ir::Module> Parser::parseModule() {
  ir::Module module;
  module.context = &context_;
  module.fileName = fileName_;
  module.top = std::make_unique<ir::Operation>();
  module.top->name = "builtin.module";
  module.top->info = dialects::find("builtin.module");
  ir::Block* body = ir::addBlock(*ir::addRegion(*module.top));

  collectAliases();
  jump(0);
  pushScope(true);
  bool ok = true;
  while (ok && !is(TokenKind::End)) {
    if (is(TokenKind::HashId) || is(TokenKind::ExclamId)) {
      ok = parseAliasDefinition();
    } else if (is(TokenKind::Metadata)) {
      module.trailingMetadata += token_.text;
      advance();
    } else {
      ok = parseOperation(*body);
    }
  }
  ok = ok && popScope();
  if (!ok) return tl::unexpected<Diagnostic>(*diagnostic_);

  // A file that is one module is that module.
  if (body->operations.size() == 1 && body->operations[0]->name == "builtin.module" &&
      body->operations[0]->regions.size() == 1) {
    std::unique_ptr<ir::Operation> only = std::move(body->operations[0]);
    only->parent = nullptr;
    module.top = std::move(only);
  }
  if (!placeholders_.empty()) replacePlaceholders(*module.top);
  return module;
}

Result<ir::Module> parse(std::string_view text, std::string fileName, ir::Context& context) {
  if (text.size() > (1u << 30))
    return tl::unexpected<Diagnostic>(Diagnostic{std::move(fileName), 0, 0, "MLIR text over 1 GiB", {}});
  return Parser(text, std::move(fileName), context).parseModule();
}

}  // namespace tilesight::text
