// The host's functions that read the IR.
#include <algorithm>

#include <fmt/format.h>

#include "dialects/table.h"
#include "passes/constants.h"
#include "passes/effects.h"
#include "plugins/handles.h"

namespace tilesight::plugins {

namespace {

using dialects::Trait;

/// Element `index` of `list`, or null and a failed run.
template <typename List>
auto at(Session& session, const List& list, uint32_t index, const char* call) -> decltype(list[0].get()) {
  if (index < list.size()) return list[index].get();
  session.fail(fmt::format("{}: there is no number {}, only {}", call, index, list.size()));
  return nullptr;
}

ts_op module(ts_context context) {
  TS_SESSION(nullptr);
  return session->op(session->context().module().top.get());
}

ts_op walk(ts_context context, ts_op root, ts_op after) {
  TS_THING(op, top, root, nullptr);
  if (!after) return session->op(top);
  ir::Operation* last = session->op(after, __func__);
  if (!last) return nullptr;
  // First what is in it, then what follows it, then what follows what it is in.
  for (const auto& region : last->regions)
    for (const auto& block : region->blocks)
      if (!block->operations.empty()) return session->op(block->operations.front().get());
  for (ir::Operation* op = last; op && op != top; op = op->parentOp()) {
    bool found = false;
    ir::Block* own = op->parent;
    if (!own) return nullptr;
    for (const auto& next : own->operations) {
      if (found) return session->op(next.get());
      found = next.get() == op;
    }
    // Blocks and regions behind its own.
    ir::Operation* parent = op->parentOp();
    bool passed = false;
    for (const auto& region : parent->regions)
      for (const auto& block : region->blocks) {
        if (passed && !block->operations.empty()) return session->op(block->operations.front().get());
        passed = passed || block.get() == own;
      }
  }
  return nullptr;
}

ts_string op_name(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, ts_string{});
  return session->keep(op->name);
}

uint32_t op_facts(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, 0);
  if (!op->info) return 0;
  uint32_t facts = TS_OP_KNOWN;
  if (passes::isPure(*op)) facts |= TS_OP_PURE;
  if (passes::isRemovable(*op)) facts |= TS_OP_REMOVABLE;
  if (passes::isSpeculatable(*op)) facts |= TS_OP_SPECULATABLE;
  static constexpr std::pair<Trait, uint32_t> traits[] = {{Trait::Terminator, TS_OP_TERMINATOR}, {Trait::Reads, TS_OP_READS},
                                                          {Trait::Writes, TS_OP_WRITES},         {Trait::Function, TS_OP_FUNCTION},
                                                          {Trait::Call, TS_OP_CALL},             {Trait::Elementwise, TS_OP_ELEMENTWISE}};
  for (const auto& [trait, fact] : traits)
    if (op->info->has(trait)) facts |= fact;
  return facts;
}

ts_op op_parent(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, nullptr);
  return session->op(op->parentOp());
}

ts_block op_block(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, nullptr);
  return session->block(op->parent);
}

ts_op neighbour(ts_context context, ts_op handle, int step, const char* call) {
  TS_SESSION(nullptr);
  ir::Operation* op = session->op(handle, call);
  if (!op || !op->parent) return nullptr;
  const auto& all = op->parent->operations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.get() == op; });
  const auto place = found - all.begin() + step;
  return place >= 0 && place < static_cast<ptrdiff_t>(all.size()) ? session->op(all[static_cast<size_t>(place)].get()) : nullptr;
}
ts_op op_next(ts_context context, ts_op handle) { return neighbour(context, handle, 1, __func__); }
ts_op op_previous(ts_context context, ts_op handle) { return neighbour(context, handle, -1, __func__); }

int32_t op_is_inside(ts_context context, ts_op handle, ts_op ancestor) {
  TS_THING(op, op, handle, 0);
  ir::Operation* outer = session->op(ancestor, __func__);
  return outer && passes::isIn(*op, *outer);
}

uint32_t op_operand_count(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, 0);
  return static_cast<uint32_t>(op->operands.size());
}

ts_value op_operand(ts_context context, ts_op handle, uint32_t index) {
  TS_THING(op, op, handle, nullptr);
  if (index < op->operands.size()) return session->value(op->operands[index]);
  session->fail(fmt::format("op_operand: {} has no operand {}, only {}", op->name, index, op->operands.size()));
  return nullptr;
}

