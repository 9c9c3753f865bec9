#include "server/condition.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/nearest.h"

namespace tilesight::server {

struct Condition::Node {
  enum class What : uint8_t { Number, Name, Unary, Binary, Map, Reduce } what = What::Number;
  std::string op;  // "+", "isnan", the variable
  double number = 0;
  std::unique_ptr<Node> left, right;
};

namespace {

using Node = Condition::Node;
using NodeResult = Result<std::unique_ptr<Node>>;

constexpr const char* kMaps[] = {"isnan", "isinf", "isfinite", "abs"};
constexpr const char* kReductions[] = {"any", "all", "max", "min", "sum", "mean", "count"};
constexpr int kMaxDepth = 60;

bool contains(const auto& list, std::string_view name) {
  return std::any_of(std::begin(list), std::end(list), [&](const char* entry) { return name == entry; });
}

class Parser {
 public:
  Parser(const std::string& text, std::set<std::string>& names) : text_(text), names_(names) {}

  NodeResult all() {
    auto node = either();
    if (!node) return node;
    if (at_ < text_.size() || !token().empty()) return wrong(fmt::format("\"{}\" is not expected here", token()));
    return node;
  }

 private:
  

  tl::unexpected<Diagnostic> wrong(const std::string& why) { return failure(fmt::format("column {}: {}", start() + 1, why)); }

  size_t start() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_;
  }
  /// The next word, number or sign, without taking it.
  std::string token() {
    const size_t from = start();
    if (from >= text_.size()) return {};
    const auto isWord = [&](size_t i) { return i < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[i])) || text_[i] == '_'); };
    size_t end = from;
    if (std::isdigit(static_cast<unsigned char>(text_[from])) || text_[from] == '.') {
      while (isWord(end) || (end < text_.size() && (text_[end] == '.' || ((text_[end] == '-' || text_[end] == '+') && end > from &&
                                                                          (text_[end - 1] == 'e' || text_[end - 1] == 'E')))))
        ++end;
      return text_.substr(from, end - from);
    }
    while (isWord(end)) ++end;
    if (end > from) return text_.substr(from, end - from);
    for (const char* two : {"<=", ">=", "==", "!=", "&&", "||"})
      if (text_.compare(from, 2, two) == 0) return two;
    return text_.substr(from, 1);
  }
  bool take(std::string_view word) {
    const std::string next = token();
    if (next != word) return false;
    at_ += next.size();
    return true;
  }
  static std::unique_ptr<Node> made(Node::What what, std::string op, std::unique_ptr<Node> left, std::unique_ptr<Node> right = nullptr) {
    auto node = std::make_unique<Node>();
    node->what = what, node->op = std::move(op), node->left = std::move(left), node->right = std::move(right);
    return node;
  }

  NodeResult chain(NodeResult (Parser::*inner)(), std::initializer_list<std::pair<const char*, const char*>> operators, bool once = false) {
    auto left = (this->*inner)();
    while (left) {
      const char* found = nullptr;
      for (const auto& [spelling, op] : operators)
        if (take(spelling)) { found = op; break; }
      if (!found) return left;
      auto right = (this->*inner)();
      if (!right) return right;
      left = made(Node::What::Binary, found, std::move(*left), std::move(*right));
      if (once) return left;
    }
    return left;
  }
  NodeResult either() {
    if (++depth_ > kMaxDepth) return wrong("this is nested too deeply");
    auto node = chain(&Parser::both, {{"or", "or"}, {"||", "or"}});
    --depth_;
    return node;
  }
  NodeResult both() { return chain(&Parser::negated, {{"and", "and"}, {"&&", "and"}}); }
  NodeResult negated() {
    if (take("not") || take("!")) {
      if (++depth_ > kMaxDepth) return wrong("this is nested too deeply");
      auto inner = negated();
      --depth_;
      return inner ? NodeResult(made(Node::What::Unary, "not", std::move(*inner))) : std::move(inner);
    }
    return chain(&Parser::sum, {{"<=", "<="}, {">=", ">="}, {"==", "=="}, {"!=", "!="}, {"<", "<"}, {">", ">"}}, true);
  }
  NodeResult sum() { return chain(&Parser::product, {{"+", "+"}, {"-", "-"}}); }
  NodeResult product() { return chain(&Parser::factor, {{"*", "*"}, {"/", "/"}}); }
  NodeResult factor() {
    if (take("-")) {
      if (++depth_ > kMaxDepth) return wrong("this is nested too deeply");
      auto inner = factor();
      --depth_;
      return inner ? NodeResult(made(Node::What::Unary, "-", std::move(*inner))) : std::move(inner);
    }
    if (take("(")) {
      auto inner = either();
      if (inner && !take(")")) return wrong("a \")\" is missing");
      return inner;
    }
    const size_t from = start();
    const std::string word = token();
    if (word.empty()) return wrong("a value is missing: a variable, a number, or isnan(..)");
    if (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '.') return numberOf(word);
    if (!std::isalpha(static_cast<unsigned char>(word[0])) && word[0] != '_') return wrong(fmt::format("\"{}\" is not expected here", word));
    if (word == "or" || word == "and" || word == "not") return wrong(fmt::format("a value is missing before \"{}\"", word));
    at_ += word.size();
    static const std::map<std::string, double> kConstants = {{"true", 1}, {"false", 0}, {"True", 1}, {"False", 0},
                                                             {"inf", INFINITY}, {"nan", std::numeric_limits<double>::quiet_NaN()}};
    if (token() == "(") return call(word, from);
    auto node = std::make_unique<Node>();
    if (const auto constant = kConstants.find(word); constant != kConstants.end()) {
      node->number = constant->second;
    } else {
      node->what = Node::What::Name, node->op = word;
      names_.insert(word);
    }
    return node;
  }
  NodeResult numberOf(const std::string& word) {
    auto node = std::make_unique<Node>();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), node->number);
    if (error != std::errc() || end != word.data() + word.size()) return wrong(fmt::format("\"{}\" is no number", word));
    at_ += word.size();
    return node;
  }
  NodeResult call(const std::string& word, size_t from) {
    const bool maps = contains(kMaps, word), reduces = contains(kReductions, word);
    if (!maps && !reduces) {
      std::vector<std::string_view> known(std::begin(kMaps), std::end(kMaps));
      known.insert(known.end(), std::begin(kReductions), std::end(kReductions));
      return failure(fmt::format("column {}: there is no function \"{}\"{}; there are {}", from + 1, word,
                                 findings::didYouMean(word, known), fmt::join(known, ", ")));
    }
    take("(");
    auto inner = either();
    if (!inner) return inner;
    if (token() == ",") return wrong(fmt::format("{}() takes one value", word));
    if (!take(")")) return wrong("a \")\" is missing");
    return NodeResult(made(maps ? Node::What::Map : Node::What::Reduce, word, std::move(*inner)));
  }

  const std::string& text_;
  std::set<std::string>& names_;
  size_t at_ = 0;
  int depth_ = 0;
};

