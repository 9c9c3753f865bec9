// The host's functions that change the IR. What would leave dangling handles or uses is refused here; what is merely wrong
// IR is found by the verifier when the pass is done.
#include <fmt/format.h>

#include "dialects/table.h"
#include "passes/constants.h"
#include "plugins/handles.h"
#include "text/text.h"

namespace tilesight::plugins {

namespace {

// --- types and attributes that are made

/// An attribute, or a type as one, from its text.
ir::Attribute parsed(Session& session, std::string_view text, const char* call) {
  const auto module = text::parse("\"ts.text\"() {value = " + std::string(text) + "} : () -> ()", "", session.rewriter().context());
  if (module && module->body().operations.size() == 1 && module->body().operations[0]->attributes.size() == 1 &&
      module->body().operations[0]->name == "ts.text")
    return module->body().operations[0]->attributes[0].second;
  session.fail(fmt::format("{}: cannot read '{}'{}", call, text, module ? "" : ": " + module.error().message));
  return {};
}

ts_type type_parse(ts_context context, ts_string text) {
  TS_SESSION(nullptr);
  const ir::Attribute attribute = parsed(*session, viewOf(text), __func__);
  if (!attribute) return nullptr;
  if (attribute.kind() == ir::AttributeKind::TypeValue) return session->type(attribute->type);
  session->fail(fmt::format("type_parse: '{}' is no type", viewOf(text)));
  return nullptr;
}

ts_type type_tensor(ts_context context, const int64_t* shape, uint32_t rank, ts_type element, ts_attr encoding) {
  TS_THING(type, type, element, nullptr);
  if (rank > 64 || (rank && !shape)) return session->fail("type_tensor: the shape is not given, or has more than 64 axes"), nullptr;
  ir::Attribute layout;
  if (encoding && !(layout = session->attr(encoding, __func__))) return nullptr;
  std::vector<int64_t> extents(shape, shape + rank);
  for (int64_t extent : extents)
    if (extent < 1) return session->fail(fmt::format("type_tensor: an extent of {}", extent)), nullptr;
  return session->type(session->rewriter().context().tensor(std::move(extents), type, layout));
}

ts_attr attr_parse(ts_context context, ts_string text) {
  TS_SESSION(nullptr);
  return session->attr(parsed(*session, viewOf(text), __func__));
}

ts_attr attr_make_integer(ts_context context, int64_t value, ts_type handle) {
  TS_THING(type, type, handle, nullptr);
  const uint32_t width = type.isTensor() ? 0 : passes::integerWidth(type);
  if (!width || width > 64) return session->fail(fmt::format("attr_make_integer: {} is no integer", type.str())), nullptr;
  return session->attr(session->rewriter().context().integerAttr(width == 1 ? value & 1 : passes::wrapped(value, width), type));
}

ts_attr attr_make_string(ts_context context, ts_string text) {
  TS_SESSION(nullptr);
  return session->attr(session->rewriter().context().string(std::string(viewOf(text))));
}

ts_attr attr_make_keyword(ts_context context, ts_string text) {
  TS_SESSION(nullptr);
  return session->attr(session->rewriter().context().keyword(std::string(viewOf(text))));
}

ts_attr attr_make_i32_array(ts_context context, const int64_t* values, uint32_t count) {
  TS_SESSION(nullptr);
  if (count && !values) return session->fail("attr_make_i32_array: no values"), nullptr;
  ir::Context& types = session->rewriter().context();
  return session->attr(types.denseArray(std::vector<int64_t>(values, values + count), types.integer(32)));
}

/// Enumerations are kept as keywords, however they are given.
ir::Attribute inForm(const ir::Operation& op, std::string_view key, ir::Attribute value, ir::Context& context) {
  const dialects::AttributeInfo* info = op.info ? op.info->attribute(key) : nullptr;
  if (info && info->enumeration && value.kind() == ir::AttributeKind::Integer)
    if (const std::string* keyword = info->enumeration->keyword(value->integer)) return context.keyword(*keyword);
  return value;
}

// --- operations

ts_op op_create(ts_context context, const ts_op_description* d) {
  TS_SESSION(nullptr);
  const auto wrong = [&](std::string what) -> ts_op {
    session->fail("op_create: " + what);
    return nullptr;
  };
  if (!d || !TS_HAS(d, ts_op_description, location)) return wrong("the description is shorter than any version of it");
  passes::Point at;
  if (!session->point(d->at, at, __func__)) return nullptr;
  std::vector<ir::Value*> operands;
  std::vector<ir::Type> results;
  std::vector<ir::NamedAttribute> attributes;
  if ((d->operand_count && !d->operands) || (d->result_count && !d->results) || (d->attribute_count && (!d->attribute_keys || !d->attribute_values)) ||
      d->operand_count > 100000 || d->result_count > 4096 || d->attribute_count > 4096 || d->region_count > 64)
    return wrong("a list is missing or too long");
  const std::string name(viewOf(d->name));
  if (name.find('.') == std::string::npos) return wrong(fmt::format("'{}' is no name of an operation", name));
  for (uint32_t i = 0; i < d->operand_count; ++i) {
    ir::Value* value = session->value(d->operands[i], __func__);
    if (!value) return nullptr;
    operands.push_back(value);
  }
  for (uint32_t i = 0; i < d->result_count; ++i) {
    const ir::Type type = session->type(d->results[i], __func__);
    if (!type) return nullptr;
    results.push_back(type);
  }
  for (uint32_t i = 0; i < d->attribute_count; ++i) {
    const ir::Attribute value = session->attr(d->attribute_values[i], __func__);
    if (!value) return nullptr;
    attributes.emplace_back(std::string(viewOf(d->attribute_keys[i])), value);
  }
  ir::Location location;
  if (d->location && !(location = session->location(d->location, __func__))) return nullptr;
  std::vector<uint32_t> groups;
  if (d->group_sizes) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < d->group_count && i < 64; ++i) {
      groups.push_back(d->group_sizes[i]);
      all += d->group_sizes[i];
    }
    if (all != d->operand_count) return wrong(fmt::format("groups of {} operands, but {} are given", all, d->operand_count));
  }
  ir::Operation* op = session->rewriter().create(at, name, std::move(operands), std::move(results), {}, location, std::move(groups), d->region_count);
  for (auto& [key, value] : attributes) op->setAttribute(key, inForm(*op, key, value, session->rewriter().context()));
  session->made(*op);
  session->edited();
  return session->op(op);
}

