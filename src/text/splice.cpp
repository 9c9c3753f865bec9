// An operation is compared with what it was by a digest of its own parts (names, operands, attributes,
// types, location, blocks), not of what is in its regions. If that is unchanged, its text is copied up
// to each block, the block's operations are written one by one, and so on.
#include "text/splice.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/spelling.h"
#include "text/parser.h"
#include "text/printer.h"
#include "text/text.h"

namespace tilesight::text {

namespace {

/// A value's name for the digest and for uses.
using NameOf = std::function<std::string(const ir::Value*)>;

std::string base(std::string_view spelling) { return std::string(spelling.substr(0, spelling.find('#'))); }

/// All that the text of an operation says, but for what is in its blocks.
std::string digest(const ir::Operation& op, const NameOf& name, const std::function<std::string(const ir::Block*)>& label) {
  std::string out = op.name;
  const auto pointer = [&](const void* p) { fmt::format_to(std::back_inserter(out), " {}", p); };
  for (const auto& result : op.results) {
    out += " r" + name(result.get());
    pointer(result->type.operator->());
  }
  for (const ir::Value* value : op.operands) out += value ? " o" + name(value) : " o?";
  for (uint32_t segment : op.operandSegments) out += fmt::format(" s{}", segment);
  for (const auto& [key, value] : op.attributes) {
    out += " a" + key;
    pointer(value.raw());
  }
  pointer(op.location.raw());
  for (const ir::Successor& successor : op.successors) {
    out += " ^" + label(successor.block);
    for (const ir::Value* value : successor.operands) out += value ? " o" + name(value) : " o?";
  }
  for (const auto& region : op.regions) {
    out += " {";
    for (const auto& block : region->blocks) {
      out += fmt::format(" b{}{}", block->textBegin, label(block.get()));
      for (const auto& argument : block->arguments) {
        out += " " + name(argument.get());
        pointer(argument->type.operator->());
        pointer(argument->location.raw());
      }
    }
    out += "}";
  }
  return out;
}

bool isImplicit(const ir::Operation& op) {
  return !op.textEnd && op.name == "scf.yield" && op.operands.empty() && op.attributes.empty();
}

}  // namespace

struct Original::Impl {
  struct Seen {
    std::string digest;
    uint32_t gapBegin = 0;  // of the text between what is before it in its block and it
    uint32_t block = 0;     // textBegin of the block it was in
    uint32_t tailEnd = 0;   // of a comment behind it on its line; 0: none
  };

  std::string text;
  std::unordered_map<uint32_t, Seen> operations;       // by textBegin
  std::unordered_map<uint32_t, std::string> indents;   // of blocks, by textBegin
  std::vector<std::pair<std::string, std::string>> attributeAliases;  // what it stands for, #name; longest first
  std::unordered_map<const ir::LocationStorage*, std::string> locationAliases;
  std::unordered_set<std::string> aliasNames;
  std::unordered_set<std::string> names;               // of values, anywhere in the text
  std::unordered_set<std::string> labels;
  std::unordered_set<uint32_t> topLevel;               // operations of a file without `module`

  void see(const ir::Operation& op, uint32_t gapBegin, const ir::Block* block);
};

void Original::Impl::see(const ir::Operation& op, uint32_t gapBegin, const ir::Block* block) {
  const NameOf name = [](const ir::Value* value) { return value->spelling; };
  const auto label = [](const ir::Block* b) { return b ? b->label : std::string("?"); };
  if (op.textEnd)
    operations[op.textBegin] = {digest(op, name, label), gapBegin, block ? block->textBegin : 0};
  for (const auto& region : op.regions)
    for (const auto& inner : region->blocks) {
      if (!inner->label.empty()) labels.insert(inner->label);
      uint32_t end = inner->textBegin;
      for (const auto& nested : inner->operations) {
        if (nested->textEnd && !indents.count(inner->textBegin)) {
          const std::string_view gap = std::string_view(text).substr(end, nested->textBegin - end);
          const size_t line = gap.rfind('\n');
          if (line != std::string_view::npos && gap.find_first_not_of(" \t", line + 1) == std::string_view::npos)
            indents[inner->textBegin] = gap.substr(line + 1);
        }
        see(*nested, end, inner.get());
        if (!nested->textEnd) continue;
        end = nested->textEnd;
        size_t tail = end;
        while (tail < text.size() && (text[tail] == ' ' || text[tail] == '\t')) ++tail;
        if (nested != inner->operations.back() && text.compare(tail, 2, "//") == 0) {
          while (tail < text.size() && text[tail] != '\n') ++tail;
          operations[nested->textBegin].tailEnd = end = static_cast<uint32_t>(tail);
        }
      }
    }
}

namespace {

class Splicer : public Printer {
 public:
  Splicer(const Original::Impl& original, bool reprint) : Printer(PrintOptions{}), original_(original), reprint_(reprint) {}

