// The recursive-descent parser of MLIR text. One class; its methods are spread over parse_*.cpp by
// grammar area. Methods return false after an error; the first error is kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dialects/table.h"
#include "ir/context.h"
#include "ir/operation.h"
#include "support/result.h"
#include "text/lexer.h"

namespace tilesight::text {

/// Nesting of regions, types, attributes, locations and alias definitions.
inline constexpr uint32_t kMaxDepth = 200;
/// Dimensions of a tensor.
inline constexpr size_t kMaxRank = 64;
/// Characters that one alias may stand for, its own aliases written out.
inline constexpr uint64_t kMaxAliasSize = 1u << 20;
/// Characters that all uses of attribute and type aliases in one file may stand for.
inline constexpr uint64_t kMaxExpansion = 64u << 20;

/// `%name` or `%name#2` where it is used.
struct ValueUse {
  std::string_view name;
  uint32_t number = 0;
  uint32_t offset = 0, end = 0;
};

/// An argument defined in line (functions, loops): name without %, type, attributes, location.
struct InlineArgument {
  std::string_view name;
  uint32_t offset = 0;
  ir::Type type;
  ir::Attribute attributes;  // Dictionary, or null
  ir::Location location;
};

class Parser {
 public:
  Parser(std::string_view text, std::string fileName, ir::Context& context);
  Result<ir::Module> parseModule();
  /// Definitions of attribute and location aliases, by name; after parseModule.
  std::vector<std::pair<std::string, ir::Attribute>> attributeAliases() const;
  std::vector<std::pair<std::string, ir::Location>> locationAliases() const;

 private:
  // --- tokens and errors (parser.cpp)
  void advance() { lastEnd_ = token_.end; token_ = lexer_.next(); }
  void jump(uint32_t offset) { lexer_.reset(offset); advance(); }
  bool is(TokenKind kind) const { return token_.kind == kind; }
  /// The current token is this punctuation or bare word.
  bool at(std::string_view spelling) const;
  bool take(std::string_view spelling);
  bool expect(std::string_view spelling, std::string_view context);
  bool error(uint32_t offset, std::string message);
  bool errorHere(std::string_view expected);
  std::pair<uint32_t, uint32_t> lineAndColumn(uint32_t offset) const;
  std::string_view slice(uint32_t begin, uint32_t end) const { return text_.substr(begin, end - begin); }
  bool parseBareWord(std::string& out, std::string_view what);
  bool parseUnsigned(uint32_t& out, std::string_view what);
  /// `open` element (`,` element)* `close`, or `open close`. `element` returns false on error.
  bool parseList(std::string_view open, std::string_view close, std::string_view context,
                 const std::function<bool()>& element);

  /// Counts nesting; `ok` is false past kMaxDepth.
  struct Nest {
    explicit Nest(Parser& parser);
    ~Nest() { --parser_.depth_; }
    bool ok;
   private:
    Parser& parser_;
  };

  // --- aliases (parse_alias.cpp)
  struct Alias {
    enum class State : uint8_t { New, Busy, Done, Failed } state = State::New;
    uint32_t valueOffset = 0;
    ir::Attribute attribute;
    ir::Type type;
    ir::Location location;
    bool isLocation = false;
    uint64_t size = 0;
    uint32_t depth = 0;
    Diagnostic diagnostic;
  };
  void collectAliases();
  bool resolveAlias(Alias& alias, bool isType, uint32_t useOffset);
  Alias* findAlias(std::string_view name, bool isType);
  bool useAlias(std::string_view name, bool isType, uint32_t offset, Alias*& out);
  bool parseAliasDefinition();
  bool expand(uint64_t size, uint32_t offset);  // counts text that aliases stand for

  // --- types (parse_type.cpp)
  bool atType() const;
  bool parseType(ir::Type& out);
  bool parseTypeList(std::vector<ir::Type>& out);              // type (`,` type)*
  bool parseParenthesizedTypes(std::vector<ir::Type>& out);    // `(` ... `)`
  bool parseResultTypes(std::vector<ir::Type>& out);           // type, or `(` ... `)`
  bool parseFunctionType(ir::Type& out);                       // (...) -> ...
  bool parseShapedBody(std::vector<int64_t>& shape, ir::Type& element);
  bool parseDialectType(ir::Type& out);
  bool parsePointerBody(ir::Type& out);                        // <f16>, <f16, 3>
  bool parseDescriptorBody(ir::Type& out);                     // <64x64xf16>, <tensor<64x64xf16>>
  bool parseOpaqueText(uint32_t begin, std::string& out);      // balanced <...> after begin

  // --- attributes (parse_attribute.cpp, parse_dense.cpp)
  bool parseAttribute(ir::Attribute& out);
  bool parseNumber(ir::Attribute& out);
  bool parseNamedAttributes(std::vector<ir::NamedAttribute>& out, std::string_view close);
  bool parseAttributeDictionary(std::vector<ir::NamedAttribute>& out);  // `{` ... `}`
  bool parseSymbol(std::string& out);
  bool parseString(std::string& out);
  bool parseDenseElements(ir::Attribute& out);
  bool parseDenseArray(ir::Attribute& out);
  struct Literal {
    Token token;
    bool negative = false;
  };
  bool parseLiteral(Literal& out);
  bool literalBits(const Literal& literal, ir::Type element, uint64_t& bits);
  bool parseDenseList(std::vector<Literal>& literals, std::vector<int64_t>& shape, size_t axis);
  bool integerValue(std::string_view digits, bool negative, ir::Type type, uint32_t offset, int64_t& out);
  bool parseOptionalColonType(ir::Type& out, ir::Type fallback);

  // --- locations (parse_location.cpp)
  bool parseLocation(ir::Location& out);           // loc(...)
  bool parseLocationBody(ir::Location& out);       // what is inside
  bool parseOptionalLocation(ir::Location& out);

