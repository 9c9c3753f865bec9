// Operations that no table has, in a custom form we do not know: their text is kept. It ends before
// a `loc(` outside brackets, before the bracket that closes the region they are in, or at the end of
// a line where the text can end.
#include <unordered_set>

#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

namespace {

/// Tokens after which a line cannot be the end of an operation.
bool continues(const Token& last) {
  return last.kind == TokenKind::Punctuation &&
         (last.text == "," || last.text == ":" || last.text == "=" || last.text == "->" || last.text == "::" ||
          last.text == "+" || last.text == "*" || last.text == "|");
}

/// Tokens that cannot begin an operation, so that the one before goes on.
bool cannotBegin(const Token& next) {
  return next.kind == TokenKind::Punctuation && next.text != "}";
}

}  // namespace

bool Parser::parseOpaqueOperation(ir::Operation& op, uint32_t begin, uint32_t resultCount) {
  const Token name = token_;
  std::string closers;
  Token last = token_;
  std::vector<ValueUse> uses;
  std::vector<OpaqueLabel> labels;
  std::unordered_set<std::string_view> locals;  // defined inside
  advance();
  for (;;) {
    if (is(TokenKind::End)) {
      if (!closers.empty()) return error(name.offset, fmt::format("'{}' has an open bracket at the end of the file", op.name));
      break;
    }
    if (closers.empty()) {
      if (at("loc") && token_.end < text_.size() && text_[token_.end] == '(') break;
      if (at("}") || is(TokenKind::Metadata)) break;
      const bool newLine = slice(last.end, token_.offset).find('\n') != std::string_view::npos;
      if (newLine && !continues(last) && !cannotBegin(token_)) break;
    }
    if (is(TokenKind::PercentId)) {
      ValueUse use;
      const Token value = token_;
      if (!parseValueUse(use)) return false;
      last = Token{TokenKind::PercentId, value.text, use.offset, use.end};
      if (!closers.empty() && at("=")) locals.insert(use.name);
      uses.push_back(use);
      continue;
    }
    if (is(TokenKind::CaretId))
      labels.push_back({&op, token_.text, {token_.offset - begin, token_.end - token_.offset}});
    if (is(TokenKind::Punctuation)) {
      const std::string_view text = token_.text;
      if (text == "<") closers += '>';
      else if (text == "(") closers += ')';
      else if (text == "[") closers += ']';
      else if (text == "{") closers += '}';
      else if (text == ">" || text == ")" || text == "]" || text == "}") {
        if (closers.empty() || closers.back() != text[0])
          return error(token_.offset, fmt::format("unbalanced '{}' in '{}'", text, op.name));
        closers.pop_back();
      }
    }
    last = token_;
    advance();
  }
  op.opaqueText = slice(begin, last.end);
  op.isTextOnly = true;
  for (uint32_t i = 0; i < resultCount; ++i) addResults(op, {ir::Type()});

  for (const ValueUse& use : uses) {
    if (locals.count(use.name)) continue;
    const Definition* found = lookup(use.name);
    if (found && use.number < found->values.size()) {
      op.operands.push_back(found->values[use.number]);
      op.opaqueOperands.push_back({use.offset - begin, use.end - use.offset});
    } else {
      scopes_.back().opaqueUses.push_back({&op, use, begin});
    }
  }
  for (OpaqueLabel& label : labels) scopes_.back().opaqueLabels.push_back(label);
  return true;
}

}  // namespace tilesight::text