uint32_t op_operand_group(ts_context context, ts_op handle, ts_string group, uint32_t* first) {
  if (first) *first = 0;
  TS_THING(op, op, handle, 0);
  const int number = op->info ? op->info->operandGroup(viewOf(group)) : -1;
  if (number < 0) return session->fail(fmt::format("op_operand_group: {} has no operands '{}'", op->name, viewOf(group))), 0;
  uint32_t begin = 0, size = 1;
  if (op->operandSegments.empty()) {
    begin = static_cast<uint32_t>(number);
  } else {
    for (int i = 0; i < number; ++i) begin += op->operandSegments[static_cast<size_t>(i)];
    size = op->operandSegments[static_cast<size_t>(number)];
  }
  if (first) *first = begin;
  return size;
}

uint32_t op_result_count(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, 0);
  return static_cast<uint32_t>(op->results.size());
}

ts_value op_result(ts_context context, ts_op handle, uint32_t index) {
  TS_THING(op, op, handle, nullptr);
  return session->value(at(*session, op->results, index, __func__));
}

uint32_t op_attribute_count(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, 0);
  return static_cast<uint32_t>(op->attributes.size());
}

ts_string op_attribute_key(ts_context context, ts_op handle, uint32_t index) {
  TS_THING(op, op, handle, ts_string{});
  if (index < op->attributes.size()) return session->keep(op->attributes[index].first);
  session->fail(fmt::format("op_attribute_key: {} has only {} attributes", op->name, op->attributes.size()));
  return {};
}

ts_attr op_attribute(ts_context context, ts_op handle, ts_string key) {
  TS_THING(op, op, handle, nullptr);
  return session->attr(op->attribute(viewOf(key)));
}

uint32_t op_region_count(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, 0);
  return static_cast<uint32_t>(op->regions.size());
}

ts_region op_region(ts_context context, ts_op handle, uint32_t index) {
  TS_THING(op, op, handle, nullptr);
  return session->region(at(*session, op->regions, index, __func__));
}

uint32_t op_successor_count(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, 0);
  return static_cast<uint32_t>(op->successors.size());
}

ts_block op_successor(ts_context context, ts_op handle, uint32_t index) {
  TS_THING(op, op, handle, nullptr);
  if (index < op->successors.size()) return session->block(op->successors[index].block);
  session->fail(fmt::format("op_successor: {} has only {}", op->name, op->successors.size()));
  return nullptr;
}

ts_location op_location(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, nullptr);
  return session->location(op->location);
}

ts_op region_op(ts_context context, ts_region handle) {
  TS_THING(region, region, handle, nullptr);
  return session->op(region->parent);
}

uint32_t region_block_count(ts_context context, ts_region handle) {
  TS_THING(region, region, handle, 0);
  return static_cast<uint32_t>(region->blocks.size());
}

ts_block region_block(ts_context context, ts_region handle, uint32_t index) {
  TS_THING(region, region, handle, nullptr);
  return session->block(at(*session, region->blocks, index, __func__));
}

ts_region block_region(ts_context context, ts_block handle) {
  TS_THING(block, block, handle, nullptr);
  return session->region(block->parent);
}

uint32_t block_argument_count(ts_context context, ts_block handle) {
  TS_THING(block, block, handle, 0);
  return static_cast<uint32_t>(block->arguments.size());
}

ts_value block_argument(ts_context context, ts_block handle, uint32_t index) {
  TS_THING(block, block, handle, nullptr);
  return session->value(at(*session, block->arguments, index, __func__));
}

ts_op block_first(ts_context context, ts_block handle) {
  TS_THING(block, block, handle, nullptr);
  return block->operations.empty() ? nullptr : session->op(block->operations.front().get());
}

ts_op block_last(ts_context context, ts_block handle) {
  TS_THING(block, block, handle, nullptr);
  return block->operations.empty() ? nullptr : session->op(block->operations.back().get());
}

// --- values

ts_type value_type(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, nullptr);
  return session->type(value->type);
}

ts_op value_op(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, nullptr);
  return session->op(value->owner);
}

ts_block value_block(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, nullptr);
  return session->block(value->block);
}

uint32_t value_index(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, 0);
  return value->index;
}

ts_string value_name(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, ts_string{});
  return session->keep(value->name);
}

uint32_t value_use_count(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, 0);
  return static_cast<uint32_t>(session->rewriter().uses(value).size());
}

ts_op value_use(ts_context context, ts_value handle, uint32_t index, uint32_t* operand) {
  if (operand) *operand = 0;
  TS_THING(value, value, handle, nullptr);
  const auto& uses = session->rewriter().uses(value);
  if (index >= uses.size()) return session->fail(fmt::format("value_use: there are only {} uses", uses.size())), nullptr;
  if (operand) *operand = uses[index].successor < 0 ? uses[index].index : UINT32_MAX;
  return session->op(uses[index].user);
}

