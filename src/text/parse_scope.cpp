// Scopes: which value a %name means, and which block a ^label.
#include <algorithm>

#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

void Parser::pushScope(bool isolated) {
  scopes_.emplace_back();
  scopes_.back().isolated = isolated;
  if (isolated) ++isolation_;
}

/// Ends a scope: its names are forgotten, and uses it could not resolve move outwards.
bool Parser::popScope() {
  Scope& scope = scopes_.back();
  for (const auto& [label, entry] : scope.labels)
    if (!entry.defined) return error(entry.offset, fmt::format("undefined block '^{}'", label));
  for (const OpaqueLabel& use : scope.opaqueLabels) {
    auto found = scope.labels.find(use.label);
    if (found == scope.labels.end()) continue;
    use.op->successors.push_back({found->second.block, {}});
    use.op->opaqueSuccessors.push_back(use.span);
  }

  std::vector<OpaqueUse> unresolved;
  for (const OpaqueUse& pending : scope.opaqueUses) {
    const Definition* found = lookup(pending.use.name);
    if (found && pending.use.number < found->values.size()) {
      pending.op->operands.push_back(found->values[pending.use.number]);
      pending.op->opaqueOperands.push_back(
          {pending.place, pending.use.end - pending.use.offset});
    } else {
      unresolved.push_back(pending);
    }
  }

  if (scope.isolated && !scope.pending.empty()) {
    size_t first = SIZE_MAX;
    for (const auto& [name, index] : scope.pending)
      if (first == SIZE_MAX || placeholders_[index].offset < placeholders_[first].offset) first = index;
    return error(placeholders_[first].offset, fmt::format("undefined value '%{}'", placeholders_[first].name));
  }

  for (auto undo = scope.undo.rbegin(); undo != scope.undo.rend(); ++undo) {
    if (undo->second) names_[undo->first] = std::move(*undo->second);
    else names_.erase(undo->first);
  }
  if (scope.isolated) {
    --isolation_;
  } else if (scopes_.size() > 1) {
    Scope& outer = scopes_[scopes_.size() - 2];
    if (outer.pending.size() < scope.pending.size()) std::swap(outer.pending, scope.pending);
    outer.pending.insert(scope.pending.begin(), scope.pending.end());
    outer.opaqueUses.insert(outer.opaqueUses.end(), unresolved.begin(), unresolved.end());
  }
  scopes_.pop_back();
  return true;
}

const Parser::Definition* Parser::lookup(std::string_view name) const {
  auto found = names_.find(std::string(name));
  if (found == names_.end() || found->second.isolation != isolation_) return nullptr;
  return &found->second;
}

bool Parser::define(std::string_view name, std::vector<ir::Value*> values, uint32_t offset) {
  for (size_t i = 0; i < values.size(); ++i) {
    values[i]->spelling = name;
    if (values.size() > 1) values[i]->spelling += fmt::format("#{}", i);
  }
  if (lookup(name)) return error(offset, fmt::format("redefinition of value '%{}'", name));
  Scope& scope = scopes_.back();
  std::string key(name);

  auto [begin, end] = scope.pending.equal_range(key);
  for (auto it = begin; it != end; ++it) {
    Placeholder& placeholder = placeholders_[it->second];
    if (placeholder.number >= values.size())
      return error(placeholder.offset, fmt::format("'%{}' has only {} results", name, values.size()));
    ir::Value* value = values[placeholder.number];
    const ValueUse use{name, placeholder.number, placeholder.offset, placeholder.offset};
    if (placeholder.value->type && !matchType(*value, placeholder.value->type, use)) return false;
    placeholder.definition = value;
  }
  scope.pending.erase(begin, end);

  std::optional<Definition> before;
  if (auto found = names_.find(key); found != names_.end()) before = std::move(found->second);
  names_[key] = Definition{std::move(values), isolation_};
  scope.undo.emplace_back(std::move(key), std::move(before));
  return true;
}

bool Parser::parseValueUse(ValueUse& out) {
  if (!is(TokenKind::PercentId)) return errorHere("a value");
  out = {token_.text, 0, token_.offset, token_.end};
  advance();
  if (is(TokenKind::HashId) && token_.offset == out.end) {
    uint64_t number = 0;
    for (char c : token_.text) {
      if (c < '0' || c > '9') return errorHere("the number of a result");
      number = number * 10 + static_cast<uint64_t>(c - '0');
      if (number > UINT32_MAX) return error(token_.offset, "the number of a result is too large");
    }
    out.number = static_cast<uint32_t>(number);
    out.end = token_.end;
    advance();
  }
  return true;
}

bool Parser::parseValueUses(std::vector<ValueUse>& out) {
  if (!is(TokenKind::PercentId)) return true;
  do {
    ValueUse use;
    if (!parseValueUse(use)) return false;
    out.push_back(use);
  } while (take(","));
  return true;
}

/// Results of opaque operations have no type until a use tells it.
bool Parser::matchType(ir::Value& value, ir::Type type, const ValueUse& use) {
  if (!value.type) value.type = type;
  if (value.type == type) return true;
  return error(use.offset, fmt::format("'%{}' has type {}, but {} is expected here", use.name, value.type.str(), type.str()));
}

bool Parser::resolve(const ValueUse& use, ir::Type type, ir::Value*& out) {
  if (const Definition* found = lookup(use.name)) {
    if (use.number >= found->values.size())
      return error(use.offset, fmt::format("'%{}' has only {} results", use.name, found->values.size()));
    out = found->values[use.number];
    return !type || matchType(*out, type, use);
  }
  Placeholder placeholder;
  placeholder.value = std::make_unique<ir::Value>();
  placeholder.value->type = type;
  placeholder.name = use.name;
  placeholder.number = use.number;
  placeholder.offset = use.offset;
  out = placeholder.value.get();
  scopes_.back().pending.emplace(placeholder.name, placeholders_.size());
  placeholders_.push_back(std::move(placeholder));
  return true;
}

bool Parser::resolveAll(const std::vector<ValueUse>& uses, const std::vector<ir::Type>& types,
                        std::vector<ir::Value*>& out, uint32_t offset) {
  if (uses.size() != types.size())
    return error(offset, fmt::format("{} operands, but {} types", uses.size(), types.size()));
  for (size_t i = 0; i < uses.size(); ++i) {
    ir::Value* value = nullptr;
    if (!resolve(uses[i], types[i], value)) return false;
    out.push_back(value);
  }
  return true;
}

/// The block of a label, which may be defined later.
ir::Block* Parser::blockOf(std::string_view label, uint32_t offset) {
  Label& entry = scopes_.back().labels[label];
  if (!entry.block) {
    entry.owned = std::make_unique<ir::Block>();
    entry.block = entry.owned.get();
    entry.offset = offset;
  }
  return entry.block;
}

void Parser::replacePlaceholders(ir::Operation& top) {
  std::unordered_map<ir::Value*, ir::Value*> definitions;
  for (const Placeholder& placeholder : placeholders_)
    definitions.emplace(placeholder.value.get(), placeholder.definition);
  const auto replace = [&](std::vector<ir::Value*>& values) {
    for (ir::Value*& value : values)
      if (auto found = definitions.find(value); found != definitions.end()) value = found->second;
  };
  ir::walk(top, [&](ir::Operation& op) {
    replace(op.operands);
    for (ir::Successor& successor : op.successors) replace(successor.operands);
    return true;
  });
}

}  // namespace tilesight::text