  std::string run(const ir::Module& module) {
    nameValues(*module.top);
    const std::string& text = original_.text;
    if (isWrapper(*module.top)) {
      // No `module` in the text: its operations stand at the top of the file.
      // What is between them (aliases, comments) stays when one of them goes.
      const ir::Block& body = module.body();
      std::vector<std::pair<uint32_t, uint32_t>> gaps;  // begin and end of each operation's
      for (const auto& [begin, seen] : original_.operations)
        if (!seen.block && begin >= body.textBegin && isTopLevel(begin)) gaps.emplace_back(seen.gapBegin, begin);
      std::sort(gaps.begin(), gaps.end());
      size_t next = 0;
      for (const auto& op : body.operations) {
        while (op->textEnd && next < gaps.size() && gaps[next].second < op->textBegin) emitKept(gaps[next++]);
        if (op->textEnd && next < gaps.size() && gaps[next].second == op->textBegin) {
          out_ += std::string_view(text).substr(gaps[next].first, gaps[next].second - gaps[next].first);
          ++next;
        } else if (!out_.empty()) {
          out_ += '\n';
        }
        printOp(*op);
        emitTail(*op);
      }
      while (next < gaps.size()) emitKept(gaps[next++]);
      return withDefinitions(std::move(out_) + text.substr(body.textEnd));
    }
    out_ = text.substr(0, module.top->textBegin);
    std::string inner;
    std::swap(inner, out_);
    printOp(*module.top);
    return withDefinitions(inner + out_ + text.substr(module.top->textEnd));
  }

  std::string withDefinitions(std::string text) const {
    if (definitions_.empty()) return text;
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text + definitions_;
  }

 private:
  static bool isWrapper(const ir::Operation& top) { return !top.textEnd; }
  bool isTopLevel(uint32_t begin) const { return original_.topLevel.count(begin); }

