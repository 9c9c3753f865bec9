#include "ir/verifier.h"

#include <fmt/format.h>

#include "dialects/table.h"
#include "ir/context.h"
#include "ir/dominance.h"
#include "ir/type_rules.h"
#include "ir/verifier_ops.h"

namespace tilesight::ir {

namespace {

using dialects::Arity;
using dialects::AttributeForm;
using dialects::OpInfo;
using dialects::RuleKind;
using dialects::Trait;

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  Status run() {
    if (!module_.top || module_.top->regions.size() != 1 || module_.top->regions[0]->blocks.size() != 1)
      return failure("a module has one region of one block");
    for (const auto& op : module_.body().operations) {
      if (!op->info || !op->info->has(Trait::Function)) continue;
      const std::string_view name = op->string("sym_name");
      if (!symbols_.emplace(name, op.get()).second)
        return at(*op, fmt::format("redefinition of function '@{}'", name));
    }
    return operation(*module_.top);
  }

 private:
  Status at(const Operation& op, std::string message) const {
    // Built operations have no place in a text; their source location says where they come from.
    if (!op.sourceLine && op.location) message += fmt::format(" ({}, {})", op.name, op.location.str());
    return failure(Diagnostic{module_.fileName, op.sourceLine, op.sourceColumn, std::move(message), {}});
  }

  Status operation(const Operation& op) {
    TS_CHECK(uses(op));
    if (op.info) {
      TS_CHECK(counts(op, *op.info));
      TS_CHECK(attributes(op, *op.info));
      TS_CHECK(types(op, *op.info));
      if (std::string wrong = verifyOperation(op, symbols_); !wrong.empty())
        return at(op, fmt::format("'{}': {}", op.name, wrong));
    }
    for (const auto& region : op.regions) {
      dominance_.enter(*region);
      for (const auto& block : region->blocks) {
        TS_CHECK(terminators(op, *block));
        for (const auto& nested : block->operations) TS_CHECK(operation(*nested));
      }
    }
    return {};
  }

  Status uses(const Operation& op) const {
    const auto check = [&](const Value* value) -> Status {
      if (!value) return at(op, fmt::format("'{}' has a missing operand", op.name));
      if (dominance_.reaches(*value, op)) return {};
      return at(op, fmt::format("'{}' uses '%{}' where it is not defined", op.name,
                                value->name.empty() ? std::to_string(value->index) : value->name));
    };
    for (const Value* value : op.operands) TS_CHECK(check(value));
    for (const Successor& successor : op.successors) {
      for (const Value* value : successor.operands) TS_CHECK(check(value));
      if (!successor.block || !op.parent || successor.block->parent != op.parent->parent)
        return at(op, fmt::format("'{}' branches to a block of another region", op.name));
      if (op.isOpaque()) continue;
      const auto& arguments = successor.block->arguments;
      if (arguments.size() != successor.operands.size())
        return at(op, fmt::format("'{}' passes {} values to a block with {} arguments", op.name, successor.operands.size(), arguments.size()));
      for (size_t i = 0; i < arguments.size(); ++i)
        if (successor.operands[i]->type != arguments[i]->type)
          return at(op, fmt::format("'{}' passes {} to a block argument of type {}", op.name, successor.operands[i]->type.str(), arguments[i]->type.str()));
      if (successor.block == op.parent->parent->blocks[0].get())
        return at(op, fmt::format("'{}' branches to the entry block", op.name));
    }
    return {};
  }

