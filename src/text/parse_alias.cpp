// Aliases: `#name = attribute`, `#name = loc(...)`, `!name = type`, before or after their uses.
#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

/// Finds the definitions, which begin a line, and reads them in the order of the file: then the
/// aliases that one uses are mostly known already, and chains do not nest.
void Parser::collectAliases() {
  std::vector<std::pair<Alias*, bool>> found;
  for (uint32_t start : lineStarts_) {
    uint32_t i = start;
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t')) ++i;
    if (i >= text_.size() || (text_[i] != '#' && text_[i] != '!')) continue;
    jump(i);
    if (!is(TokenKind::HashId) && !is(TokenKind::ExclamId)) continue;
    const bool isType = is(TokenKind::ExclamId);
    const std::string_view name = token_.text;
    advance();
    if (!at("=") || name.find('.') != std::string_view::npos) continue;
    Alias alias;
    alias.valueOffset = token_.end;
    auto [entry, added] = (isType ? typeAliases_ : attributeAliases_).emplace(name, std::move(alias));
    if (added) found.emplace_back(&entry->second, isType);
  }
  for (auto [alias, isType] : found) resolveAlias(*alias, isType, alias->valueOffset);
}

/// Reads the alias's value if that is not done yet. A wrong value is an error where it is used or
/// defined, so that text which only looks like an alias does no harm.
bool Parser::resolveAlias(Alias& alias, bool isType, uint32_t useOffset) {
  if (alias.state == Alias::State::Done) return true;
  if (alias.state == Alias::State::Busy) return error(useOffset, "alias is defined by itself");
  if (alias.state == Alias::State::Failed) {
    if (!diagnostic_) diagnostic_ = alias.diagnostic;
    return false;
  }
  const Token savedToken = token_;
  const uint32_t savedPosition = lexer_.position();
  const uint64_t savedSize = aliasSize_;
  const uint32_t savedDepth = aliasDepth_;
  const uint32_t savedEnd = lastEnd_;
  aliasSize_ = 0;
  aliasDepth_ = 0;
  alias.state = Alias::State::Busy;
  const bool hadError = diagnostic_.has_value();

  bool ok = false;
  {
    Nest nest(*this);
    jump(alias.valueOffset);
    if (!nest.ok) ok = false;
    else if (isType) ok = parseType(alias.type);
    else if (at("loc")) {
      alias.isLocation = true;
      ok = parseLocation(alias.location);
    } else ok = parseAttribute(alias.attribute);
    alias.size = token_.offset - alias.valueOffset + aliasSize_;
    alias.depth = aliasDepth_ + 1;
    if (ok && alias.size > kMaxAliasSize)
      ok = error(alias.valueOffset, fmt::format("alias stands for more than {} characters", kMaxAliasSize));
    if (ok && alias.depth > kMaxDepth)
      ok = error(alias.valueOffset, fmt::format("aliases nested more than {} deep", kMaxDepth));
  }
  if (!ok) {
    alias.state = Alias::State::Failed;
    if (diagnostic_) alias.diagnostic = *diagnostic_;
    if (!hadError) diagnostic_.reset();
  } else {
    alias.state = Alias::State::Done;
  }
  token_ = savedToken;
  lastEnd_ = savedEnd;
  lexer_.reset(savedPosition);
  aliasSize_ = savedSize;
  aliasDepth_ = savedDepth;
  return ok;
}

Parser::Alias* Parser::findAlias(std::string_view name, bool isType) {
  auto& aliases = isType ? typeAliases_ : attributeAliases_;
  auto found = aliases.find(name);
  return found == aliases.end() ? nullptr : &found->second;
}

bool Parser::useAlias(std::string_view name, bool isType, uint32_t offset, Alias*& out) {
  out = findAlias(name, isType);
  if (!out) return error(offset, fmt::format("undefined alias '{}{}'", isType ? '!' : '#', name));
  if (!resolveAlias(*out, isType, offset)) {
    if (!diagnostic_) diagnostic_ = out->diagnostic;
    return false;
  }
  aliasSize_ += out->size;
  aliasDepth_ = std::max(aliasDepth_, out->depth);
  return out->isLocation || expand(out->size, offset);
}

bool Parser::expand(uint64_t size, uint32_t offset) {
  expansion_ += size;
  if (expansion_ <= kMaxExpansion) return true;
  return error(offset, fmt::format("aliases stand for more than {} characters", kMaxExpansion));
}

std::vector<std::pair<std::string, ir::Attribute>> Parser::attributeAliases() const {
  std::vector<std::pair<std::string, ir::Attribute>> found;
  for (const auto& [name, alias] : attributeAliases_)
    if (alias.state == Alias::State::Done && !alias.isLocation) found.emplace_back(name, alias.attribute);
  return found;
}

std::vector<std::pair<std::string, ir::Location>> Parser::locationAliases() const {
  std::vector<std::pair<std::string, ir::Location>> found;
  for (const auto& [name, alias] : attributeAliases_)
    if (alias.state == Alias::State::Done && alias.isLocation) found.emplace_back(name, alias.location);
  return found;
}

bool Parser::parseAliasDefinition() {
  const bool isType = is(TokenKind::ExclamId);
  const Token name = token_;
  advance();
  if (!at("=")) return errorHere("'=' after the name of an alias");
  auto& aliases = isType ? typeAliases_ : attributeAliases_;
  auto [entry, added] = aliases.try_emplace(name.text);
  if (added) entry->second.valueOffset = token_.end;
  if (entry->second.valueOffset != token_.end)
    return error(name.offset, fmt::format("redefinition of alias '{}{}'", isType ? '!' : '#', name.text));
  if (!resolveAlias(entry->second, isType, name.offset)) {
    if (!diagnostic_) diagnostic_ = entry->second.diagnostic;
    return false;
  }
  // Skip the value by reading it again.
  advance();
  ir::Type type;
  ir::Attribute attribute;
  ir::Location location;
  if (isType) return parseType(type);
  return entry->second.isLocation ? parseLocation(location) : parseAttribute(attribute);
}

}  // namespace tilesight::text
