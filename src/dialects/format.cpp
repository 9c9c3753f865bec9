#include "dialects/format.h"

#include "dialects/table.h"

namespace tilesight::dialects {

namespace {

class FormatCompiler {
 public:
  FormatCompiler(std::string_view text, const OpInfo& info) : text_(text), info_(info) {}

  std::string compile(std::vector<FormatElement>& out) {
    sequence(out, "");
    if (error_.empty() && at_ < text_.size()) error_ = "stray character in format";
    return error_;
  }

 private:
  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view word) {
    skipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string name() {
    skipSpace();
    size_t begin = at_;
    while (at_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// Elements up to one of the characters in `stop` (not consumed).
  void sequence(std::vector<FormatElement>& out, std::string_view stop, int* anchor = nullptr) {
    while (error_.empty()) {
      skipSpace();
      if (at_ >= text_.size() || stop.find(text_[at_]) != std::string_view::npos) return;
      FormatElement e;
      if (!element(e)) return;
      out.push_back(std::move(e));
      if (anchor && take("^")) *anchor = static_cast<int>(out.size()) - 1;
    }
  }

  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  bool element(FormatElement& e) {
    using Kind = FormatElement::Kind;
    if (take("`")) {
      size_t end = text_.find('`', at_);
      if (end == std::string_view::npos) return fail("unterminated literal");
      e.kind = Kind::Literal;
      e.text = std::string(text_.substr(at_, end - at_));
      at_ = end + 1;
      return true;
    }
    if (take("$")) return variable(e);
    if (take("attr-dict-with-keyword")) {
      e.kind = Kind::AttrDict;
      e.withKeyword = true;
      return true;
    }
    if (take("attr-dict")) {
      e.kind = Kind::AttrDict;
      return true;
    }
    if (take("functional-type(")) {
      e.kind = Kind::FunctionalType;
      take("$");
      e.text = name();
      if (!take(",")) return fail("expected ',' in functional-type");
      take("$");
      e.second = name();
      return take(")") || fail("expected ')'");
    }
    if (take("qualified(")) {
      if (!element(e)) return false;
      e.abbreviated = false;
      return take(")") || fail("expected ')'");
    }
    if (take("type(")) {
      e.kind = Kind::Type;
      take("$");
      e.text = name();
      if (!take(")")) return fail("expected ')'");
      if (e.text == "operands" && info_.operandGroup("operands") < 0) return true;
      if (e.text == "results" && info_.resultGroup("results") < 0) return true;
      e.index = info_.operandGroup(e.text);
      if (e.index < 0) {
        e.index = info_.resultGroup(e.text);
        e.ofResult = true;
      }
      if (e.index < 0) return fail("type of unknown value '" + e.text + "'");
      const ValueGroup& group = (e.ofResult ? info_.results : info_.operands)[e.index];
      e.abbreviated = !group.like && (group.type == TypeClass::Pointer || group.type == TypeClass::Descriptor);
      return true;
    }
    if (take("oilist(")) {
      e.kind = Kind::OrList;
      do {
        e.clauses.emplace_back();
        sequence(e.clauses.back(), "|)");
      } while (take("|"));
      return take(")") || fail("expected ')'");
    }
    if (take("operands")) {
      e.kind = Kind::AllOperands;
      return true;
    }
    if (take("(")) {
      e.kind = Kind::Optional;
      sequence(e.children, ")", &e.anchor);
      if (!take(")?")) return fail("expected ')?'");
      return e.anchor >= 0 || fail("optional group without anchor");
    }
    return fail("unknown element at '" + std::string(text_.substr(at_, 20)) + "'");
  }

  bool variable(FormatElement& e) {
    e.text = name();
    e.index = info_.operandGroup(e.text);
    e.kind = FormatElement::Kind::Operand;
    if (e.index >= 0) return true;
    e.kind = FormatElement::Kind::Attribute;
    for (size_t i = 0; i < info_.attributes.size(); ++i)
      if (info_.attributes[i].name == e.text) e.index = static_cast<int>(i);
    return e.index >= 0 || fail("unknown name '$" + e.text + "'");
  }

  std::string_view text_;
  const OpInfo& info_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::string compileFormat(std::string_view text, const OpInfo& info,
                          std::vector<FormatElement>& elements) {
  return FormatCompiler(text, info).compile(elements);
}

}  // namespace tilesight::dialects
