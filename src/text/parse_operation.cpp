// Operations, regions and blocks:
//   operation ::= results? (custom | generic) loc?
//   results   ::= %name (`:` int)? (`,` ...)* `=`
//   generic   ::= string `(` uses `)` (`[` successors `]`)? (`<` dict `>`)? (`(` regions `)`)?
//                 dict? `:` function-type
//   region    ::= `{` operation* block* `}`
//   block     ::= ^label (`(` %name `:` type loc? , ... `)`)? `:` operation*
#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

bool Parser::parseResultNames(std::vector<ResultNames>& out) {
  if (!is(TokenKind::PercentId)) return true;
  do {
    if (!is(TokenKind::PercentId)) return errorHere("the name of a result");
    ResultNames names{token_.text, 1, token_.offset};
    advance();
    if (take(":")) {
      const uint32_t offset = token_.offset;
      if (!parseUnsigned(names.count, "a number of results")) return false;
      // Bounded, because opaque operations get as many results as the text claims.
      if (names.count == 0 || names.count > 4096) return error(offset, "number of results must be 1 to 4096");
    }
    out.push_back(names);
  } while (take(","));
  return expect("=", "after the names of results");
}

void Parser::addResults(ir::Operation& op, const std::vector<ir::Type>& types) {
  for (ir::Type type : types) {
    auto value = std::make_unique<ir::Value>();
    value->type = type;
    value->owner = &op;
    value->index = static_cast<uint32_t>(op.results.size());
    op.results.push_back(std::move(value));
  }
}

bool Parser::bindResults(ir::Operation& op, const std::vector<ResultNames>& names) {
  size_t next = 0, named = 0;
  for (const ResultNames& group : names) named += group.count;
  if (!names.empty() && named != op.results.size())
    return error(names[0].offset, fmt::format("'{}' has {} results, but {} are named", op.name, op.results.size(), named));
  for (const ResultNames& group : names) {
    std::vector<ir::Value*> values;
    const bool isNumber = group.name[0] >= '0' && group.name[0] <= '9';
    for (uint32_t i = 0; i < group.count; ++i) {
      ir::Value* value = op.results[next++].get();
      if (!isNumber) value->name = group.name;
      values.push_back(value);
    }
    if (!define(group.name, std::move(values), group.offset)) return false;
  }
  return true;
}

bool Parser::parseOperation(ir::Block& block) {
  const uint32_t begin = token_.offset;
  std::vector<ResultNames> names;
  if (!parseResultNames(names)) return false;

  const Token nameToken = token_;
  auto op = std::make_unique<ir::Operation>();
  auto [line, column] = lineAndColumn(nameToken.offset);
  op->sourceLine = line;
  op->sourceColumn = column;
  op->parent = &block;

  if (is(TokenKind::String)) {
    if (!parseString(op->name)) return false;
    if (op->name.empty()) return error(nameToken.offset, "operation without a name");
    op->info = dialects::find(op->name);
    if (!parseGenericOperation(*op)) return false;
  } else if (is(TokenKind::BareId)) {
    op->name = nameToken.text == "module" ? "builtin.module" : std::string(nameToken.text);
    op->info = dialects::find(op->name);
    if (op->info) {
      advance();
      if (!parseCustomOperation(*op)) return false;
    } else {
      // A word without a dialect is no operation but a slip; say so where it is.
      if (op->name.find('.') == std::string::npos)
        return error(nameToken.offset, fmt::format("unknown operation '{}'", op->name));
      uint32_t count = 0;
      for (const ResultNames& group : names) count += group.count;
      if (!parseOpaqueOperation(*op, nameToken.end, count)) return false;
    }
  } else {
    return errorHere("an operation");
  }
  if (!parseOptionalLocation(op->location)) return false;
  if (!bindResults(*op, names)) return false;
  op->textBegin = begin;
  op->textEnd = lastEnd_;
  block.operations.push_back(std::move(op));
  return true;
}

