// Small pieces of text: numbers, plurals, times, paths, colours, wrapping.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilesight::findings {

/// 12288 -> "12,288".
std::string grouped(int64_t number);
/// (1, "program") -> "1 program"; (12288, "element") -> "12,288 elements"; words in -ch get "es".
std::string counted(int64_t number, std::string_view noun);
/// "0.4 s", "12 ms", "3 min 20 s".
std::string duration(double seconds);
std::string joined(const std::vector<std::string>& parts, std::string_view separator);
/// "[40,0]".
std::string indexText(const std::vector<int64_t>& index);

/// `text` on one line and without control characters: names and source lines come from files that
/// may be hostile to terminals. Line breaks become spaces, tabs stay, others become "?".
std::string printable(std::string_view text);

/// `text` without the blanks at its ends.
std::string_view trimmed(std::string_view text);

/// "a, b" -> "a", "b", without blanks and empty parts.
std::vector<std::string> commaSeparated(std::string_view text);

/// Appends what is not among `all` yet.
void addMissing(std::vector<std::string>& all, const std::vector<std::string>& more);

/// `path` relative to `directory` if it lies below it, else as it is. Both are taken as text: no
/// file system is asked.
std::string relativePath(std::string_view path, std::string_view directory);

/// Breaks `text` at spaces to lines of at most `width` columns. The first line starts with `first`,
/// the others with `indent`. Ends with a newline.
std::string wrapped(std::string_view text, std::string_view first, std::string_view indent,
                    size_t width = 100);

enum class Style { Error, Warning, Note, Unknown, Place, Caret, Faint };

/// Adds terminal colours, or nothing.
class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string operator()(Style style, std::string_view text) const;

 private:
  bool colour_;
};

}  // namespace tilesight::findings