  /// What stands before an operation that is gone, but for the line break and indentation that were its own.
  void emitKept(std::pair<uint32_t, uint32_t> gap) {
    std::string_view between = std::string_view(original_.text).substr(gap.first, gap.second - gap.first);
    if (between.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
    const size_t line = between.rfind('\n');
    out_ += line == std::string_view::npos ? between : between.substr(0, line);
  }

  // --- names

  /// Counts definitions of names in a function, so that a moved operation can take another.
  static void count(const ir::Operation& op, std::unordered_map<std::string, int>& definitions) {
    std::string last;
    for (const auto& result : op.results) {
      const std::string own = base(result->spelling);
      if (!own.empty() && own != last) ++definitions[own];
      last = own;
    }
    for (const auto& region : op.regions)
      for (const auto& block : region->blocks) {
        for (const auto& argument : block->arguments)
          if (!argument->spelling.empty()) ++definitions[base(argument->spelling)];
        for (const auto& nested : block->operations) count(*nested, definitions);
      }
  }

  std::string fresh(std::string_view wanted) {
    std::string name;
    for (char c : wanted) name += isSuffixChar(c) ? c : '_';
    if (!name.empty() && name[0] >= '0' && name[0] <= '9') name.insert(name.begin(), '_');
    if (name.empty()) {
      for (;;)
        if (used_.insert(name = std::to_string(nextNumber_++)).second) return name;
    }
    if (used_.insert(name).second) return name;
    for (;;)
      if (std::string numbered = fmt::format("{}_{}", name, nextSuffix_[name]++); used_.insert(numbered).second) return numbered;
  }

  void nameResultsOf(const ir::Operation& op, std::unordered_set<std::string>& visible, const std::unordered_map<std::string, int>& definitions) {
    const auto seen = op.textEnd ? original_.operations.find(op.textBegin) : original_.operations.end();
    const bool moved = seen == original_.operations.end() || !op.parent || seen->second.block != op.parent->textBegin;
    for (size_t i = 0; i < op.results.size();) {
      const ir::Value& first = *op.results[i];
      const std::string own = base(first.spelling);
      size_t end = i + 1;
      if (own.empty()) {
        while (end < op.results.size() && op.results[end]->spelling.empty() && op.results[end]->name == first.name) ++end;
      } else {
        while (end < op.results.size() && base(op.results[end]->spelling) == own) ++end;
      }
      bool keep = !own.empty() && !visible.count(own);
      if (auto found = definitions.find(own); keep && moved && found != definitions.end() && found->second > 1) keep = false;
      // A group that lost or gained a result has other numbers.
      for (size_t j = i; keep && j < end; ++j)
        keep = op.results[j]->spelling == (first.spelling.find('#') == std::string::npos && end - i == 1 ? own : fmt::format("{}#{}", own, j - i));
      const std::string name = keep ? own : fresh(!first.name.empty() ? first.name : "");
      visible.insert(name);
      for (size_t j = i; j < end; ++j) valueNames_[op.results[j].get()] = end - i == 1 ? "%" + name : fmt::format("%{}#{}", name, j - i);
      i = end;
    }
  }

  void nameIn(const ir::Operation& op, std::unordered_set<std::string> visible, const std::unordered_map<std::string, int>& outer) {
    const bool isolated = op.info && op.info->has(dialects::Trait::Isolated);
    std::unordered_map<std::string, int> own;
    if (isolated) {
      visible.clear();
      count(op, own);
    }
    const auto& definitions = isolated ? own : outer;
    for (const auto& region : op.regions) {
      std::unordered_set<std::string> inner = visible;
      for (const auto& block : region->blocks) {
        std::string label = block->label;
        if (label.empty() && block != region->blocks.front())
          do label = fmt::format("bb{}", nextLabel_++);
          while (original_.labels.count(label));
        blockNames_[block.get()] = "^" + (label.empty() ? std::string("bb0") : label);
        for (const auto& argument : block->arguments) {
          const bool keep = !argument->spelling.empty() && !inner.count(argument->spelling);
          const std::string name = keep ? argument->spelling : fresh(argument->name.empty() ? "arg" : argument->name);
          inner.insert(name);
          valueNames_[argument.get()] = "%" + name;
        }
        for (const auto& nested : block->operations) nameResultsOf(*nested, inner, definitions);
      }
      for (const auto& block : region->blocks)
        for (const auto& nested : block->operations)
          if (!nested->regions.empty()) nameIn(*nested, inner, definitions);
    }
  }

  void nameValues(const ir::Operation& top) {
    used_ = original_.names;
    nameIn(top, {}, {});
  }

  // --- text

  bool isClean(const ir::Operation& op) const {
    if (reprint_ || !op.textEnd) return false;
    auto seen = original_.operations.find(op.textBegin);
    if (seen == original_.operations.end()) return false;
    // A block that the text leaves out cannot get operations there.
    for (const auto& region : op.regions)
      for (const auto& block : region->blocks)
        if (!block->textEnd && std::any_of(block->operations.begin(), block->operations.end(), [](const auto& nested) { return !isImplicit(*nested); }))
          return false;
    const NameOf name = [&](const ir::Value* value) {
      const std::string text = valueText(value);
      return text.starts_with('%') ? text.substr(1) : text;
    };
    const auto label = [&](const ir::Block* block) { return block ? block->label : std::string("?"); };
    return seen->second.digest == digest(op, name, label);
  }

  void emitTail(const ir::Operation& op) {
    auto seen = op.textEnd ? original_.operations.find(op.textBegin) : original_.operations.end();
    if (seen != original_.operations.end() && seen->second.tailEnd)
      out_ += std::string_view(original_.text).substr(op.textEnd, seen->second.tailEnd - op.textEnd);
  }

  void emitBlock(const ir::Block& block, const std::string& parentIndent) {
    auto known = original_.indents.find(block.textBegin);
    const std::string indent = known != original_.indents.end() ? known->second : parentIndent + "  ";
    for (const auto& op : block.operations) {
      if (isImplicit(*op)) continue;
      auto seen = op->textEnd ? original_.operations.find(op->textBegin) : original_.operations.end();
      if (seen != original_.operations.end() && seen->second.block == block.textBegin) {
        out_ += std::string_view(original_.text).substr(seen->second.gapBegin, op->textBegin - seen->second.gapBegin);
      } else {
        if (!out_.empty() || block.textBegin) out_ += '\n';
        out_ += indent;
      }
      const std::string savedIndent = indent_text_;
      const uint32_t savedDepth = indent_;
      indent_text_ = indent;
      indent_ = static_cast<uint32_t>(indent.size() / 2);
      printOp(*op);
      emitTail(*op);
      indent_text_ = savedIndent;
      indent_ = savedDepth;
    }
  }

  /// Appends the operation's text; inside of an operation that is written anew, a mark for it.
  void printOp(const ir::Operation& op) override {
    std::string before = std::move(out_);
    out_.clear();
    std::string text;
    if (isClean(op)) {
      const bool nestedSaved = anew_;
      anew_ = false;
      uint32_t at = op.textBegin;
      for (const auto& region : op.regions)
        for (const auto& block : region->blocks) {
          if (!block->textEnd) continue;
          out_ += std::string_view(original_.text).substr(at, block->textBegin - at);
          emitBlock(*block, indent_text_);
          at = block->textEnd;
        }
      out_ += std::string_view(original_.text).substr(at, op.textEnd - at);
      anew_ = nestedSaved;
      text = reindented(op, std::move(out_));
    } else {
      const bool nestedSaved = anew_;
      anew_ = true;
      Printer::printOp(op);
      anew_ = nestedSaved;
      text = withPieces(aliased(out_));
    }
    out_ = std::move(before);
    if (!anew_) {
      out_ += text;
      return;
    }
    out_ += fmt::format("\x01{}\x01", pieces_.size());
    pieces_.push_back(std::move(text));
  }

  /// Text of several lines that moved to another depth.
  std::string reindented(const ir::Operation& op, std::string text) const {
    if (text.find('\n') == std::string::npos) return text;
    auto seen = original_.operations.find(op.textBegin);
    auto known = original_.indents.find(seen->second.block);
    if (known == original_.indents.end() || known->second.size() == indent_text_.size() || (op.parent && seen->second.block == op.parent->textBegin)) return text;
    const size_t was = known->second.size(), now = anew_ ? 2 * indent_ : indent_text_.size();
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      out += text[i];
      if (text[i] != '\n') continue;
      size_t spaces = i + 1;
      while (spaces < text.size() && text[spaces] == ' ') ++spaces;
      const size_t had = spaces - i - 1;
      out.append(had + now > was ? had + now - was : 0, ' ');
      i = spaces - 1;
    }
    return out;
  }