bool Parser::parseCustomOperation(ir::Operation& op) {
  using Method = bool (Parser::*)(ir::Operation&);
  static const std::unordered_map<std::string_view, Method> custom = {
      {"builtin.module", &Parser::parseModuleOp}, {"tt.func", &Parser::parseFunc},
      {"tile.func", &Parser::parseFunc},          {"arith.constant", &Parser::parseConstant},
      {"arith.select", &Parser::parseSelect},     {"cf.br", &Parser::parseBranch},
      {"cf.cond_br", &Parser::parseCondBranch},
      {"scf.for", &Parser::parseFor},             {"scf.if", &Parser::parseIf},
      {"scf.while", &Parser::parseWhile}};
  if (op.info->isGeneric())
    return error(token_.offset, fmt::format("'{}' has no custom form: write \"{}\"(...)", op.name, op.name));
  if (!op.info->isCustom()) return parseFormat(op);
  auto found = custom.find(op.name);
  if (found == custom.end()) return error(token_.offset, fmt::format("no parser for '{}'", op.name));
  return (this->*found->second)(op);
}

/// Adds one attribute in the form that the table gives it: enumerations as keywords, whatever way
/// they are written; values equal to the default are left out.
bool Parser::addAttribute(ir::Operation& op, std::string key, ir::Attribute value, uint32_t offset) {
  const dialects::AttributeInfo* info = op.info ? op.info->attribute(key) : nullptr;
  if (info && info->form == dialects::AttributeForm::Unit && value.kind() == ir::AttributeKind::Bool) {
    // Older releases write `= false`, `= true`.
    if (!value->integer) return true;
    value = context_.unit();
  }
  if (info && info->form == dialects::AttributeForm::Enum) {
    if (value.kind() == ir::AttributeKind::Integer) {
      const std::string* keyword = info->enumeration->keyword(value->integer);
      if (!keyword)
        return error(offset, fmt::format("'{}' has no value {} (of '{}')", key, value->integer, info->enumeration->name));
      value = context_.keyword(*keyword);
    } else if (value.kind() == ir::AttributeKind::Opaque) {
      // #dialect.attr<keyword>
      const std::string& text = value->text;
      size_t open = text.find('<');
      if (open != std::string::npos && text.ends_with('>')) {
        std::string word = text.substr(open + 1, text.size() - open - 2);
        if (info->enumeration->value(word)) value = context_.keyword(word);
      }
    }
  } else if (info && info->form == dialects::AttributeForm::Bits && value.kind() == ir::AttributeKind::Integer) {
    const std::string words = info->enumeration->keywords(value->integer);
    if (words.empty())
      return error(offset, fmt::format("'{}' has no value {} (of '{}')", key, value->integer, info->enumeration->name));
    value = context_.keyword(words);
  } else if (info && info->form == dialects::AttributeForm::Flags && value.kind() == ir::AttributeKind::Opaque) {
    const std::string& text = value->text;
    size_t open = text.find('<');
    if (open != std::string::npos && text.ends_with('>')) {
      std::string words;
      for (char c : text.substr(open + 1, text.size() - open - 2))
        if (c != ' ') words += c;
      value = context_.keyword(words);
    }
  }
  if (info && info->hasDefault) {
    if (value.kind() == ir::AttributeKind::Keyword && value->text == info->defaultText) return true;
    if (value.kind() == ir::AttributeKind::DenseArray && value->integers.empty() && info->defaultText == "[]") return true;
    if (value.kind() == ir::AttributeKind::Bool && (value->integer ? "true" : "false") == info->defaultText) return true;
    if (value.kind() == ir::AttributeKind::Integer && std::to_string(value->integer) == info->defaultText) return true;
  }
  op.attributes.emplace_back(std::move(key), value);
  return true;
}

