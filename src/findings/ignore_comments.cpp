#include "findings/ignore_comments.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "findings/format.h"
#include "findings/nearest.h"

namespace tilesight::findings {
namespace {

constexpr std::string_view tool = "tilesight";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The letters that a text begins with.
std::string_view word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && (std::isalpha(static_cast<unsigned char>(text[end])) || text[end] == '-' || text[end] == '_')) ++end;
  return text.substr(0, end);
}

/// Is it what somebody writes who means `ignore`?
bool meansIgnore(std::string_view verb) {
  constexpr std::string_view others[] = {"noqa", "disable", "suppress", "skip", "allow", "nolint", "nocheck", "accept"};
  constexpr std::string_view right[] = {"ignore"};
  return std::find(std::begin(others), std::end(others), verb) != std::end(others) || !nearest(verb, right).empty();
}

/// What a comment (from its "#" to the end of the line) says to Tilesight. Capitals do not matter.
std::optional<IgnoreComment> parse(std::string_view comment, uint32_t line) {
  const std::string folded = lower(comment);
  const std::string_view text = folded;
  constexpr std::string_view tools[] = {tool};
  for (size_t at = 0; at < text.size(); ++at) {
    if (at && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '-' || text[at - 1] == '_')) continue;
    const std::string_view name = word(text.substr(at));
    const bool named = name == tool;
    if (!named && (name.size() + 2 < tool.size() || nearest(name, tools).empty())) continue;
    std::string_view rest = trimmed(text.substr(at + name.size()));
    const bool colon = rest.starts_with(':');
    if (colon) rest = trimmed(rest.substr(1));
    const std::string_view verb = word(rest);
    const bool right = named && colon && verb == "ignore";
    if (verb.empty() || (!right && !meansIgnore(verb))) continue;
    rest = trimmed(rest.substr(verb.size()));
    const bool bracket = rest.starts_with('[');
    if (!colon && !bracket) continue;  // prose: "tilesight skips this"
    if (!named && !bracket) continue;
    if (colon && named && verb != "ignore" && !bracket && !rest.empty() && rest[0] != ':') continue;
    IgnoreComment result{.line = line};
    if (!right) result.misspelt = std::string(trimmed(text.substr(at, static_cast<size_t>(verb.data() + verb.size() - text.data()) - at)));
    const size_t close = rest.find(']');
    if (bracket && close != rest.npos) result.kinds = commaSeparated(rest.substr(1, close - 1));
    return result;
  }
  return std::nullopt;
}

/// Walks over Python text, statement by statement: knows strings, comments, brackets and lines that a
/// backslash continues.
class Statements {
 public:
  explicit Statements(std::string_view text) : text_(text) {}

  struct Statement {
    uint32_t first = 0, last = 0;  // lines; 0: there is none
    std::vector<IgnoreComment> comments;
  };

  /// The statement that `line` belongs to, with the comments in force.
  Statement at(uint32_t line) {
    std::vector<IgnoreComment> above;  // in comment lines that end right before the statement
    while (at_ < text_.size()) {
      Statement statement = next();
      if (!statement.first) {  // a line without code
        if (!commented_) above.clear();
        else above.insert(above.end(), statement.comments.begin(), statement.comments.end());
        if (statement.last >= line) return {};
        continue;
      }
      if (statement.last >= line) {
        statement.comments.insert(statement.comments.begin(), above.begin(), above.end());
        return statement;
      }
      above.clear();
    }
    return {};
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  /// The next statement with the rest of its last line, or a line without one.
  Statement next() {
    Statement statement;
    int depth = 0;
    commented_ = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        const size_t end = std::min(text_.find('\n', at_), text_.size());
        commented_ = true;
        if (auto comment = parse(text_.substr(at_, end - at_), line_))
          statement.comments.push_back(std::move(*comment));
        at_ = end;
        continue;
      }
      if (c == '\n') {
        statement.last = line_++;
        ++at_;
        if (depth <= 0) return statement;
        continue;
      }
      if (c == '\\' && at_ + 1 < text_.size()) {  // a line that goes on, with \r\n too
        at_ += text_.substr(at_ + 1).starts_with("\r\n") ? 2 : 1;
        if (text_[at_] == '\n') ++line_;
        ++at_;
        continue;
      }
      if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
        ++at_;
        continue;
      }
      if (!statement.first) statement.first = line_;
      if (c == '"' || c == '\'') {
        skipString(c);
        continue;
      }
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
      ++at_;
    }
    statement.last = line_;
    return statement;
  }

  void skipString(char quote) {
    const std::string triple(3, quote);
    const bool isLong = starts(triple);
    at_ += isLong ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        line_ += text_[at_ + 1] == '\n';
        at_ += 2;
      } else if (isLong && starts(triple)) {
        at_ += 3;
        return;
      } else if (!isLong && (text_[at_] == quote || text_[at_] == '\n')) {
        at_ += text_[at_] == quote;  // an unfinished one ends with its line
        return;
      } else {
        line_ += text_[at_++] == '\n';
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool commented_ = false;  // was there a comment in what `next` read
};

void add(std::vector<IgnoreComment>& all, std::vector<IgnoreComment> more, const std::string& file) {
  for (IgnoreComment& comment : more) {
    comment.file = file;
    const bool known = std::any_of(all.begin(), all.end(), [&](const IgnoreComment& other) {
      return other.file == comment.file && other.line == comment.line;
    });
    if (!known) all.push_back(std::move(comment));
  }
}

}  // namespace

std::vector<IgnoreComment> ignoreComments(std::string_view source, uint32_t line) {
  if (line == 0) return {};
  return Statements(source).at(line).comments;
}

void findIgnoreComments(LaunchReport& report, const std::map<std::string, std::string>& sources) {
  for (Finding& finding : report.findings) {
    finding.ignores.clear();
    const auto look = [&](const Frame& frame, const std::string& ownLine) {
      const auto source = sources.find(frame.file);
      if (source != sources.end())
        return add(finding.ignores, ignoreComments(source->second, frame.line), frame.file);
      std::vector<IgnoreComment> comments = ignoreComments(ownLine, 1);
      for (IgnoreComment& comment : comments) comment.line = frame.line;
      add(finding.ignores, std::move(comments), frame.file);
    };
    look(finding.location, finding.sourceLine);
    for (const Frame& frame : finding.stack) look(frame, {});
  }
}

}  // namespace tilesight::findings
