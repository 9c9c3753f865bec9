// Operations that no table has, in a custom form we do not know: their text is kept. It ends before
// a `loc(` outside brackets, before the bracket that closes the region they are in, or at the end of
// a line where the text can end. Aliases in it are written out, because their definitions are not
// kept.
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

/// A word without a dialect: of the operation before, as `default {` and `partition0(...) {` are of ttg.warp_specialize.
bool isRegionWord(const Token& next) {
  return next.kind == TokenKind::BareId && next.text.find('.') == std::string_view::npos && next.text != "module" && next.text != "loc";
}

/// Tokens that cannot begin an operation, so that the one before goes on.
bool cannotBegin(const Token& next) {
  return (next.kind == TokenKind::Punctuation && next.text != "}") || isRegionWord(next);
}

/// True if `text` goes on with `:2 =`, as behind the name of several results.
bool namesResults(std::string_view text) {
  size_t at = 0;
  if (at == text.size() || text[at++] != ':') return false;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  while (at < text.size() && text[at] == ' ') ++at;
  return at < text.size() && text[at] == '=';
}

}  // namespace

bool Parser::parseOpaqueOperation(ir::Operation& op, uint32_t begin, uint32_t resultCount) {
  const Token name = token_;
  std::string closers;
  Token last = token_;
  struct Use {
    ValueUse use;
    uint32_t place;   // in op.opaqueText
    uint32_t region;  // 0: before any word that begins one
  };
  std::vector<Use> uses;
  std::vector<OpaqueLabel> labels;
  uint32_t copied = begin;     // text before this is in op.opaqueText
  size_t locationDepth = 0;    // brackets open where the outermost `loc(` began
  const auto position = [&](uint32_t offset) {
    return static_cast<uint32_t>(op.opaqueText.size()) + offset - copied;
  };
  // Defined inside, and in which region: others, and the operands, may use such a name for something else.
  std::vector<std::unordered_set<std::string_view>> locals(1);
  size_t argumentsDepth = 0;   // brackets open in the arguments of a region or block
  bool argumentsFollow = false;
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
      if (newLine && isRegionWord(token_)) {
        locals.emplace_back();
        argumentsFollow = true;
        last = token_;
        advance();
        continue;
      }
    }
    if (is(TokenKind::PercentId)) {
      ValueUse use;
      const Token value = token_;
      if (!parseValueUse(use)) return false;
      last = Token{TokenKind::PercentId, value.text, use.offset, use.end};
      const bool isArgument = argumentsDepth && argumentsDepth == closers.size() && at(":");
      if (isArgument || (!closers.empty() && (at("=") || namesResults(text_.substr(use.end))))) locals.back().insert(use.name);
      uses.push_back({use, position(use.offset), static_cast<uint32_t>(locals.size() - 1)});
      continue;
    }
    if (argumentsFollow && at("(")) argumentsDepth = closers.size() + 1;
    argumentsFollow = is(TokenKind::CaretId);
    if (is(TokenKind::CaretId))
      labels.push_back({&op, token_.text, {position(token_.offset), token_.end - token_.offset}});
    const bool isType = is(TokenKind::ExclamId);
    if ((isType || is(TokenKind::HashId)) && findAlias(token_.text, isType)) {
      const Token alias = token_;
      Alias* found = nullptr;
      if (!useAlias(alias.text, isType, alias.offset, found)) return false;
      if (found->isLocation && !expand(found->size, alias.offset)) return false;
      op.opaqueText += slice(copied, alias.offset);
      if (found->isLocation) {
        const std::string text = found->location.str();  // loc(...)
        op.opaqueText += locationDepth ? text.substr(4, text.size() - 5) : text;
      } else {
        op.opaqueText += isType ? found->type.str() : found->attribute.str();
      }
      copied = alias.end;
    }
    if (at("loc") && !locationDepth) locationDepth = closers.size() + 1;
    else if (locationDepth == closers.size() + 1 && !at("(")) locationDepth = 0;
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
        if (closers.size() < argumentsDepth) argumentsDepth = 0;
        if (closers.size() < locationDepth) locationDepth = 0;
      }
    }
    last = token_;
    advance();
  }
  op.opaqueText += slice(copied, last.end);
  op.isTextOnly = true;
  for (uint32_t i = 0; i < resultCount; ++i) addResults(op, {ir::Type()});

  for (const auto& [use, place, region] : uses) {
    if (locals[region].count(use.name)) continue;
    const Definition* found = lookup(use.name);
    if (found && use.number < found->values.size()) {
      op.operands.push_back(found->values[use.number]);
      op.opaqueOperands.push_back({place, use.end - use.offset});
    } else {
      scopes_.back().opaqueUses.push_back({&op, use, place});
    }
  }
  for (OpaqueLabel& label : labels) scopes_.back().opaqueLabels.push_back(label);
  return true;
}

}  // namespace tilesight::text
