// Editing a module. Keeps the uses of every value, so all edits of operands, operations and blocks go
// through here; attributes may be set directly.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/context.h"
#include "ir/operation.h"
#include "passes/clone.h"

namespace tilesight::passes {

/// One operand of one operation, or of one of its successors.
struct Use {
  ir::Operation* user = nullptr;
  int32_t successor = -1;  // -1: an operand of the operation itself
  uint32_t index = 0;
  bool operator==(const Use&) const = default;
};

/// Before an operation, or at the end of a block.
struct Point {
  ir::Block* block = nullptr;
  ir::Operation* before = nullptr;  // null: at the end
  static Point beforeOp(ir::Operation* op) { return {op->parent, op}; }
  static Point afterOp(ir::Operation* op);
  static Point atEnd(ir::Block* block) { return {block, nullptr}; }
  static Point atStart(ir::Block* block) { return {block, block->operations.empty() ? nullptr : block->operations.front().get()}; }
};

class Rewriter {
 public:
  explicit Rewriter(ir::Module& module);
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  ir::Module& module() { return module_; }
  ir::Context& context() { return *module_.context; }

  const std::vector<Use>& uses(const ir::Value* value) const;
  bool isUsed(const ir::Value* value) const { return !uses(value).empty(); }
  /// True if a result of `op` has a use.
  bool isUsed(const ir::Operation& op) const;

  /// A new operation; operand groups are inferred where their sizes are clear, else given in `segments`.
  ir::Operation* create(Point at, std::string name, std::vector<ir::Value*> operands, std::vector<ir::Type> results,
                        std::vector<ir::NamedAttribute> attributes, ir::Location location,
                        std::vector<uint32_t> segments = {}, uint32_t regions = 0);
  /// A constant of an integer type, or a tensor of equal integers.
  ir::Operation* createConstant(Point at, ir::Attribute value, ir::Location location);
  /// A copy with all that is in it; operands are mapped.
  ir::Operation* copy(const ir::Operation& op, Point at, Mapping& mapping);
  void move(ir::Operation* op, Point to);
  /// Its results must be unused; what is in it goes, too.
  void erase(ir::Operation* op);

  void setOperand(const Use& use, ir::Value* value);
  void setOperands(ir::Operation* op, std::vector<ir::Value*> operands, std::vector<uint32_t> segments = {});
  void setSuccessors(ir::Operation* op, std::vector<ir::Successor> successors);
  void replaceUses(ir::Value* from, ir::Value* to);
  /// Replaces all uses of `op`'s results and erases it.
  void replace(ir::Operation* op, const std::vector<ir::Value*>& values);

  ir::Value* addArgument(ir::Block* block, ir::Type type, std::string name, ir::Location location);
  /// It must be unused.
  void eraseArgument(ir::Block* block, uint32_t index);
  ir::Block* addBlock(ir::Region* region);
  /// Its arguments and results must be unused from outside, and no branch may lead to it.
  void eraseBlock(ir::Block* block);
  /// Moves all operations of `from` to `to`.
  void moveBody(ir::Block* from, Point to);
  /// Moves the blocks of a region behind those of another.
  void moveBlocks(ir::Region* from, ir::Region* to);

 private:
  void addUses(ir::Operation& op);
  void dropUses(ir::Operation& op);   // of what it uses, not of what is in it
  void forget(ir::Operation& op);     // all in it, before it is destroyed
  void drop(const ir::Value* value, const Use& use);
  static size_t positionOf(const ir::Block& block, const ir::Operation* op);
  ir::Operation* insert(std::unique_ptr<ir::Operation> op, Point at);

  ir::Module& module_;
  std::unordered_map<const ir::Value*, std::vector<Use>> uses_;
};

/// True if `op` is `ancestor` or in it.
bool isIn(const ir::Operation& op, const ir::Operation& ancestor);
/// True if `value` is defined outside of `op`.
bool isDefinedOutside(const ir::Value& value, const ir::Operation& op);
/// The operation that `value` is a result of, or whose region's argument it is.
ir::Operation* ownerOf(const ir::Value& value);
/// The innermost operation around `op` with this name, or null.
ir::Operation* enclosing(ir::Operation* op, std::string_view name);

}  // namespace tilesight::passes
