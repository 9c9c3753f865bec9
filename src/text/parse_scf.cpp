// scf.for, scf.if, scf.while.
#include <fmt/format.h>

#include "text/parser.h"

namespace tilesight::text {

/// `(` %name `=` %value `,` ... `)`
bool Parser::parseAssignments(std::vector<InlineArgument>& arguments, std::vector<ValueUse>& values) {
  return parseList("(", ")", "around loop values", [&] {
    if (!is(TokenKind::PercentId)) return errorHere("the name of a loop value");
    InlineArgument argument;
    argument.name = token_.text;
    argument.offset = token_.offset;
    advance();
    ValueUse value;
    if (!expect("=", "after the name of a loop value") || !parseValueUse(value)) return false;
    arguments.push_back(argument);
    values.push_back(value);
    return true;
  });
}

/// A region without results may leave out its empty scf.yield; the IR has it.
void Parser::ensureYield(ir::Operation& op, ir::Region& region) {
  if (region.empty()) ir::addBlock(region);
  ir::Block& block = *region.blocks.back();
  if (!block.operations.empty()) {
    const ir::Operation& last = *block.operations.back();
    // Only scf.yield ends these regions, so an operation that is not known does not.
    if (last.info ? last.info->has(dialects::Trait::Terminator) : !op.results.empty()) return;
  }
  if (!op.results.empty()) return;  // a real omission: the verifier reports it
  auto yield = std::make_unique<ir::Operation>();
  yield->name = "scf.yield";
  yield->info = dialects::find("scf.yield");
  yield->operandSegments = {0};
  yield->parent = &block;
  yield->location = op.location;
  yield->sourceLine = op.sourceLine;
  yield->sourceColumn = op.sourceColumn;
  block.operations.push_back(std::move(yield));
}

/// `unsigned`? %i `=` %lb `to` %ub `step` %s (`iter_args` assignments `->` types)? (`:` type)?
/// region dict?
bool Parser::parseFor(ir::Operation& op) {
  const uint32_t begin = token_.offset;
  if (take("unsigned")) op.attributes.emplace_back("unsignedCmp", context_.unit());
  if (!is(TokenKind::PercentId)) return errorHere("the induction variable");
  std::vector<InlineArgument> arguments(1);
  arguments[0].name = token_.text;
  arguments[0].offset = token_.offset;
  advance();
  std::vector<ValueUse> bounds(3), values;
  if (!expect("=", "after the induction variable") || !parseValueUse(bounds[0]) ||
      !expect("to", "between the bounds") || !parseValueUse(bounds[1]) ||
      !expect("step", "before the step") || !parseValueUse(bounds[2]))
    return false;
  std::vector<ir::Type> types;
  if (take("iter_args")) {
    const uint32_t offset = token_.offset;
    if (!parseAssignments(arguments, values) || !expect("->", "before the types of the loop values") || !parseResultTypes(types))
      return false;
    if (types.size() != values.size())
      return error(offset, fmt::format("{} loop values, but {} types", values.size(), types.size()));
  }
  ir::Type type;
  if (!parseOptionalColonType(type, context_.index())) return false;
  arguments[0].type = type;
  for (size_t i = 0; i < types.size(); ++i) arguments[i + 1].type = types[i];
  if (!resolveAll(bounds, {type, type, type}, op.operands, begin) || !resolveAll(values, types, op.operands, begin)) return false;
  op.operandSegments = {1, 1, 1, static_cast<uint32_t>(values.size())};
  ir::Region* region = ir::addRegion(op);
  if (!parseRegion(*region, arguments, false)) return false;
  addResults(op, types);
  if (!parseOptionalAttributes(op) || !parseOptionalLocation(op.location)) return false;
  ensureYield(op, *region);
  return true;
}

/// %c (`->` types)? region (`else` region)? dict?
bool Parser::parseIf(ir::Operation& op) {
  ValueUse condition;
  ir::Value* value = nullptr;
  if (!parseValueUse(condition) || !resolve(condition, context_.integer(1), value)) return false;
  op.operands.push_back(value);
  std::vector<ir::Type> types;
  if (take("->") && !parseResultTypes(types)) return false;
  ir::Region* then = ir::addRegion(op);
  ir::Region* otherwise = ir::addRegion(op);
  if (!parseRegion(*then, {}, false)) return false;
  const bool hasElse = take("else");
  if (hasElse && !parseRegion(*otherwise, {}, false)) return false;
  addResults(op, types);
  op.operandSegments.clear();
  if (!parseOptionalAttributes(op) || !parseOptionalLocation(op.location)) return false;
  ensureYield(op, *then);
  if (hasElse) ensureYield(op, *otherwise);
  return true;
}

/// assignments? `:` function-type region `do` region (`attributes` dict)?
bool Parser::parseWhile(ir::Operation& op) {
  const uint32_t begin = token_.offset;
  std::vector<InlineArgument> arguments;
  std::vector<ValueUse> values;
  if (at("(") && !parseAssignments(arguments, values)) return false;
  ir::Type type;
  if (!expect(":", "before the types of the loop") || !parseFunctionType(type)) return false;
  if (type->inputs.size() != values.size())
    return error(begin, fmt::format("{} loop values, but {} types", values.size(), type->inputs.size()));
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].type = type->inputs[i];
  if (!resolveAll(values, type->inputs, op.operands, begin)) return false;
  op.operandSegments = {static_cast<uint32_t>(values.size())};
  ir::Region* before = ir::addRegion(op);
  ir::Region* after = ir::addRegion(op);
  if (!parseRegion(*before, arguments, false) || !expect("do", "between the regions of 'scf.while'") ||
      !parseRegion(*after, {}, false))
    return false;
  if (before->empty()) ir::addBlock(*before);
  if (after->empty()) ir::addBlock(*after);
  addResults(op, type->results);
  if (take("attributes")) {
    if (!at("{")) return errorHere("'{' after 'attributes'");
    return parseOptionalAttributes(op);
  }
  return true;
}

}  // namespace tilesight::text