  std::string withPieces(const std::string& text) const {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\x01') {
        out += text[i];
        continue;
      }
      size_t end = text.find('\x01', i + 1), number = 0;
      if (end == std::string::npos) return out + text.substr(i);
      for (size_t j = i + 1; j < end; ++j) number = number * 10 + static_cast<size_t>(text[j] - '0');
      if (number < pieces_.size()) out += pieces_[number];
      i = end;
    }
    return out;
  }

  /// Attributes that have an alias in the text are written by it.
  std::string aliased(const std::string& text) const {
    if (original_.attributeAliases.empty()) return text;
    std::string out;
    for (size_t i = 0; i < text.size();) {
      if (text[i] == '"') {
        size_t end = i + 1;
        while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
        end = std::min(end + 1, text.size());
        out.append(text, i, end - i);
        i = end;
        continue;
      }
      bool found = false;
      if (text[i] == '#')
        for (const auto& [meaning, name] : original_.attributeAliases)
          if (text.compare(i, meaning.size(), meaning) == 0 && (i + meaning.size() >= text.size() || (!isIdChar(text[i + meaning.size()]) && text[i + meaning.size()] != '<'))) {
            out += name;
            i += meaning.size();
            found = true;
            break;
          }
      if (!found) out += text[i++];
    }
    return out;
  }

  /// Of arguments: written out, since aliases may be defined further down.
  void printLocation(ir::Location location) override {
    if (location) put(" " + location.str());
  }

  void printOperationLocation(const ir::Operation& op) override {
    if (op.location) put(" loc(#" + aliasOf(op.location) + ")");
  }