double apply(const std::string& op, double a, double b) {
  switch (op[0]) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    case '<': return op.size() > 1 ? a <= b : a < b;
    case '>': return op.size() > 1 ? a >= b : a > b;
    case '=': return a == b;
    case '!': return a != b;
    case 'a': return a != 0 && b != 0;
    default: return a != 0 || b != 0;
  }
}

Result<Numbers> joined(const std::string& op, const Numbers& a, const Numbers& b) {
  const size_t rank = std::max(a.shape.size(), b.shape.size());
  Numbers out;
  out.shape.resize(rank);
  std::vector<int64_t> stepA(rank, 0), stepB(rank, 0);
  int64_t sizeA = 1, sizeB = 1, total = 1;
  for (size_t k = 0; k < rank; ++k) {
    const size_t d = rank - 1 - k;
    const int64_t x = k < a.shape.size() ? a.shape[a.shape.size() - 1 - k] : 1, y = k < b.shape.size() ? b.shape[b.shape.size() - 1 - k] : 1;
    if (x != y && x != 1 && y != 1)
      return failure(fmt::format("tiles of shape [{}] and [{}] do not fit each other at \"{}\"", fmt::join(a.shape, ", "), fmt::join(b.shape, ", "), op));
    if (x != 1) stepA[d] = sizeA;
    if (y != 1) stepB[d] = sizeB;
    sizeA *= x, sizeB *= y;
    out.shape[d] = std::max(x, y);
    total *= out.shape[d];
    if (total > (1 << 24)) return failure(fmt::format("the tile at \"{}\" would be too large", op));
  }
  out.values.resize(static_cast<size_t>(total));
  std::vector<int64_t> at(rank, 0);
  int64_t i = 0, j = 0;
  for (double& value : out.values) {
    value = apply(op, a.values[static_cast<size_t>(i)], b.values[static_cast<size_t>(j)]);
    for (size_t d = rank; d-- > 0;) {
      i += stepA[d], j += stepB[d];
      if (++at[d] < out.shape[d]) break;
      i -= stepA[d] * at[d], j -= stepB[d] * at[d];
      at[d] = 0;
    }
  }
  return out;
}

double reduced(const std::string& op, const std::vector<double>& values) {
  double sum = 0, low = INFINITY, high = -INFINITY;
  int64_t set = 0, nan = 0;
  for (double v : values) {
    sum += v, set += v != 0, nan += std::isnan(v);
    low = std::min(low, v), high = std::max(high, v);
  }
  if (op == "any") return set > 0;
  if (op == "all") return set == static_cast<int64_t>(values.size());
  if (op == "count") return static_cast<double>(set);
  if (op == "sum") return sum;
  if (op == "mean") return sum / static_cast<double>(values.size());
  if (nan) return std::numeric_limits<double>::quiet_NaN();
  return op == "max" ? high : low;
}

Result<Numbers> evaluate(const Node& node, const Condition::Lookup& value) {
  using What = Node::What;
  if (node.what == What::Number) return Numbers{{}, {node.number}};
  if (node.what == What::Name) return value(node.op);
  auto left = evaluate(*node.left, value);
  if (!left) return left;
  if (node.what == What::Binary) {
    auto right = evaluate(*node.right, value);
    if (!right) return right;
    return joined(node.op, *left, *right);
  }
  if (node.what == What::Reduce) return Numbers{{}, {reduced(node.op, left->values)}};
  for (double& v : left->values)
    v = node.op == "-" ? -v : node.op == "not" ? v == 0 : node.op == "abs" ? std::fabs(v)
        : node.op == "isnan" ? std::isnan(v) : node.op == "isinf" ? std::isinf(v) : std::isfinite(v);
  return left;
}

}  // namespace

Condition::Condition(Condition&&) noexcept = default;
Condition& Condition::operator=(Condition&&) noexcept = default;
Condition::~Condition() = default;

Result<Condition> Condition::parse(const std::string& text) {
  if (text.size() > 1000) return failure("the condition is too long");
  Condition condition;
  auto root = Parser(text, condition.names_).all();
  if (!root) return failure(std::move(root).error());
  if (condition.names_.empty()) return failure("the condition has no variable, such as qk in isnan(qk)");
  condition.root_ = std::move(*root);
  return condition;
}

Result<bool> Condition::holds(const Lookup& value) const {
  auto result = evaluate(*root_, value);
  if (!result) return failure(std::move(result).error());
  return reduced("any", result->values) != 0;
}

}  // namespace tilesight::server
