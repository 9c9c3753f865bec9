#include "text/printer.h"

#include <fmt/format.h>

#include "ir/spelling.h"

namespace tilesight::text {

std::string print(const ir::Module& module, PrintOptions options) {
  return Printer(options).printModule(module);
}

std::string print(const ir::Operation& op) {
  PrintOptions options;
  options.locations = false;
  return Printer(options).printOperation(op);
}

std::string Printer::printModule(const ir::Module& module) {
  nameModule(*module.top);
  if (options_.locations) nameLocations(*module.top);
  // Text that is kept as it came may hold names like ours, which must not begin to mean something.
  for (;; locationPrefix_ += '_') {
    out_.clear();
    locationUses_ = 0;
    printOp(*module.top);
    size_t found = 0;
    const std::string sigil = "#" + locationPrefix_;
    for (size_t at = out_.find(sigil); at != std::string::npos; at = out_.find(sigil, at + 1)) ++found;
    if (found == locationUses_) break;
  }
  put("\n");
  printLocationAliases();
  if (!module.trailingMetadata.empty()) put("\n" + module.trailingMetadata + "\n");
  return std::move(out_);
}

std::string Printer::printOperation(const ir::Operation& op) {
  // Names are those of the whole module the operation is in.
  const ir::Operation* top = &op;
  while (const ir::Operation* parent = top->parentOp()) top = parent;
  nameModule(*top);
  printOp(op);
  return std::move(out_);
}

void Printer::putWord(std::string_view text) {
  if (!out_.empty() && std::string_view(" ([{<\n").find(out_.back()) == std::string_view::npos) put(" ");
  put(text);
}

void Printer::putLiteral(std::string_view text) {
  if (text.size() == 1 && std::string_view(">)}],<([").find(text[0]) != std::string_view::npos)
    // `[` and `(` follow the word before directly (%desc[...], @f(...)), but not a comma.
    (text[0] == '[' || text[0] == '(') && !out_.empty() && out_.back() == ',' ? putWord(text) : put(text);
  else
    putWord(text);
}

void Printer::newLine() {
  put("\n");
  out_.append(2 * indent_, ' ');
}

void Printer::printValues(const std::vector<ir::Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) put(",");
    putWord(valueText(values[i]));
  }
}

/// Results of operations that nobody understands may have no type; `none` can be read back.
static std::string typeText(ir::Type type) { return type ? type.str() : "none"; }

void Printer::printTypes(const std::vector<ir::Type>& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i) put(",");
    putWord(typeText(types[i]));
  }
}

void Printer::printResultTypes(const std::vector<ir::Type>& types) {
  if (types.size() == 1 && types[0].kind() != ir::TypeKind::Function) return putWord(typeText(types[0]));
  putWord("(");
  printTypes(types);
  put(")");
}

void Printer::printFunctionalType(const std::vector<ir::Type>& inputs, const std::vector<ir::Type>& results) {
  putWord("(");
  printTypes(inputs);
  put(") ->");
  printResultTypes(results);
}


std::string Printer::attributeText(const ir::Operation& op, const ir::NamedAttribute& entry) const {
  const dialects::AttributeInfo* info = op.info ? op.info->attribute(entry.first) : nullptr;
  const std::string key = ir::isBareIdentifier(entry.first) ? entry.first : ir::quoted(entry.first);
  if (info && entry.second.kind() == ir::AttributeKind::Keyword) {
    const std::string& word = entry.second->text;
    if (info->form == dialects::AttributeForm::Enum)
      if (const int64_t* number = info->enumeration->value(word))
        return fmt::format("{} = {} : i{}", key, *number, info->enumeration->width);
    if (info->form == dialects::AttributeForm::Flags)
      return fmt::format("{} = #arith.{}<{}>", key, entry.first == "fastmath" ? "fastmath" : "overflow", word);
    if (info->form == dialects::AttributeForm::Bits)
      if (auto number = info->enumeration->bits(word))
        return fmt::format("{} = {} : i{}", key, *number, info->enumeration->width);
  }
  // A keyword that no format writes: bare words are no attributes.
  if (entry.second.kind() == ir::AttributeKind::Keyword)
    return fmt::format("{} = {}", key, ir::quoted(entry.second->text));
  return ir::namedAttributeText(entry);
}

/// Built operations may carry attributes with the value that absence means.
bool Printer::isDefault(const ir::Operation& op, const ir::NamedAttribute& entry) {
  const dialects::AttributeInfo* info = op.info ? op.info->attribute(entry.first) : nullptr;
  if (!info || !info->hasDefault) return false;
  switch (entry.second.kind()) {
    case ir::AttributeKind::Keyword: return entry.second->text == info->defaultText;
    case ir::AttributeKind::Bool: return info->defaultText == (entry.second->integer ? "true" : "false");
    case ir::AttributeKind::Integer: return info->defaultText == std::to_string(entry.second->integer);
    default: return false;
  }
}

void Printer::printAttrDict(const ir::Operation& op, const std::vector<std::string_view>& hidden, std::string_view keyword) {
  bool any = false;
  for (const ir::NamedAttribute& entry : op.attributes) {
    bool isHidden = false;
    for (std::string_view name : hidden) isHidden = isHidden || name == entry.first;
    if (isHidden || isDefault(op, entry)) continue;
    if (!any) {
      if (!keyword.empty()) putWord(keyword);
      putWord("{");
    } else {
      put(", ");
    }
    any = true;
    put(attributeText(op, entry));
  }
  if (any) put("}");
}

// --- locations

std::string Printer::locationBody(ir::Location location, bool definition) {
  if (!location) return "unknown";
  if (!definition)
    if (auto found = locationNames_.find(location.raw()); found != locationNames_.end()) {
      ++locationUses_;
      return "#" + locationPrefix_ + (found->second ? std::to_string(found->second) : "");
    }
  switch (location.kind()) {
    case ir::LocationKind::Name:
      if (location->child.kind() == ir::LocationKind::Unknown) return ir::quoted(location->text);
      return ir::quoted(location->text) + "(" + locationBody(location->child, false) + ")";
    case ir::LocationKind::CallSite:
      return "callsite(" + locationBody(location->child, false) + " at " + locationBody(location->caller, false) + ")";
    case ir::LocationKind::Fused: {
      std::string text = "fused";
      if (!location->text.empty()) text += "<" + location->text + ">";
      text += "[";
      for (size_t i = 0; i < location->fused.size(); ++i) {
        if (i) text += ", ";
        text += locationBody(location->fused[i], false);
      }
      return text + "]";
    }
    default: {
      std::string text = location.str();  // loc(...)
      return text.substr(4, text.size() - 5);
    }
  }
}

void Printer::printLocation(ir::Location location) {
  if (!options_.locations || !location) return;
  put(" loc(" + locationBody(location, false) + ")");
}

void Printer::printLocationAliases() {
  for (size_t i = 0; i < locations_.size(); ++i) {
    put("#" + locationPrefix_ + (i ? std::to_string(i) : ""));
    put(" = loc(" + locationBody(locations_[i], true) + ")\n");
  }
}

}  // namespace tilesight::text
