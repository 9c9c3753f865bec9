// Tokens of MLIR text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilesight::text {

enum class TokenKind : uint8_t {
  End,
  Error,        // text that is no token; `text` is what was read
  BareId,       // letter or _, then letters, digits, _ $ .
  Integer,      // decimal or 0x...
  Float,        // 1.5, 2.0e-3
  String,       // with its quotes
  PercentId,    // %name, without the %
  CaretId,      // ^label, without the ^
  AtId,         // @name or @"name", without the @ (quotes kept)
  HashId,       // #name, without the #
  ExclamId,     // !name, without the !
  Metadata,     // {-# ... #-}, whole
  Punctuation,  // one character, or -> or ::
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint32_t offset = 0;  // of the first character, sigils included
  uint32_t end = 0;     // past the last character
};

/// Reads tokens from a text that outlives it. Comments (`//` to the end of the line) are skipped.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();
  void reset(uint32_t offset) { at_ = offset; }
  uint32_t position() const { return at_; }
  std::string_view text() const { return text_; }

 private:
  Token token(TokenKind kind, uint32_t begin, uint32_t skip = 0);
  Token sigil(TokenKind kind, uint32_t begin);
  Token number(uint32_t begin);
  Token string(uint32_t begin);
  Token metadata(uint32_t begin);
  char peek(uint32_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  uint32_t at_ = 0;
};

/// The contents of a String token (quotes included), escapes resolved. False if an escape is wrong.
bool unescape(std::string_view quotedText, std::string& out);

bool isIdStart(char c);
bool isIdChar(char c);
/// Characters of `%`, `#`, `!` and `^` names after the sigil.
bool isSuffixChar(char c);

}  // namespace tilesight::text
