#include "passes/pipeline.h"

#include <fmt/format.h>

namespace tilesight::passes {

namespace {

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool isName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; }

class Reader {
 public:
  Reader(std::string_view text, const Registry& registry) : text_(text), registry_(registry) {}

  Result<std::vector<Step>> run() {
    std::vector<Step> steps;
    skip();
    if (done()) return failure("an empty pipeline");
    for (;;) {
      skip();
      const std::string name = word();
      if (name.empty()) return unreadable("the name of a pass");
      std::vector<std::pair<std::string, std::string>> options;
      skip();
      if (!done() && text_[at_] == '{') {
        ++at_;
        for (;;) {
          while (!done() && (isSpace(text_[at_]) || text_[at_] == ',')) ++at_;
          if (!done() && text_[at_] == '}') break;
          const std::string key = word();
          if (key.empty()) return unreadable("an option, or '}'");
          std::string value;
          if (!done() && text_[at_] == '=') {
            ++at_;
            if (!readValue(value)) return unreadable("the closing '\"'");
          }
          options.emplace_back(key, value);
        }
        ++at_;
        skip();
      }
      const Pass* pass = registry_.find(name);
      if (!pass) return failure(registry_.unknown(name));
      auto values = optionValues(*pass, options);
      if (!values) return tl::unexpected<Diagnostic>(values.error());
      steps.push_back({pass, std::move(*values)});
      if (done()) return steps;
      if (text_[at_] != ',') return unreadable("',' or the end");
      ++at_;
    }
  }

 private:
  bool done() const { return at_ >= text_.size(); }
  void skip() {
    while (!done() && isSpace(text_[at_])) ++at_;
  }
  std::string word() {
    const size_t begin = at_;
    while (!done() && isName(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool readValue(std::string& out) {
    if (!done() && text_[at_] == '"') {
      const size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) return false;
      out = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return true;
    }
    const size_t begin = at_;
    while (!done() && !isSpace(text_[at_]) && text_[at_] != ',' && text_[at_] != '}') ++at_;
    out = text_.substr(begin, at_ - begin);
    return true;
  }
  tl::unexpected<Diagnostic> unreadable(std::string_view expected) const {
    return failure(fmt::format("cannot read the pipeline '{}': expected {} {}", text_, expected,
                               done() ? "at its end" : fmt::format("before '{}'", text_.substr(at_))));
  }

  std::string_view text_;
  const Registry& registry_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Step>> parsePipeline(std::string_view text, const Registry& registry) { return Reader(text, registry).run(); }

}  // namespace tilesight::passes