ts_op op_copy(ts_context context, ts_op handle, ts_point to) {
  TS_THING(op, op, handle, nullptr);
  passes::Point at;
  if (!session->point(to, at, __func__)) return nullptr;
  passes::Mapping mapping;
  ir::Operation* copy = session->rewriter().copy(*op, at, mapping);
  session->made(*copy);
  session->edited();
  return session->op(copy);
}

void op_move(ts_context context, ts_op handle, ts_point to) {
  TS_THING(op, op, handle, );
  if (!session->mayEdit(op, __func__)) return;
  passes::Point at;
  if (!session->point(to, at, __func__)) return;
  if (!op->parent) return session->fail("op_move: the module cannot be moved");
  const ir::Operation* around = at.block->parent ? at.block->parent->parent : nullptr;
  if (around && passes::isIn(*around, *op)) return session->fail(fmt::format("op_move: {} cannot move into itself", op->name));
  session->rewriter().move(op, at);
  session->edited();
}

void op_erase(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, );
  if (!session->mayEdit(op, __func__)) return;
  if (!op->parent) return session->fail("op_erase: the module cannot be erased");
  if (session->rewriter().isUsed(*op)) return session->fail(fmt::format("op_erase: results of {} are still used", op->name));
  session->forget(*op);
  session->rewriter().erase(op);
  session->edited();
}

void op_set_operand(ts_context context, ts_op handle, uint32_t index, ts_value with) {
  TS_THING(op, op, handle, );
  if (!session->mayEdit(op, __func__)) return;
  ir::Value* value = session->value(with, __func__);
  if (!value) return;
  if (index >= op->operands.size()) return session->fail(fmt::format("op_set_operand: {} has no operand {}, only {}", op->name, index, op->operands.size()));
  session->rewriter().setOperand({op, -1, index}, value);
  session->edited();
}

void op_set_operands(ts_context context, ts_op handle, const ts_value* values, uint32_t count, const uint32_t* group_sizes, uint32_t group_count) {
  TS_THING(op, op, handle, );
  if (!session->mayEdit(op, __func__)) return;
  if ((count && !values) || count > 100000 || group_count > 64) return session->fail("op_set_operands: a list is missing or too long");
  if (op->isTextOnly) return session->fail(fmt::format("op_set_operands: the syntax of {} is not known", op->name));
  std::vector<ir::Value*> operands;
  for (uint32_t i = 0; i < count; ++i) {
    ir::Value* value = session->value(values[i], __func__);
    if (!value) return;
    operands.push_back(value);
  }
  std::vector<uint32_t> groups;
  uint64_t all = 0;
  for (uint32_t i = 0; group_sizes && i < group_count; ++i) {
    groups.push_back(group_sizes[i]);
    all += group_sizes[i];
  }
  if (group_sizes && all != count) return session->fail(fmt::format("op_set_operands: groups of {} operands, but {} are given", all, count));
  session->rewriter().setOperands(op, std::move(operands), std::move(groups));
  session->edited();
}

void op_set_attribute(ts_context context, ts_op handle, ts_string key, ts_attr with) {
  TS_THING(op, op, handle, );
  if (!session->mayEdit(op, __func__)) return;
  if (op->isTextOnly) return session->fail(fmt::format("op_set_attribute: the syntax of {} is not known", op->name));
  if (!with) {
    std::erase_if(op->attributes, [&](const auto& entry) { return entry.first == viewOf(key); });
  } else {
    const ir::Attribute value = session->attr(with, __func__);
    if (!value) return;
    op->setAttribute(viewOf(key), inForm(*op, viewOf(key), value, session->rewriter().context()));
  }
  session->edited();
}