  // --- scopes and values (parse_scope.cpp)
  struct Definition {
    std::vector<ir::Value*> values;
    uint32_t isolation = 0;
  };
  struct Placeholder {
    std::unique_ptr<ir::Value> value;
    std::string name;
    uint32_t number = 0, offset = 0;
    ir::Value* definition = nullptr;
  };
  struct OpaqueUse {
    ir::Operation* op;
    ValueUse use;
    uint32_t place;  // in the text of the operation
  };
  struct OpaqueLabel {
    ir::Operation* op;
    std::string_view label;
    ir::Operation::TextSpan span;
  };
  struct Label {
    ir::Block* block = nullptr;
    std::unique_ptr<ir::Block> owned;  // until defined
    uint32_t offset = 0;               // of the first use
    bool defined = false;
  };
  struct Scope {
    bool isolated = false;
    std::vector<std::pair<std::string, std::optional<Definition>>> undo;
    std::unordered_multimap<std::string, size_t> pending;  // placeholders by name
    std::vector<OpaqueUse> opaqueUses;
    std::vector<OpaqueLabel> opaqueLabels;
    std::unordered_map<std::string_view, Label> labels;
  };
  void pushScope(bool isolated);
  bool popScope();
  bool define(std::string_view name, std::vector<ir::Value*> values, uint32_t offset);
  const Definition* lookup(std::string_view name) const;
  bool resolve(const ValueUse& use, ir::Type type, ir::Value*& out);
  bool matchType(ir::Value& value, ir::Type type, const ValueUse& use);
  bool resolveAll(const std::vector<ValueUse>& uses, const std::vector<ir::Type>& types,
                  std::vector<ir::Value*>& out, uint32_t offset);
  bool parseValueUse(ValueUse& out);
  bool parseValueUses(std::vector<ValueUse>& out);  // possibly empty
  ir::Block* blockOf(std::string_view label, uint32_t offset);
  void replacePlaceholders(ir::Operation& top);

  // --- operations (parse_operation.cpp, parse_opaque.cpp, parse_generic.cpp)
  struct ResultNames {
    std::string_view name;
    uint32_t count = 1;
    uint32_t offset = 0;
  };
  bool parseOperation(ir::Block& block);
  bool parseResultNames(std::vector<ResultNames>& out);
  bool bindResults(ir::Operation& op, const std::vector<ResultNames>& names);
  bool parseCustomOperation(ir::Operation& op);
  bool parseGenericOperation(ir::Operation& op);
  bool parseOpaqueOperation(ir::Operation& op, uint32_t begin, uint32_t resultCount);
  void addResults(ir::Operation& op, const std::vector<ir::Type>& types);
  bool parseRegion(ir::Region& region, const std::vector<InlineArgument>& arguments, bool isolated);
  bool parseBlockLabel(ir::Region& region);
  bool parseBlockBody(ir::Block& block);
  bool parseSuccessor(ir::Successor& out);  // ^label [(%a, %b : t1, t2)]

  // --- attributes of operations (parse_operation.cpp)
  bool addAttribute(ir::Operation& op, std::string key, ir::Attribute value, uint32_t offset);
  bool addAttributes(ir::Operation& op, std::vector<ir::NamedAttribute> entries, uint32_t offset);
  bool parseOptionalAttributes(ir::Operation& op);
  bool takeSegmentSizes(ir::Operation& op, std::vector<uint32_t>& sizes, bool& found);

  // --- declarative formats (parse_format.cpp)
  struct FormatState;
  bool parseFormat(ir::Operation& op);
  bool parseElements(FormatState& state, const std::vector<dialects::FormatElement>& elements);
  bool parseElement(FormatState& state, const dialects::FormatElement& element);
  bool startsWith(const dialects::FormatElement& element, const dialects::OpInfo& info) const;
  bool parseFormatAttribute(FormatState& state, const dialects::AttributeInfo& info);
  bool parseTypesOf(FormatState& state, const dialects::FormatElement& element);
  bool setTypes(FormatState& state, std::string_view what, std::vector<ir::Type> types, uint32_t offset);
  bool inferTypes(FormatState& state);
  bool finishFormat(FormatState& state);

  // --- operations with syntax of their own (parse_custom.cpp, parse_scf.cpp, parse_func.cpp)
  bool parseModuleOp(ir::Operation& op);
  bool parseFunc(ir::Operation& op);
  bool parseConstant(ir::Operation& op);
  bool parseSelect(ir::Operation& op);
  bool parseBranch(ir::Operation& op);
  bool parseCondBranch(ir::Operation& op);
  bool parseFor(ir::Operation& op);
  bool parseIf(ir::Operation& op);
  bool parseWhile(ir::Operation& op);
  bool parseAssignments(std::vector<InlineArgument>& arguments, std::vector<ValueUse>& values);
  void ensureYield(ir::Operation& op, ir::Region& region);

  std::string_view text_;
  std::string fileName_;
  ir::Context& context_;
  Lexer lexer_;
  Token token_;
  uint32_t lastEnd_ = 0;  // of the token before
  std::vector<uint32_t> lineStarts_;
  std::optional<Diagnostic> diagnostic_;
  uint32_t depth_ = 0;

  std::unordered_map<std::string_view, Alias> attributeAliases_, typeAliases_;
  uint64_t aliasSize_ = 0;    // of the aliases used by the alias being defined
  uint32_t aliasDepth_ = 0;
  uint64_t expansion_ = 0;

  std::unordered_map<std::string, Definition> names_;
  std::vector<Scope> scopes_;
  uint32_t isolation_ = 0;
  std::vector<Placeholder> placeholders_;
  std::string metadata_;
};

}  // namespace tilesight::text