int32_t value_is_outside(ts_context context, ts_value handle, ts_op of) {
  TS_THING(value, value, handle, 0);
  ir::Operation* op = session->op(of, __func__);
  return op && passes::isDefinedOutside(*value, *op);
}

// --- types

ts_string type_text(ts_context context, ts_type handle) {
  TS_THING(type, type, handle, ts_string{});
  return session->keep(type.str());
}

uint32_t type_kind(ts_context context, ts_type handle) {
  TS_THING(type, type, handle, TS_TYPE_OTHER);
  switch (type.kind()) {
    case ir::TypeKind::Integer: return TS_TYPE_INTEGER;
    case ir::TypeKind::Float: return TS_TYPE_FLOAT;
    case ir::TypeKind::Index: return TS_TYPE_INDEX;
    case ir::TypeKind::Pointer: return TS_TYPE_POINTER;
    case ir::TypeKind::Tensor: return TS_TYPE_TENSOR;
    case ir::TypeKind::Descriptor: return TS_TYPE_DESCRIPTOR;
    case ir::TypeKind::View: return TS_TYPE_VIEW;
    case ir::TypeKind::Function: return TS_TYPE_FUNCTION;
    case ir::TypeKind::None: return TS_TYPE_NONE;
    case ir::TypeKind::Opaque: return TS_TYPE_OTHER;
  }
  return TS_TYPE_OTHER;
}

uint32_t type_width(ts_context context, ts_type handle) {
  TS_THING(type, type, handle, 0);
  return type.kind() == ir::TypeKind::Integer || type.kind() == ir::TypeKind::Float ? type->width : 0;
}

bool isShaped(ir::Type type) {
  return type.kind() == ir::TypeKind::Tensor || type.kind() == ir::TypeKind::Descriptor || type.kind() == ir::TypeKind::View;
}

ts_type type_element(ts_context context, ts_type handle) {
  TS_THING(type, type, handle, nullptr);
  return isShaped(type) || type.isPointer() ? session->type(type->inner) : nullptr;
}

uint32_t type_rank(ts_context context, ts_type handle) {
  TS_THING(type, type, handle, 0);
  return isShaped(type) ? static_cast<uint32_t>(type->shape.size()) : 0;
}

int64_t type_extent(ts_context context, ts_type handle, uint32_t axis) {
  TS_THING(type, type, handle, 0);
  if (isShaped(type) && axis < type->shape.size()) return type->shape[axis];
  session->fail(fmt::format("type_extent: {} has no axis {}", type.str(), axis));
  return 0;
}

ts_attr type_encoding(ts_context context, ts_type handle) {
  TS_THING(type, type, handle, nullptr);
  return isShaped(type) ? session->attr(ir::Attribute(static_cast<const ir::AttributeStorage*>(type->encoding))) : nullptr;
}

// --- attributes

ts_string attr_text(ts_context context, ts_attr handle) {
  TS_THING(attr, attribute, handle, ts_string{});
  return session->keep(attribute.str());
}

uint32_t attr_kind(ts_context context, ts_attr handle) {
  TS_THING(attr, attribute, handle, TS_ATTR_OTHER);
  switch (attribute.kind()) {
    case ir::AttributeKind::Unit: return TS_ATTR_UNIT;
    case ir::AttributeKind::Bool: return TS_ATTR_BOOL;
    case ir::AttributeKind::Integer: return TS_ATTR_INTEGER;
    case ir::AttributeKind::Float: return TS_ATTR_FLOAT;
    case ir::AttributeKind::String: return TS_ATTR_STRING;
    case ir::AttributeKind::Array: return TS_ATTR_ARRAY;
    case ir::AttributeKind::Dictionary: return TS_ATTR_DICTIONARY;
    case ir::AttributeKind::DenseElements: return TS_ATTR_DENSE_ELEMENTS;
    case ir::AttributeKind::DenseArray: return TS_ATTR_DENSE_ARRAY;
    case ir::AttributeKind::Symbol: return TS_ATTR_SYMBOL;
    case ir::AttributeKind::TypeValue: return TS_ATTR_TYPE;
    case ir::AttributeKind::Keyword: return TS_ATTR_KEYWORD;
    case ir::AttributeKind::Opaque: return TS_ATTR_OTHER;
  }
  return TS_ATTR_OTHER;
}

int32_t attr_integer(ts_context context, ts_attr handle, int64_t* out) {
  TS_THING(attr, attribute, handle, 0);
  const auto value = attribute.asInteger();
  if (value && out) *out = *value;
  return value.has_value();
}

ts_string attr_string(ts_context context, ts_attr handle) {
  TS_THING(attr, attribute, handle, ts_string{});
  return session->keep(std::string(attribute.asString()));
}