  /// The alias in the text, or a new one that is defined at its end.
  std::string aliasOf(ir::Location location) {
    if (auto alias = original_.locationAliases.find(location.raw()); alias != original_.locationAliases.end()) return alias->second;
    if (auto alias = newAliases_.find(location.raw()); alias != newAliases_.end()) return alias->second;
    const std::string meaning = body(location);  // aliases of its parts first
    std::string name;
    do name = fmt::format("loc{}", nextAlias_++);
    while (original_.aliasNames.count(name));
    newAliases_.emplace(location.raw(), name);
    definitions_ += fmt::format("#{} = loc({})\n", name, meaning);
    return name;
  }

  std::string body(ir::Location location) {
    const auto part = [&](ir::Location inner) { return inner ? "#" + aliasOf(inner) : std::string("unknown"); };
    switch (location.kind()) {
      case ir::LocationKind::Name:
        if (location->child.kind() == ir::LocationKind::Unknown) return ir::quoted(location->text);
        return ir::quoted(location->text) + "(" + part(location->child) + ")";
      case ir::LocationKind::CallSite: return "callsite(" + part(location->child) + " at " + part(location->caller) + ")";
      case ir::LocationKind::Fused: {
        std::string text = "fused";
        if (!location->text.empty()) text += "<" + location->text + ">";
        text += "[";
        for (size_t i = 0; i < location->fused.size(); ++i) text += (i ? ", " : "") + part(location->fused[i]);
        return text + "]";
      }
      default: {
        const std::string text = location.str();  // loc(...)
        return text.substr(4, text.size() - 5);
      }
    }
  }

  const Original::Impl& original_;
  const bool reprint_;
  bool anew_ = false;  // inside of an operation that is written anew
  std::string indent_text_;
  std::vector<std::string> pieces_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, uint32_t> nextSuffix_;
  uint32_t nextNumber_ = 0, nextLabel_ = 1, nextAlias_ = 0;
  std::unordered_map<const ir::LocationStorage*, std::string> newAliases_;
  std::string definitions_;  // of them
};

}  // namespace

Original::Original(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Original::~Original() = default;
Original::Original(Original&&) noexcept = default;
Original& Original::operator=(Original&&) noexcept = default;

std::string_view Original::text() const { return impl_->text; }

std::string Original::splice(const ir::Module& module, bool reprint) const { return Splicer(*impl_, reprint).run(module); }

Result<std::pair<ir::Module, Original>> parseToEdit(std::string text, std::string fileName, ir::Context& context) {
  if (text.size() > (1u << 30)) return tl::unexpected<Diagnostic>(Diagnostic{std::move(fileName), 0, 0, "MLIR text over 1 GiB", {}});
  auto impl = std::make_unique<Original::Impl>();
  impl->text = std::move(text);
  Parser parser(impl->text, std::move(fileName), context);
  Result<ir::Module> module = parser.parseModule();
  if (!module) return tl::unexpected<Diagnostic>(module.error());
  for (const auto& [name, attribute] : parser.attributeAliases()) impl->attributeAliases.emplace_back(attribute.str(), "#" + name);
  std::sort(impl->attributeAliases.begin(), impl->attributeAliases.end(), [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a < b;
  });
  for (const auto& [name, attribute] : parser.attributeAliases()) impl->aliasNames.insert(name);
  for (const auto& [name, location] : parser.locationAliases()) {
    impl->aliasNames.insert(name);
    auto [entry, added] = impl->locationAliases.emplace(location.raw(), name);
    // Several aliases may stand for one place: always the same one, the first.
    if (!added && (name.size() < entry->second.size() || (name.size() == entry->second.size() && name < entry->second))) entry->second = name;
  }
  for (size_t i = 0; i < impl->text.size(); ++i) {
    if (impl->text[i] != '%') continue;
    size_t end = i + 1;
    while (end < impl->text.size() && isSuffixChar(impl->text[end])) ++end;
    if (end > i + 1) impl->names.insert(impl->text.substr(i + 1, end - i - 1));
    i = end - 1;
  }
  if (!module->top->textEnd) module->body().textEnd = module->body().operations.empty() ? 0 : module->body().operations.back()->textEnd;
  if (!module->top->textEnd)
    for (const auto& op : module->body().operations) impl->topLevel.insert(op->textBegin);
  impl->see(*module->top, 0, nullptr);
  return std::pair<ir::Module, Original>(std::move(*module), Original(std::move(impl)));
}

}  // namespace tilesight::text
