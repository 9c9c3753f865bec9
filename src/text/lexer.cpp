#include "text/lexer.h"

namespace tilesight::text {

namespace {
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isHex(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int hexValue(char c) { return isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }
}  // namespace

bool isIdStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isIdChar(char c) { return isIdStart(c) || isDigit(c) || c == '$' || c == '.'; }
bool isSuffixChar(char c) { return isIdChar(c) || c == '-'; }

Token Lexer::token(TokenKind kind, uint32_t begin, uint32_t skip) {
  return {kind, text_.substr(begin + skip, at_ - begin - skip), begin, at_};
}

Token Lexer::next() {
  for (;;) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    if (peek() != '/' || peek(1) != '/') break;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  const uint32_t begin = at_;
  if (at_ >= text_.size()) return token(TokenKind::End, begin);
  const char c = text_[at_];
  if (isIdStart(c)) {
    while (isIdChar(peek())) ++at_;
    return token(TokenKind::BareId, begin);
  }
  if (isDigit(c)) return number(begin);
  ++at_;
  switch (c) {
    case '"': return string(begin);
    case '%': return sigil(TokenKind::PercentId, begin);
    case '^': return sigil(TokenKind::CaretId, begin);
    case '#': return sigil(TokenKind::HashId, begin);
    case '!': return sigil(TokenKind::ExclamId, begin);
    case '@':
      if (peek() == '"') {
        ++at_;
        Token name = string(begin + 1);
        name.offset = begin;
        return name.kind == TokenKind::String ? token(TokenKind::AtId, begin, 1) : name;
      }
      if (!isIdStart(peek())) return token(TokenKind::Error, begin);
      while (isIdChar(peek())) ++at_;
      return token(TokenKind::AtId, begin, 1);
    case '-':
      if (peek() == '>') ++at_;
      return token(TokenKind::Punctuation, begin);
    case ':':
      if (peek() == ':') ++at_;
      return token(TokenKind::Punctuation, begin);
    case '{':
      if (peek() == '-' && peek(1) == '#') return metadata(begin);
      return token(TokenKind::Punctuation, begin);
    case '(': case ')': case '[': case ']': case '}': case '<': case '>': case ',': case '=':
    case '+': case '*': case '?': case '|': case '/':
      return token(TokenKind::Punctuation, begin);
    default: return token(TokenKind::Error, begin);
  }
}

Token Lexer::sigil(TokenKind kind, uint32_t begin) {
  if (isDigit(peek())) {
    while (isDigit(peek())) ++at_;
  } else if (isSuffixChar(peek())) {
    while (isSuffixChar(peek())) ++at_;
  } else {
    return token(TokenKind::Error, begin);
  }
  return token(kind, begin, 1);
}

Token Lexer::number(uint32_t begin) {
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && isHex(peek(2))) {
    at_ += 2;
    while (isHex(peek())) ++at_;
    return token(TokenKind::Integer, begin);
  }
  while (isDigit(peek())) ++at_;
  if (peek() != '.') return token(TokenKind::Integer, begin);
  ++at_;
  while (isDigit(peek())) ++at_;
  if (peek() == 'e' || peek() == 'E') {
    const uint32_t sign = peek(1) == '+' || peek(1) == '-';
    if (isDigit(peek(1 + sign))) {
      at_ += 1 + sign;
      while (isDigit(peek())) ++at_;
    }
  }
  return token(TokenKind::Float, begin);
}

Token Lexer::string(uint32_t begin) {
  while (at_ < text_.size() && text_[at_] != '\n') {
    const char c = text_[at_++];
    if (c == '"') return token(TokenKind::String, begin);
    if (c == '\\' && at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  return token(TokenKind::Error, begin);
}

Token Lexer::metadata(uint32_t begin) {
  at_ += 2;
  while (at_ < text_.size()) {
    if (peek() == '"') {
      ++at_;
      if (string(at_).kind == TokenKind::Error) break;
    } else if (peek() == '#' && peek(1) == '-' && peek(2) == '}') {
      at_ += 3;
      return token(TokenKind::Metadata, begin);
    } else {
      ++at_;
    }
  }
  return token(TokenKind::Error, begin);
}

bool unescape(std::string_view quotedText, std::string& out) {
  out.clear();
  if (quotedText.size() < 2) return false;
  quotedText = quotedText.substr(1, quotedText.size() - 2);
  for (size_t i = 0; i < quotedText.size(); ++i) {
    if (quotedText[i] != '\\') {
      out += quotedText[i];
      continue;
    }
    if (++i >= quotedText.size()) return false;
    const char c = quotedText[i];
    if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (isHex(c) && i + 1 < quotedText.size() && isHex(quotedText[i + 1])) {
      out += static_cast<char>(hexValue(c) * 16 + hexValue(quotedText[i + 1]));
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace tilesight::text
