// Writes values back as the expressions they came from, in the user's own names.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/report.h"

namespace tilesight::exec {

/// A value in one expansion of its function.
struct Ref {
  const plan::Instance* instance = nullptr;
  const ir::Value* value = nullptr;
  auto operator<=>(const Ref&) const = default;
};

/// The last name an operation's value was given (`q = p` renames what p named before).
std::string outerName(ir::Location location);

/// range(a, b, -c): upper - i + lower in the IR, a loop variable in the source.
bool isDownwardVariable(const ir::Operation& op);

/// Does the operation give its one operand's elements another shape, and nothing else?
bool onlyMoves(std::string_view operation);

/// Walks the operations behind values. Elements are row-major positions in the tile of the value they go with;
/// kNoElement: not known.
class Explainer {
 public:
  static constexpr int64_t kNoElement = -1;
  static constexpr size_t kMaxEntries = 8;

  explicit Explainer(Machine& machine) : machine_(machine) {}

  /// Follows parameters to the caller's operands, and results of calls without a name, where the helper is one
  /// block, to what it returns.
  Ref resolve(Ref ref) const;
  /// The same, through what only changes a value's shape or widens it.
  Ref strip(Ref ref) const;
  /// The user's variable this value is, or "".
  std::string nameOf(Ref ref) const;
  /// The value's tile, or null if it is gone.
  const Tile* tileOf(Ref ref) const;
  /// The element of operand `i` that element `at` of the result comes from.
  static int64_t operandElement(const ir::Operation& op, unsigned i, int64_t at);

  /// A value that a loop carries: what it began with, what a turn makes of it, and the turns that are over (-1: the
  /// loop is not running). None if it is no such value.
  struct Carried {
    Ref start, next;
    int64_t trips = -1;
  };
  std::optional<Carried> carried(Ref ref) const;

  // -- Values (explain_value.cpp)

  enum class Sign : uint8_t { Unknown, Signed, Unsigned };
  /// What the operations around an integer take it for.
  Sign signOf(Ref ref) const;
  bool isUnsigned(Ref ref) const { return signOf(ref) == Sign::Unsigned; }
  /// "3", "0..127", "0..9, here 7", or "".
  std::string valueText(Ref ref, int64_t at) const;
  /// The integer at an element: from the tile, or computed where it is gone. False if it cannot be told.
  bool valueAt(Ref ref, int64_t at, int64_t* value, int depth = 0) const;
  struct WideRange {
    __int128 min = 0, max = 0;
  };
  /// Smallest and largest value, read as the sign says.
  bool rangeOf(Ref ref, WideRange* range) const;

  // -- Expressions (explain_render.cpp)

  /// Writes `ref` as an expression. `current` is the variable whose definition this is: operations
  /// that carry its name are part of the definition, others are mentioned by their own name.
  std::string render(Ref ref, const std::string& current, int64_t at, int level, int depth);
  /// What a variable was set to, or "".
  std::string definition(Ref ref, const std::string& name, int64_t at);

  // -- Entries

  /// Notes a variable for a `because` entry of its own, once.
  void mention(Ref ref, const std::string& name, int64_t at);
  struct Mention {
    Ref ref;
    std::string name;
    int64_t at;
  };
  const std::vector<Mention>& mentioned() const { return order_; }
  bool hasSeen(const std::string& name) const { return seen_.count(name) != 0; }
  /// `because` entries of everything mentioned so far, and of what those mention: first what `first` accepts and
  /// what that mentions, last the arguments.
  template <typename First>
  void finish(findings::Finding& finding, First&& first);
  void finish(findings::Finding& finding) {
    finish(finding, [](Ref) { return false; });
  }

  /// Did an expression that belongs to no variable have a part that differs between elements or programs?
  bool unnamedVaries() const { return unnamedVaries_; }
  Machine& machine() const { return machine_; }

 private:
  std::string nameOfArgument(const ir::Value& value) const;
  bool sourceHas(const ir::Value* v, const std::string& word) const;
  std::string constantText(const ir::Operation& op) const;
  /// Integer sums and products that left their width: the address is not what the expression says.
  void noteWrap(Ref ref, const std::string& text);
  std::string callText(Ref ref, const std::string& current, int64_t at, int depth);
  Sign signOf(const plan::Instance* instance, const ir::Value* value, int depth) const;
  Sign producerSign(const plan::Instance* instance, const ir::Value* value, int depth) const;
  const std::vector<const ir::Operation*>& usersOf(const plan::Instance* instance, const ir::Value* value) const;
  Ref returned(Ref call) const;

  Machine& machine_;
  std::set<std::string> seen_;
  std::vector<std::string> wraps_;
  std::vector<Mention> order_;
  bool unnamedVaries_ = false;
  using Users = std::unordered_map<const ir::Value*, std::vector<const ir::Operation*>>;
  mutable std::map<const ir::Operation*, Users> users_;
};

template <typename First>
void Explainer::finish(findings::Finding& finding, First&& first) {
  enum Place { Ahead, Middle, Last };
  std::vector<std::pair<findings::Because, Place>> entries;
  std::set<std::string> front;
  for (size_t i = 0; i < order_.size() && entries.size() < 4 * kMaxEntries; ++i) {
    auto [ref, name, at] = order_[i];
    size_t before = order_.size();
    findings::Because because{name, definition(ref, name, at), valueText(ref, at)};
    bool ahead = front.count(name) != 0 || first(ref);
    if (ahead)
      for (size_t k = before; k < order_.size(); ++k) front.insert(order_[k].name);
    if (because.expression == because.value || because.expression == name) because.expression.clear();
    if (because.expression.empty() && because.value.empty()) continue;
    // An argument that is a pointer: the sentence names it.
    const Tile* tile = tileOf(ref);
    if (tile && tile->kind == ElementKind::Pointer && because.expression.empty()) continue;
    bool plain = because.expression.empty() && !ref.value->owner;
    bool loopVariable = plain && ref.value->block->parent->parent->name.starts_with("scf.");
    entries.emplace_back(std::move(because), plain && !loopVariable ? Last : ahead ? Ahead : Middle);
  }
  for (const std::string& wrap : wraps_) finding.notes.push_back(wrap);
  for (Place place : {Ahead, Middle, Last})
    for (auto& [because, at] : entries)
      if (at == place && finding.because.size() < kMaxEntries) finding.because.push_back(std::move(because));
}

}  // namespace tilesight::exec
