// The printer: names values, blocks and locations, then writes operations. One class; its methods
// are spread over print_*.cpp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dialects/table.h"
#include "ir/operation.h"
#include "text/text.h"

namespace tilesight::text {

class Printer {
 public:
  explicit Printer(PrintOptions options) : options_(options) {}
  virtual ~Printer() = default;
  std::string printModule(const ir::Module& module);
  std::string printOperation(const ir::Operation& op);

 protected:
  // --- names (print_names.cpp)
  struct Names;  // used names of a function while numbering
  void nameModule(const ir::Operation& top);
  void nameOperation(const ir::Operation& op, Names& names);
  void nameRegion(const ir::Region& region, Names names);
  void reserveOpaqueNames(const ir::Operation& op, Names& names);
  void nameResults(const ir::Operation& op, Names& names);
  std::string valueText(const ir::Value* value) const;  // with % and #n
  void nameLocations(const ir::Operation& op);
  void nameLocation(ir::Location location);

  // --- text (printer.cpp)
  void put(std::string_view text) { out_ += text; }
  /// A literal of a format, with MLIR's spacing around punctuation.
  void putLiteral(std::string_view text);
  /// A space if the text before asks for one, then `text`.
  void putWord(std::string_view text);
  void newLine();
  void printValues(const std::vector<ir::Value*>& values);
  void printTypes(const std::vector<ir::Type>& types);
  void printResultTypes(const std::vector<ir::Type>& types);  // one bare, else in parentheses
  void printFunctionalType(const std::vector<ir::Type>& inputs, const std::vector<ir::Type>& results);
  virtual void printLocation(ir::Location location);  // " loc(...)"
  /// Of an operation; its alias may be defined further down, which MLIR allows nowhere else.
  virtual void printOperationLocation(const ir::Operation& op) { printLocation(op.location); }
  std::string locationBody(ir::Location location, bool definition);
  void printLocationAliases();
  /// `key = value` in a dictionary, where enumerations are integers.
  static bool isDefault(const ir::Operation& op, const ir::NamedAttribute& entry);
  std::string attributeText(const ir::Operation& op, const ir::NamedAttribute& entry) const;

  // --- operations (print_operation.cpp)
  virtual void printOp(const ir::Operation& op);
  void printResultNames(const ir::Operation& op);
  void printGeneric(const ir::Operation& op);
  void printOpaque(const ir::Operation& op);
  void printRegion(const ir::Region& region, bool entryArguments, bool elideYield = false);
  void printBlock(const ir::Block& block, bool label, bool elideYield);
  void printBlockArguments(const ir::Block& block);
  void printSuccessor(const ir::Successor& successor);
  /// Attributes but those in `hidden`, in braces, if any; `keyword` before them.
  void printAttrDict(const ir::Operation& op, const std::vector<std::string_view>& hidden, std::string_view keyword = {});

  // --- formats (print_format.cpp)
  void printFormat(const ir::Operation& op);
  void printElement(const ir::Operation& op, const dialects::FormatElement& element);
  bool isPresent(const ir::Operation& op, const dialects::FormatElement& element) const;
  std::vector<ir::Value*> operandsOf(const ir::Operation& op, int group) const;
  std::vector<ir::Type> typesOf(const ir::Operation& op, std::string_view name) const;
  void printFormatAttribute(const ir::Operation& op, const dialects::AttributeInfo& info);

  // --- operations with syntax of their own (print_custom.cpp)
  bool printCustom(const ir::Operation& op);
  void printModuleOp(const ir::Operation& op);
  void printFunc(const ir::Operation& op);
  void printFor(const ir::Operation& op);
  void printIf(const ir::Operation& op);
  void printWhile(const ir::Operation& op);
  void printSelect(const ir::Operation& op);
  void printAssignments(const ir::Block& block, size_t firstArgument, const std::vector<ir::Value*>& operands, size_t firstOperand);

  PrintOptions options_;
  std::string out_;
  uint32_t indent_ = 0;
  std::unordered_map<const ir::Value*, std::string> valueNames_;
  std::unordered_map<const ir::Block*, std::string> blockNames_;
  std::unordered_map<const ir::LocationStorage*, uint32_t> locationNames_;
  std::vector<ir::Location> locations_;
  std::string locationPrefix_ = "loc";
  size_t locationUses_ = 0;
};

}  // namespace tilesight::text
