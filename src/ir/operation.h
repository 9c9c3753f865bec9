// Operations, values, blocks and regions: one structure for every dialect.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/location.h"
#include "ir/type.h"

namespace tilesight::dialects {
struct OpInfo;  // one row of a dialect table; null for opaque operations
}

namespace tilesight::ir {

class Context;
struct Operation;
struct Block;
struct Region;

/// An SSA value: a result of `owner`, or an argument of `block`.
struct Value {
  Type type;
  Operation* owner = nullptr;  // null for block arguments
  Block* block = nullptr;      // null for results
  uint32_t index = 0;          // result or argument number
  std::string name;            // as written, without % and without #n; empty if it was a number
  std::string spelling;        // as uses write it, without %: "12", "acc#1"; empty if built
  Location location;           // block arguments only; results use owner->location
};

struct Successor {
  Block* block = nullptr;
  std::vector<Value*> operands;
};

struct Region {
  Operation* parent = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;  // blocks[0] is the entry
  bool empty() const { return blocks.empty(); }
};

struct Block {
  Region* parent = nullptr;
  std::string label;                       // as written, without ^; empty if there was none
  uint32_t textBegin = 0, textEnd = 0;     // of its operations in the text it was parsed from
  std::vector<std::unique_ptr<Value>> arguments;
  std::vector<std::unique_ptr<Operation>> operations;
};

struct Operation {
  std::string name;                       // "tt.load"; opaque operations too
  const dialects::OpInfo* info = nullptr; // null: no table has it
  std::vector<Value*> operands;
  /// How many operands each operand group of the format holds, in table order, for operations
  /// with optional or variadic operands (load: ptr, mask, other = {1, 1, 0}). Empty if unneeded.
  std::vector<uint32_t> operandSegments;
  std::vector<std::unique_ptr<Value>> results;
  std::vector<NamedAttribute> attributes; // defaults from the table are not stored
  std::vector<std::unique_ptr<Region>> regions;
  std::vector<Successor> successors;
  Location location;
  Block* parent = nullptr;
  /// Opaque operations in a custom form: the source text between the operation's name and its
  /// location, verbatim but for aliases, which are written out. Opaque operations in generic form have their parts instead.
  std::string opaqueText;
  bool isTextOnly = false;
  /// Where in `opaqueText` each operand's `%name` (or `%name#n`) and each successor's `^label`
  /// stands: byte offset and length. The printer writes current names there.
  struct TextSpan { uint32_t offset = 0, length = 0; };
  std::vector<TextSpan> opaqueOperands, opaqueSuccessors;
  uint32_t sourceLine = 0, sourceColumn = 0;  // in the text it was parsed from; 0 if built
  uint32_t textBegin = 0, textEnd = 0;        // bytes there, result names and location included; 0, 0 if built
  /// Pre-order number in the module it was parsed from; lowering keeps it. Findings, traces and
  /// `report.trace.at(op=N)` name operations by it.
  uint32_t number = 0;

  bool isOpaque() const { return info == nullptr; }
  Attribute attribute(std::string_view key) const;      // null if absent (defaults not applied)
  void setAttribute(std::string_view key, Attribute value);
  /// Integer attribute, or `fallback` if absent.
  int64_t integer(std::string_view key, int64_t fallback = 0) const;
  /// String/keyword/symbol attribute, or empty.
  std::string_view string(std::string_view key) const;
  /// Operand `index` of segment `segment`, or null (for optional operands). Needs operandSegments.
  Value* segment(unsigned segment, unsigned index = 0) const;
  Operation* parentOp() const;
  Value* result(unsigned index = 0) const { return results[index].get(); }
  Region* region(unsigned index = 0) const { return regions[index].get(); }
};

/// A parsed or built module. Owns its top operation ("builtin.module"), not its context.
struct Module {
  Context* context = nullptr;
  std::unique_ptr<Operation> top;
  std::string fileName;             // for diagnostics
  std::string trailingMetadata;     // `{-# ... #-}` verbatim, or empty

  Block& body() const { return *top->regions[0]->blocks[0]; }
  /// The function with this symbol name, or null.
  Operation* function(std::string_view symbol) const;
  /// The one public function, or the only function; null if there is none or several.
  Operation* entry() const;
};

/// Pre-order walk over `op` and all operations nested in it. Returning false from `visit` stops.
template <typename Visit>
bool walk(Operation& op, Visit&& visit) {
  if (!visit(op)) return false;
  for (auto& region : op.regions)
    for (auto& block : region->blocks)
      for (auto& nested : block->operations)
        if (!walk(*nested, visit)) return false;
  return true;
}

/// Builds operations at the end of a block.
class Builder {
 public:
  Builder(Context& context, Block* block) : context_(context), block_(block) {}
  Context& context() const { return context_; }
  Block* block() const { return block_; }
  void setBlock(Block* block) { block_ = block; }
  Operation* create(std::string name, std::vector<Value*> operands, std::vector<Type> resultTypes,
                    std::vector<NamedAttribute> attributes, Location location);

 private:
  Context& context_;
  Block* block_;
};

Region* addRegion(Operation& op);
Block* addBlock(Region& region);
Value* addArgument(Block& block, Type type, std::string name, Location location);

}  // namespace tilesight::ir