  Status counts(const Operation& op, const OpInfo& info) const {
    if (info.hasSegments()) {
      if (op.operandSegments.size() != info.operands.size())
        return at(op, fmt::format("'{}' has {} operands, which its operand groups do not allow", op.name, op.operands.size()));
      size_t total = 0;
      for (size_t i = 0; i < info.operands.size(); ++i) {
        const uint32_t size = op.operandSegments[i];
        total += size;
        if ((info.operands[i].arity == Arity::One && size != 1) || (info.operands[i].arity == Arity::Optional && size > 1))
          return at(op, fmt::format("'{}' has {} values for operand '{}'", op.name, size, info.operands[i].name));
      }
      if (total != op.operands.size())
        return at(op, fmt::format("'{}' has {} operands, but its operand groups hold {}", op.name, op.operands.size(), total));
      if (info.has(Trait::EqualVariadics)) {
        int64_t size = -1;
        for (size_t i = 0; i < info.operands.size(); ++i) {
          if (info.operands[i].arity != Arity::Variadic) continue;
          if (size >= 0 && size != op.operandSegments[i])
            return at(op, fmt::format("'{}' needs lists of one length", op.name));
          size = op.operandSegments[i];
        }
      }
    } else if (op.operands.size() != info.operands.size()) {
      return at(op, fmt::format("'{}' has {} operands, needs {}", op.name, op.operands.size(), info.operands.size()));
    }
    size_t fixed = 0;
    bool variadic = false;
    for (const auto& group : info.results) group.arity == Arity::One ? void(++fixed) : void(variadic = true);
    if (variadic ? op.results.size() < fixed : op.results.size() != fixed)
      return at(op, fmt::format("'{}' has {} results, needs {}", op.name, op.results.size(), fixed));
    if (op.regions.size() != info.regions.size())
      return at(op, fmt::format("'{}' has {} regions, needs {}", op.name, op.regions.size(), info.regions.size()));
    if (op.successors.size() != info.successors.size())
      return at(op, fmt::format("'{}' has {} successors, needs {}", op.name, op.successors.size(), info.successors.size()));
    if (!info.parents.empty()) {
      const Operation* parent = op.parentOp();
      bool allowed = parent && parent->isOpaque();
      for (const std::string& name : info.parents) allowed = allowed || (parent && parent->name == name);
      if (!allowed)
        return at(op, fmt::format("'{}' must be in '{}'", op.name, fmt::join(info.parents, "' or '")));
    }
    return {};
  }

  Status attributes(const Operation& op, const OpInfo& info) const {
    for (const auto& attribute : info.attributes) {
      const Attribute value = op.attribute(attribute.name);
      if (!value) {
        if (attribute.required()) return at(op, fmt::format("'{}' needs attribute '{}'", op.name, attribute.name));
        continue;
      }
      if (!hasForm(value, attribute))
        return at(op, fmt::format("'{}': attribute '{}' cannot be {}", op.name, attribute.name, value.str()));
    }
    return {};
  }

  static bool hasForm(Attribute value, const dialects::AttributeInfo& info) {
    const AttributeKind kind = value.kind();
    const auto isInteger = [&](uint32_t width) {
      return kind == AttributeKind::Integer && value->type.kind() == TypeKind::Integer && value->type->width == width;
    };
    const auto isArray = [&](uint32_t width) {
      return kind == AttributeKind::DenseArray && value->type.kind() == TypeKind::Integer && value->type->width == width;
    };
    switch (info.form) {
      case AttributeForm::Any: return true;
      case AttributeForm::I32: return isInteger(32);
      case AttributeForm::I64: return isInteger(64) || isInteger(32);
      case AttributeForm::Bool: return kind == AttributeKind::Bool;
      case AttributeForm::Unit: return kind == AttributeKind::Unit;
      case AttributeForm::String: return kind == AttributeKind::String;
      case AttributeForm::Symbol: return kind == AttributeKind::Symbol;
      case AttributeForm::Type: return kind == AttributeKind::TypeValue;
      case AttributeForm::I32Array: return isArray(32);
      case AttributeForm::I64Array: return isArray(64);
      case AttributeForm::Enum: return kind == AttributeKind::Keyword && info.enumeration->value(value->text);
      case AttributeForm::Bits: return kind == AttributeKind::Keyword && info.enumeration->bits(value->text);
      case AttributeForm::Flags: {
        // words separated by commas
        if (kind != AttributeKind::Keyword) return false;
        bool word = false;
        for (char c : value->text) {
          if (c == ',' ? !word : !((c >= 'a' && c <= 'z') || c == '_')) return false;
          word = c != ',';
        }
        return word;
      }
      case AttributeForm::Dictionaries: return kind == AttributeKind::Array;
    }
    return false;
  }

