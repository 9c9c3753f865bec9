#include "foreign/function.h"

#include <algorithm>
#include <vector>

#include "foreign/rows.h"

namespace tilesight::foreign {

namespace {

// Sorted by name; overloads of a name stay together.
const std::vector<Function>& table() {
  static const std::vector<Function> rows = [] {
    std::vector<Function> made;
    addMath(made);
    addInteger(made);
    addRounding(made);
    std::stable_sort(made.begin(), made.end(), [](const Function& a, const Function& b) { return a.symbol < b.symbol; });
    return made;
  }();
  return rows;
}

auto named(std::string_view symbol) {
  struct Less {
    bool operator()(const Function& a, std::string_view b) const { return a.symbol < b; }
    bool operator()(std::string_view a, const Function& b) const { return a < b.symbol; }
  };
  return std::equal_range(table().begin(), table().end(), symbol, Less{});
}

}  // namespace

const Function* find(std::string_view symbol, std::span<const ir::ElementKind> arguments) {
  auto [from, to] = named(symbol);
  for (; from != to; ++from)
    if (std::equal(arguments.begin(), arguments.end(), from->arguments, from->arguments + from->arity)) return &*from;
  return nullptr;
}

bool known(std::string_view symbol) {
  auto [from, to] = named(symbol);
  return from != to;
}

std::span<const Function> all() { return table(); }

}  // namespace tilesight::foreign