bool Parser::parseOptionalAttributes(ir::Operation& op) {
  if (!at("{")) return true;
  const uint32_t offset = token_.offset;
  std::vector<ir::NamedAttribute> entries;
  return parseAttributeDictionary(entries) && addAttributes(op, std::move(entries), offset);
}

/// Adds the attributes of one dictionary, whose keys differ from each other already.
bool Parser::addAttributes(ir::Operation& op, std::vector<ir::NamedAttribute> entries, uint32_t offset) {
  std::vector<std::string> before;  // few: what the format names, or the properties
  for (const ir::NamedAttribute& entry : op.attributes) before.push_back(entry.first);
  for (auto& [key, value] : entries) {
    for (const std::string& name : before)
      if (name == key) return error(offset, fmt::format("attribute '{}' occurs twice", key));
    if (!addAttribute(op, std::move(key), value, offset)) return false;
  }
  return true;
}

bool Parser::parseSuccessor(ir::Successor& out) {
  if (!is(TokenKind::CaretId)) return errorHere("a block");
  out.block = blockOf(token_.text, token_.offset);
  advance();
  if (!take("(")) return true;
  std::vector<ValueUse> uses;
  std::vector<ir::Type> types;
  const uint32_t offset = token_.offset;
  return parseValueUses(uses) && expect(":", "between block arguments and their types") && parseTypeList(types) &&
         expect(")", "after the types") && resolveAll(uses, types, out.operands, offset);
}

// --- regions and blocks

bool Parser::parseRegion(ir::Region& region, const std::vector<InlineArgument>& arguments, bool isolated) {
  Nest nest(*this);
  if (!nest.ok) return false;
  if (!expect("{", "to begin a region")) return false;
  pushScope(isolated);
  if (!arguments.empty() || (!at("}") && !is(TokenKind::CaretId))) {
    ir::Block* entry = ir::addBlock(region);
    for (const InlineArgument& argument : arguments) {
      const bool isNumber = !argument.name.empty() && argument.name[0] >= '0' && argument.name[0] <= '9';
      ir::Value* value = ir::addArgument(*entry, argument.type, isNumber ? "" : std::string(argument.name), argument.location);
      if (!argument.name.empty() && !define(argument.name, {value}, argument.offset)) return false;
    }
    if (!parseBlockBody(*entry)) return false;
  }
  while (is(TokenKind::CaretId))
    if (!parseBlockLabel(region)) return false;
  if (!at("}")) return errorHere("'}' to end the region");
  if (!popScope()) return false;
  advance();
  return true;
}

bool Parser::parseBlockBody(ir::Block& block) {
  block.textBegin = lastEnd_;
  while (!at("}") && !is(TokenKind::CaretId) && !is(TokenKind::End))
    if (!parseOperation(block)) return false;
  block.textEnd = lastEnd_;
  return true;
}

bool Parser::parseBlockLabel(ir::Region& region) {
  const Token label = token_;
  blockOf(label.text, label.offset);
  Label& entry = scopes_.back().labels[label.text];
  if (entry.defined) return error(label.offset, fmt::format("redefinition of block '^{}'", label.text));
  entry.defined = true;
  ir::Block* block = entry.block;
  block->parent = &region;
  block->label = label.text;
  region.blocks.push_back(std::move(entry.owned));
  advance();
  if (at("(")) {
    if (!parseList("(", ")", "around block arguments", [&] {
          if (!is(TokenKind::PercentId)) return errorHere("a block argument");
          const Token name = token_;
          advance();
          ir::Type type;
          ir::Location location;
          if (!expect(":", "after the name of a block argument") || !parseType(type) || !parseOptionalLocation(location))
            return false;
          const bool isNumber = name.text[0] >= '0' && name.text[0] <= '9';
          ir::Value* value = ir::addArgument(*block, type, isNumber ? "" : std::string(name.text), location);
          return define(name.text, {value}, name.offset);
        }))
      return false;
  }
  return expect(":", "after the label of a block") && parseBlockBody(*block);
}

// --- generic form

