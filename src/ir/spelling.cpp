#include "ir/spelling.h"

namespace tilesight::ir {

namespace {
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

std::string quoted(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7F && c != '"') {
      out += c;
    } else {
      out += '\\';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out + '"';
}

bool isBareIdentifier(std::string_view text) {
  if (text.empty() || !isLetter(text[0])) return false;
  for (char c : text)
    if (!isLetter(c) && !isDigit(c) && c != '$' && c != '.') return false;
  return true;
}

std::string symbolText(std::string_view name) {
  return isBareIdentifier(name) ? "@" + std::string(name) : "@" + quoted(name);
}

}  // namespace tilesight::ir