uint32_t attr_count(ts_context context, ts_attr handle) {
  TS_THING(attr, attribute, handle, 0);
  switch (attribute.kind()) {
    case ir::AttributeKind::Array: return static_cast<uint32_t>(attribute->elements.size());
    case ir::AttributeKind::Dictionary: return static_cast<uint32_t>(attribute->entries.size());
    case ir::AttributeKind::DenseArray: return static_cast<uint32_t>(attribute->integers.size());
    default: return 0;
  }
}

ts_attr attr_element(ts_context context, ts_attr handle, uint32_t index) {
  TS_THING(attr, attribute, handle, nullptr);
  if (attribute.kind() == ir::AttributeKind::Array && index < attribute->elements.size()) return session->attr(attribute->elements[index]);
  if (attribute.kind() == ir::AttributeKind::Dictionary && index < attribute->entries.size()) return session->attr(attribute->entries[index].second);
  session->fail(fmt::format("attr_element: {} has no element {}", attribute.str(), index));
  return nullptr;
}

int64_t attr_element_integer(ts_context context, ts_attr handle, uint32_t index) {
  TS_THING(attr, attribute, handle, 0);
  if (attribute.kind() == ir::AttributeKind::DenseArray && index < attribute->integers.size()) return attribute->integers[index];
  session->fail(fmt::format("attr_element_integer: {} has no number {}", attribute.str(), index));
  return 0;
}

ts_attr attr_entry(ts_context context, ts_attr handle, ts_string key) {
  TS_THING(attr, attribute, handle, nullptr);
  if (attribute.kind() == ir::AttributeKind::Dictionary)
    for (const auto& [name, value] : attribute->entries)
      if (name == viewOf(key)) return session->attr(value);
  return nullptr;
}

ts_type attr_type(ts_context context, ts_attr handle) {
  TS_THING(attr, attribute, handle, nullptr);
  return session->type(attribute->type);
}

// --- locations

int32_t location_file(ts_context context, ts_location handle, ts_string* file, uint32_t* line, uint32_t* column) {
  TS_SESSION(0);
  if (!handle) return 0;
  const ir::Location location = session->location(handle, __func__);
  const ir::LocationStorage* place = location ? location.file() : nullptr;
  if (!place) return 0;
  if (file) *file = session->keep(place->text);
  if (line) *line = place->line;
  if (column) *column = place->column;
  return 1;
}

ts_string location_name(ts_context context, ts_location handle) {
  TS_SESSION(ts_string{});
  if (!handle) return {};
  const ir::Location location = session->location(handle, __func__);
  return location ? session->keep(location.name()) : ts_string{};
}

}  // namespace

void fillReading(ts_plugin_host& host) {
  host.module = module;
  host.walk = walk;
  host.op_name = op_name;
  host.op_facts = op_facts;
  host.op_parent = op_parent;
  host.op_block = op_block;
  host.op_next = op_next;
  host.op_previous = op_previous;
  host.op_is_inside = op_is_inside;
  host.op_operand_count = op_operand_count;
  host.op_operand = op_operand;
  host.op_operand_group = op_operand_group;
  host.op_result_count = op_result_count;
  host.op_result = op_result;
  host.op_attribute_count = op_attribute_count;
  host.op_attribute_key = op_attribute_key;
  host.op_attribute = op_attribute;
  host.op_region_count = op_region_count;
  host.op_region = op_region;
  host.op_successor_count = op_successor_count;
  host.op_successor = op_successor;
  host.op_location = op_location;
  host.region_op = region_op;
  host.region_block_count = region_block_count;
  host.region_block = region_block;
  host.block_region = block_region;
  host.block_argument_count = block_argument_count;
  host.block_argument = block_argument;
  host.block_first = block_first;
  host.block_last = block_last;
  host.value_type = value_type;
  host.value_op = value_op;
  host.value_block = value_block;
  host.value_index = value_index;
  host.value_name = value_name;
  host.value_use_count = value_use_count;
  host.value_use = value_use;
  host.value_is_outside = value_is_outside;
  host.type_text = type_text;
  host.type_kind = type_kind;
  host.type_width = type_width;
  host.type_element = type_element;
  host.type_rank = type_rank;
  host.type_extent = type_extent;
  host.type_encoding = type_encoding;
  host.attr_text = attr_text;
  host.attr_kind = attr_kind;
  host.attr_integer = attr_integer;
  host.attr_string = attr_string;
  host.attr_count = attr_count;
  host.attr_element = attr_element;
  host.attr_element_integer = attr_element_integer;
  host.attr_entry = attr_entry;
  host.attr_type = attr_type;
  host.location_file = location_file;
  host.location_name = location_name;
}

}  // namespace tilesight::plugins
