#include "frontends/triton/lower.h"

#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "dialects/table.h"
#include "frontends/added.h"

namespace tilesight::frontends::triton {

namespace {

using ir::Attribute;
using ir::Block;
using ir::NamedAttribute;
using ir::Operation;
using ir::Region;
using ir::Type;
using ir::TypeKind;
using ir::Value;

// Operations whose meaning is the common operation's, attribute for attribute.
struct Rename {
  std::string_view from, to;
};
constexpr Rename kRenames[] = {
    {"tt.func", "tile.func"},
    {"tt.call", "tile.call"},
    {"tt.return", "tile.return"},
    {"tt.get_program_id", "tile.program_id"},
    {"tt.get_num_programs", "tile.num_programs"},
    {"tt.make_range", "tile.iota"},
    {"tt.splat", "tile.splat"},
    {"tt.unsplat", "tile.unsplat"},
    {"tt.broadcast", "tile.broadcast"},
    {"tt.expand_dims", "tile.reshape"},
    {"tt.reshape", "tile.reshape"},
    {"tt.trans", "tile.permute"},
    {"tt.join", "tile.join"},
    {"tt.split", "tile.split"},
    {"tt.cat", "tile.concat"},
    {"tt.addptr", "tile.ptr_add"},
    {"tt.ptr_to_int", "tile.ptr_to_int"},
    {"tt.int_to_ptr", "tile.int_to_ptr"},
    {"tt.bitcast", "tile.bitcast"},
    {"tt.fp_to_fp", "tile.convert"},
    {"tt.clampf", "tile.clampf"},
    {"tt.mulhiui", "tile.mulhiui"},
    {"tt.precise_sqrt", "math.sqrt"},
    {"tt.precise_divf", "arith.divf"},
    {"tt.approx_divf", "arith.divf"},
    {"tt.atomic_rmw", "tile.atomic_rmw"},
    {"tt.atomic_cas", "tile.atomic_cas"},
    {"tt.atomic_load", "tile.atomic_load"},
    {"tt.atomic_store", "tile.atomic_store"},
    {"tt.atomic_poll", "tile.atomic_poll"},
    {"tt.dot", "tile.dot"},
    {"tt.dot_scaled", "tile.dot_scaled"},
    {"tt.reduce", "tile.reduce"},
    {"tt.scan", "tile.scan"},
    {"tt.reduce.return", "tile.yield"},
    {"tt.scan.return", "tile.yield"},
    {"tt.map_elementwise", "tile.map"},
    {"tt.map_elementwise.return", "tile.yield"},
    {"tt.histogram", "tile.histogram"},
    {"tt.gather", "tile.take"},
    {"tt.extern_elementwise", "tile.extern"},
    {"tt.elementwise_inline_asm", "tile.inline_asm"},
    {"tt.print", "tile.print"},
    {"tt.assert", "tile.assert"},
    {"llvm.intr.assume", "tile.assume"},
    {"ttg.barrier", "tile.barrier"},
    {"gpu.barrier", "tile.barrier"},
    // Launches run one after the other: what they wait for has happened.
    {"tt.grid_dependency_wait", "tile.barrier"},
    {"tt.grid_dependency_launch_dependents", "tile.barrier"},
    {"tt.advance", "tile.view_advance"},
    {"tt.descriptor_gather", "tile.view_gather"},
    {"tt.descriptor_scatter", "tile.view_scatter"},
    {"tt.descriptor_reduce", "tile.view_reduce"},
};

std::string_view commonName(std::string_view name) {
  for (const Rename& rename : kRenames)
    if (rename.from == name) return rename.to;
  return {};
}

class Lowering {
 public:
  Lowering(const ir::Module& source, ir::Context& context) : source_(source), context_(context) {}

  Result<ir::Module> run() {
    ir::Module module;
    module.context = &context_;
    module.fileName = source_.fileName;
    module.top = std::make_unique<Operation>();
    module.top->name = "builtin.module";
    module.top->info = dialects::find("builtin.module");
    module.top->location = source_.top->location;
    ir::addBlock(*ir::addRegion(*module.top));
    block_ = &module.body();
    for (auto& op : source_.body().operations) lowerOp(*op);
    return module;
  }

 private:
  Type convert(Type type) {
    if (!type) return type;
    if (type.kind() == TypeKind::Descriptor) return context_.view(type->shape, type->inner);
    if (type.kind() == TypeKind::Pointer && type->inner.isTensor())
      return context_.view(type->inner->shape, type->inner->inner);
    if (type.kind() == TypeKind::Function) {
      std::vector<Type> inputs, results;
      for (Type t : type->inputs) inputs.push_back(convert(t));
      for (Type t : type->results) results.push_back(convert(t));
      return context_.function(std::move(inputs), std::move(results));
    }
    return type;
  }

  Value* map(Value* value) {
    auto it = values_.find(value);
    return it == values_.end() ? nullptr : it->second;
  }

  Operation* create(const Operation& from, std::string name, std::vector<Value*> operands,
                    std::vector<NamedAttribute> attributes) {
    auto op = std::make_unique<Operation>();
    op->name = std::move(name);
    op->info = dialects::find(op->name);
    op->operands = std::move(operands);
    op->attributes = std::move(attributes);
    op->location = from.location;
    op->number = from.number;
    op->sourceLine = from.sourceLine;
    op->sourceColumn = from.sourceColumn;
    op->parent = block_;
    for (size_t i = 0; i < from.results.size(); ++i) {
      auto value = std::make_unique<Value>();
      value->type = convert(from.results[i]->type);
      value->owner = op.get();
      value->index = static_cast<uint32_t>(i);
      value->name = from.results[i]->name;
      values_[from.results[i].get()] = value.get();
      op->results.push_back(std::move(value));
    }
    block_->operations.push_back(std::move(op));
    return block_->operations.back().get();
  }

