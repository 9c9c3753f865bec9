#include "findings/ignore_comments.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "findings/format.h"

namespace tilesight::findings {
namespace {

/// What a comment (from its "#" to the end of the line) says to Tilesight.
std::optional<IgnoreComment> parse(std::string_view comment, uint32_t line) {
  const size_t name = comment.find("tilesight:");
  if (name == comment.npos) return std::nullopt;
  std::string_view rest = trimmed(comment.substr(name + std::string_view("tilesight:").size()));
  constexpr std::string_view word = "ignore";
  if (!rest.starts_with(word)) return std::nullopt;
  rest = trimmed(rest.substr(word.size()));
  IgnoreComment result{.line = line};
  const size_t close = rest.find(']');
  if (!rest.starts_with('[') || close == rest.npos) return result;
  result.kinds = commaSeparated(rest.substr(1, close - 1));
  return result;
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
  if (source.find("tilesight:") == source.npos || line == 0) return {};
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