void op_set_location(ts_context context, ts_op handle, ts_location with) {
  TS_THING(op, op, handle, );
  if (!session->mayEdit(op, __func__)) return;
  ir::Location location;
  if (with && !(location = session->location(with, __func__))) return;
  op->location = location;
}

// --- values, blocks

void value_replace_uses(ts_context context, ts_value handle, ts_value with) {
  TS_THING(value, value, handle, );
  if (!session->mayEdit(value, __func__)) return;
  ir::Value* other = session->value(with, __func__);
  if (!other) return;
  session->rewriter().replaceUses(value, other);
  session->replaced(*value, *other);
  session->edited();
}

void value_set_type(ts_context context, ts_value handle, ts_type with) {
  TS_THING(value, value, handle, );
  if (!session->mayEdit(value, __func__)) return;
  const ir::Type type = session->type(with, __func__);
  if (!type) return;
  value->type = type;
  session->edited();
}

void value_set_name(ts_context context, ts_value handle, ts_string name) {
  TS_THING(value, value, handle, );
  if (!session->mayEdit(value, __func__)) return;
  value->name = std::string(viewOf(name));
}

ts_block region_add_block(ts_context context, ts_region handle) {
  TS_THING(region, region, handle, nullptr);
  if (!session->mayEdit(region->parent, __func__)) return nullptr;
  session->edited();
  return session->block(session->rewriter().addBlock(region));
}

ts_value block_add_argument(ts_context context, ts_block handle, ts_type of, ts_location where) {
  TS_THING(block, block, handle, nullptr);
  if (!session->mayEdit(block->parent->parent, __func__)) return nullptr;
  const ir::Type type = session->type(of, __func__);
  if (!type) return nullptr;
  ir::Location location;
  if (where && !(location = session->location(where, __func__))) return nullptr;
  session->edited();
  return session->value(session->rewriter().addArgument(block, type, "", location));
}

void block_erase_argument(ts_context context, ts_block handle, uint32_t index) {
  TS_THING(block, block, handle, );
  if (!session->mayEdit(block->parent->parent, __func__)) return;
  if (index >= block->arguments.size()) return session->fail(fmt::format("block_erase_argument: there are only {}", block->arguments.size()));
  const ir::Value* argument = block->arguments[index].get();
  if (session->rewriter().isUsed(argument)) return session->fail("block_erase_argument: it is still used");
  session->forgetValue(argument);
  session->rewriter().eraseArgument(block, index);
  session->edited();
}

void block_move_body(ts_context context, ts_block handle, ts_point to) {
  TS_THING(block, block, handle, );
  if (!session->mayEdit(block->parent->parent, __func__)) return;
  passes::Point at;
  if (!session->point(to, at, __func__)) return;
  if (at.block == block) return session->fail("block_move_body: into itself");
  for (const auto& op : block->operations) {
    const ir::Operation* around = at.block->parent ? at.block->parent->parent : nullptr;
    if (around && passes::isIn(*around, *op)) return session->fail("block_move_body: into one of its own operations");
  }
  session->rewriter().moveBody(block, at);
  session->edited();
}

ts_value constant(ts_context context, ts_point where, ts_type of, int64_t value, ts_location at) {
  TS_THING(type, type, of, nullptr);
  passes::Point point;
  if (!session->point(where, point, __func__)) return nullptr;
  ir::Location location;
  if (at && !(location = session->location(at, __func__))) return nullptr;
  const ir::Attribute attribute = passes::integerConstant(session->rewriter().context(), type, value);
  if (!attribute) return session->fail(fmt::format("constant: {} is neither an integer nor a tensor of them", type.str())), nullptr;
  ir::Operation* op = session->rewriter().createConstant(point, attribute, location);
  session->made(*op);
  session->edited();
  return session->value(op->result());
}

}  // namespace

void fillEditing(ts_plugin_host& host) {
  host.type_parse = type_parse;
  host.type_tensor = type_tensor;
  host.attr_parse = attr_parse;
  host.attr_make_integer = attr_make_integer;
  host.attr_make_string = attr_make_string;
  host.attr_make_keyword = attr_make_keyword;
  host.attr_make_i32_array = attr_make_i32_array;
  host.op_create = op_create;
  host.op_copy = op_copy;
  host.op_move = op_move;
  host.op_erase = op_erase;
  host.op_set_operand = op_set_operand;
  host.op_set_operands = op_set_operands;
  host.op_set_attribute = op_set_attribute;
  host.op_set_location = op_set_location;
  host.value_replace_uses = value_replace_uses;
  host.value_set_type = value_set_type;
  host.value_set_name = value_set_name;
  host.region_add_block = region_add_block;
  host.block_add_argument = block_add_argument;
  host.block_erase_argument = block_erase_argument;
  host.block_move_body = block_move_body;
  host.constant = constant;
}

}  // namespace tilesight::plugins