  std::vector<Value*> mapAll(const std::vector<Value*>& operands) {
    std::vector<Value*> mapped;
    for (Value* v : operands) mapped.push_back(map(v));
    return mapped;
  }

  void lowerRegions(const Operation& from, Operation& to) {
    Block* saved = block_;
    for (auto& region : from.regions) {
      Region* target = ir::addRegion(to);
      for (auto& block : region->blocks) blocks_[block.get()] = ir::addBlock(*target);
      for (auto& block : region->blocks)
        for (auto& argument : block->arguments)
          values_[argument.get()] = ir::addArgument(*blocks_[block.get()], convert(argument->type),
                                                    argument->name, argument->location);
      // Blocks may be listed before the blocks that define what they use: create in order of
      // listing, then fix operands that were not known yet.
      for (auto& block : region->blocks) {
        block_ = blocks_[block.get()];
        for (auto& op : block->operations) lowerOp(*op);
      }
    }
    block_ = saved;
  }

  void lowerOp(const Operation& op) {
    std::vector<NamedAttribute> attributes = op.attributes;
    for (auto& [key, value] : attributes)
      if (value.kind() == ir::AttributeKind::TypeValue) value = context_.typeAttr(convert(value->type));

    Operation* created = nullptr;
    if (op.name == "tt.load" || op.name == "tt.store") {
      bool load = op.name == "tt.load";
      Value* pointer = op.operands.empty() ? nullptr : map(op.operands[0]);
      if (pointer && pointer->type.kind() == TypeKind::View) {
        created = lowerBlockPointerAccess(op, load, std::move(attributes));
      } else {
        attributes.emplace_back("oob", context_.keyword("error"));
        created = create(op, load ? "tile.load" : "tile.store", mapAll(op.operands), std::move(attributes));
        created->operandSegments = op.operandSegments;
      }
    } else if (op.name == "tt.make_tensor_ptr" || op.name == "tt.make_tensor_descriptor") {
      // A block pointer is a view that carries the offsets of its block; a descriptor has none.
      created = create(op, "tile.view", mapAll(op.operands), std::move(attributes));
      auto rank = static_cast<uint32_t>(created->result()->type->shape.size());
      created->operandSegments = {1, rank, rank, op.name == "tt.make_tensor_ptr" ? rank : 0};
    } else if (op.name == "tt.descriptor_load" || op.name == "tt.descriptor_store") {
      bool load = op.name == "tt.descriptor_load";
      attributes.emplace_back("oob", context_.keyword(load ? "pad" : "skip"));
      created = create(op, load ? "tile.view_load" : "tile.view_store", mapAll(op.operands), std::move(attributes));
      created->operandSegments = op.operandSegments;
    } else if (std::string_view name = commonName(op.name); !name.empty()) {
      created = create(op, std::string(name), mapAll(op.operands), std::move(attributes));
      created->operandSegments = op.operandSegments;
    } else if (op.info && !op.info->added && !op.name.starts_with("tt.")) {
      created = create(op, op.name, mapAll(op.operands), std::move(attributes));
      created->operandSegments = op.operandSegments;
    } else {
      const ir::Attribute reason = op.attribute(kNotLowered);
      attributes.clear();
      attributes.emplace_back("name", context_.string(op.name));
      if (reason) attributes.emplace_back("reason", reason);
      created = create(op, "tile.opaque", mapAll(op.operands), std::move(attributes));
    }
    if (created->name != "tile.opaque") lowerRegions(op, *created);
    for (size_t i = 0; i < created->operands.size(); ++i)
      if (!created->operands[i]) pending_.push_back({created, i, op.operands[i]});
    for (const ir::Successor& successor : op.successors)
      created->successors.push_back({blocks_[successor.block], mapAll(successor.operands)});
    // Uses before definitions in the listing (blocks in any order) are settled per function.
    if (op.name == "tt.func") {
      for (const Pending& p : pending_) p.op->operands[p.index] = map(p.value);
      pending_.clear();
    }
  }

  // tt.load / tt.store on a block pointer: only the dimensions in boundaryCheck are guarded.
  Operation* lowerBlockPointerAccess(const Operation& op, bool load, std::vector<NamedAttribute> attributes) {
    bool guarded = false;
    for (auto& [key, value] : attributes)
      if (key == "boundaryCheck") guarded = value->integers.size() > 0;
    attributes.emplace_back("oob", context_.keyword(!guarded ? "error" : load ? "pad" : "skip"));
    std::vector<Value*> operands{map(op.operands[0])};
    if (!load) operands.push_back(map(op.operands[1]));
    Operation* created = create(op, load ? "tile.view_load" : "tile.view_store", operands, std::move(attributes));
    if (load) created->operandSegments = {1, 0};
    else created->operandSegments = {1, 1, 0};
    return created;
  }

  struct Pending {
    Operation* op;
    size_t index;
    Value* value;
  };

  const ir::Module& source_;
  ir::Context& context_;
  Block* block_ = nullptr;
  std::unordered_map<const Value*, Value*> values_;
  std::unordered_map<const Block*, Block*> blocks_;
  std::vector<Pending> pending_;
};

}  // namespace

Result<ir::Module> lower(const ir::Module& source, ir::Context& context) {
  return Lowering(source, context).run();
}

}  // namespace tilesight::frontends::triton