/// Takes operandSegmentSizes out of the attributes just read.
bool Parser::takeSegmentSizes(ir::Operation& op, std::vector<uint32_t>& sizes, bool& found) {
  found = false;
  for (auto it = op.attributes.begin(); it != op.attributes.end(); ++it) {
    if (it->first != "operandSegmentSizes") continue;
    if (it->second.kind() != ir::AttributeKind::DenseArray) return false;
    uint64_t total = 0;
    for (int64_t size : it->second->integers) {
      if (size < 0 || size > INT32_MAX) return false;
      sizes.push_back(static_cast<uint32_t>(size));
      total += static_cast<uint64_t>(size);
    }
    found = true;
    op.attributes.erase(it);
    return total == op.operands.size();
  }
  return true;
}

bool Parser::parseGenericOperation(ir::Operation& op) {
  const uint32_t begin = token_.offset;
  std::vector<ValueUse> uses;
  if (!expect("(", "before the operands") || !parseValueUses(uses) || !expect(")", "after the operands")) return false;
  if (at("[")) {
    if (!parseList("[", "]", "around successors", [&] {
          ir::Successor successor;
          if (!parseSuccessor(successor)) return false;
          op.successors.push_back(std::move(successor));
          return true;
        }))
      return false;
  }
  if (at("<")) {
    advance();
    const uint32_t offset = token_.offset;
    std::vector<ir::NamedAttribute> entries;
    if (!parseAttributeDictionary(entries) || !expect(">", "after the properties")) return false;
    if (!addAttributes(op, std::move(entries), offset)) return false;
  }
  if (at("(")) {
    const bool isolated = op.info && op.info->has(dialects::Trait::Isolated);
    if (!parseList("(", ")", "around regions", [&] { return parseRegion(*ir::addRegion(op), {}, isolated); }))
      return false;
  }
  if (!parseOptionalAttributes(op)) return false;
  ir::Type type;
  if (!expect(":", "before the type of the operation")) return false;
  const uint32_t typeOffset = token_.offset;
  if (!parseFunctionType(type)) return false;
  if (!resolveAll(uses, type->inputs, op.operands, typeOffset)) return false;
  addResults(op, type->results);
  if (!op.info) return true;

  std::vector<uint32_t> sizes;
  bool found = false;
  if (!takeSegmentSizes(op, sizes, found)) return error(begin, "operandSegmentSizes does not match the operands");
  if (op.name == "cf.br" && op.successors.size() == 1) {
    op.successors[0].operands = std::move(op.operands);
    op.operands.clear();
    return true;
  }
  if (op.name == "cf.cond_br" && op.successors.size() == 2) {
    if (!found || sizes.size() != 3 || sizes[0] != 1)
      return error(begin, "'cf.cond_br' needs operandSegmentSizes = array<i32: 1, n, m>");
    auto first = op.operands.begin() + 1, second = first + sizes[1];
    op.successors[0].operands.assign(first, second);
    op.successors[1].operands.assign(second, op.operands.end());
    op.operands.resize(1);
    return true;
  }
  if (found && op.info->hasSegments()) {
    if (sizes.size() != op.info->operands.size())
      return error(begin, fmt::format("operandSegmentSizes of '{}' needs {} sizes", op.name, op.info->operands.size()));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const dialects::Arity arity = op.info->operands[i].arity;
      if ((arity == dialects::Arity::One && sizes[i] != 1) || (arity == dialects::Arity::Optional && sizes[i] > 1))
        return error(begin, fmt::format("operandSegmentSizes of '{}' has a wrong size for '{}'", op.name, op.info->operands[i].name));
    }
    op.operandSegments = std::move(sizes);
    return true;
  }
  if (!dialects::inferSegments(*op.info, op.operands.size(), op.operandSegments))
    return error(begin, fmt::format("'{}' cannot have {} operands", op.name, op.operands.size()));
  return true;
}

}  // namespace tilesight::text