  /// The value of a group of one, or null.
  static const Value* valueOf(const Operation& op, const OpInfo& info, std::string_view name) {
    if (int group = info.operandGroup(name); group >= 0) {
      if (op.operandSegments.empty()) return op.operands[group];
      return op.operandSegments[group] == 1 ? op.segment(group) : nullptr;
    }
    const int group = info.resultGroup(name);
    return group >= 0 && info.results[group].arity == Arity::One ? op.results[group].get() : nullptr;
  }

  Status types(const Operation& op, const OpInfo& info) const {
    size_t next = 0;
    for (size_t i = 0; i < info.operands.size(); ++i) {
      const size_t size = op.operandSegments.empty() ? 1 : op.operandSegments[i];
      for (size_t n = 0; n < size; ++n, ++next) {
        const Type type = op.operands[next]->type;
        if (type && !isOfClass(type, info.operands[i]))
          return at(op, fmt::format("'{}': operand '{}' must be {}, but is {}", op.name, info.operands[i].name, describe(info.operands[i]), type.str()));
      }
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      const auto& group = info.results[i < info.results.size() ? i : info.results.size() - 1];
      const Type type = op.results[i]->type;
      if (!isOfClass(type, group))
        return at(op, fmt::format("'{}': result '{}' must be {}, but is {}", op.name, group.name, describe(group), type.str()));
    }
    for (const dialects::TypeRule& rule : info.rules) {
      const Value* source = valueOf(op, info, rule.source);
      const Value* target = valueOf(op, info, rule.target);
      if (!source || !target || !source->type || !target->type) continue;
      const Type from = source->type, to = target->type;
      if (from.elementType().kind() == TypeKind::Opaque || to.elementType().kind() == TypeKind::Opaque) continue;
      bool holds = true;
      const char* what = "";
      switch (rule.kind) {
        case RuleKind::SameShape: holds = from.isTensor() == to.isTensor() && from.shape() == to.shape(); what = "the same shape"; break;
        case RuleKind::SameElement: holds = from.elementType() == to.elementType(); what = "the same element type"; break;
        case RuleKind::SameCount: holds = from.numElements() == to.numElements(); what = "as many elements"; break;
        default: {
          const Type wanted = deriveType(*module_.context, rule.kind, from);
          if (wanted && wanted == to) continue;
          return at(op, fmt::format("'{}': {} has type {}, but {} of type {} asks for {}", op.name, rule.target, to.str(),
                                    rule.source, from.str(), wanted ? wanted.str() : "none"));
        }
      }
      if (!holds)
        return at(op, fmt::format("'{}': {} ({}) and {} ({}) must have {}", op.name, rule.source, from.str(), rule.target, to.str(), what));
    }
    return {};
  }

  // Terminators that say where they belong are held to it by counts().
  static bool endsRegions(const Operation& op) {
    return op.info && (!op.info->has(Trait::Terminator) || !op.info->parents.empty());
  }

  Status terminators(const Operation& parent, const Block& block) const {
    if (!parent.info || parent.info->has(Trait::NoTerminator)) return {};
    if (parent.info->has(Trait::SingleBlock) && block.parent->blocks.size() != 1)
      return at(parent, fmt::format("'{}' takes regions of one block", parent.name));
    if (block.operations.empty()) return at(parent, fmt::format("'{}' has a block without operations", parent.name));
    for (size_t i = 0; i < block.operations.size(); ++i) {
      const Operation& op = *block.operations[i];
      const bool last = i + 1 == block.operations.size();
      // What stands at the end of a region is read by its parent, unless that is a function.
      if (last && &block == block.parent->blocks.back().get() && !parent.info->has(Trait::Function) && !endsRegions(op))
        return at(op, fmt::format("a region of '{}' ends with '{}', which cannot end one", parent.name, op.name));
      if (op.isOpaque()) continue;  // may or may not end a block
      if (op.info->has(Trait::Terminator) && !last)
        return at(op, fmt::format("'{}' must be the last operation of its block", op.name));
      if (!op.info->has(Trait::Terminator) && last)
        return at(op, fmt::format("block ends with '{}', which is no terminator", op.name));
    }
    return {};
  }

  const Module& module_;
  SymbolTable symbols_;
  Dominance dominance_;
};

}  // namespace

Status verify(const Module& module) { return Verifier(module).run(); }

}  // namespace tilesight::ir
