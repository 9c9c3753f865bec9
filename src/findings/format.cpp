#include "findings/format.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilesight::findings {

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t place = digits.size(); place > first + 3;) digits.insert(place -= 3, 1, ',');
  return digits;
}

std::string counted(int64_t number, std::string_view noun) {
  std::string text = grouped(number) + " " + std::string(noun);
  if (number != 1) text += noun.ends_with("ch") ? "es" : "s";
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> commaSeparated(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view part = trimmed(text.substr(0, comma)); !part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

void addMissing(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& item : more)
    if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(item);
}

std::string duration(double seconds) {
  if (!(seconds >= 0)) return "? s";
  if (seconds < 0.00995) return fmt::format("{:.2g} ms", seconds * 1e3);
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds > 1e15) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  return fmt::format("{} min {} s", grouped(whole / 60), whole % 60);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string indexText(const std::vector<int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    const auto next = static_cast<unsigned char>(i + 1 < out.size() ? out[i + 1] : 0);
    if (byte == '\n' || byte == '\r') out[i] = ' ';
    else if ((byte < ' ' && byte != '\t') || byte == 0x7f) out[i] = '?';
    else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) out.replace(i, 2, "?");  // C1 controls
  }
  return out;
}

std::string relativePath(std::string_view path, std::string_view directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.remove_suffix(1);
  if (directory.empty() || directory == "/") return std::string(path);
  if (path.starts_with(directory) && path.size() > directory.size() + 1 &&
      path[directory.size()] == '/')
    return std::string(path.substr(directory.size() + 1));
  return std::string(path);
}

std::string wrapped(std::string_view text, std::string_view first, std::string_view indent,
                    size_t width) {
  std::string out(first);
  size_t column = first.size();
  bool lineStart = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!lineStart && column + 1 + word.size() > width) {
      out += '\n';
      out += indent;
      column = indent.size();
      lineStart = true;
    }
    if (!lineStart) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    lineStart = false;
  }
  out += '\n';
  return out;
}

std::string Painter::operator()(Style style, std::string_view text) const {
  if (!colour_) return std::string(text);
  const char* code = "0";
  switch (style) {
    case Style::Error: code = "1;31"; break;
    case Style::Warning: code = "1;35"; break;
    case Style::Note: code = "1;36"; break;
    case Style::Unknown: code = "1;33"; break;
    case Style::Place: code = "1"; break;
    case Style::Caret: code = "1;32"; break;
    case Style::Faint: code = "2"; break;
  }
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace tilesight::findings
