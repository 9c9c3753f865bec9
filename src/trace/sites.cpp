#include "trace/sites.h"

#include <algorithm>

#include "trace/names.h"

namespace tilesight::trace {

namespace {

using plan::Instr;
using plan::Opcode;

// What only moves values and the program counter is no step of the user's program.
bool isStep(Opcode op) {
  switch (op) {
    case Opcode::Move:
    case Opcode::Jump:
    case Opcode::BranchIfNot:
    case Opcode::LoopBegin:
    case Opcode::LoopNext:
    case Opcode::WhileBegin:
    case Opcode::WhileNext:
    case Opcode::WhileEnd:
    case Opcode::Return:
    case Opcode::Hint: return false;
    default: return true;
  }
}

Named named(const ir::Value& value, const ir::Operation& holder, const std::string& text) {
  const SourceLine place = placeOf(value, holder, text);
  return {variableName(value), ssaName(value), value.type.str(), place.file, place.line, place.column, isPartOfVariable(value)};
}

}  // namespace

SiteTable sitesOf(const exec::Kernel& kernel, const exec::CompiledPlan& compiled) {
  const plan::Program& program = compiled.program;
  const std::string& text = kernel.source().fileName;
  SiteTable table;
  table.ofInstr.assign(program.code.size(), -1);
  size_t end = program.code.size();
  for (const plan::RegionCode& region : program.regions) end = std::min<size_t>(end, region.begin);
  for (size_t at = 0; at < end; ++at) {
    const Instr& instr = program.code[at];
    if (!isStep(instr.op)) continue;
    Site site;
    site.op = instr.source->number;
    const ir::Operation* source = kernel.operation(site.op);
    site.operation = source ? source->name : instr.source->name;
    if (instr.instance) {
      if (instr.instance->function) site.function = instr.instance->function->string("sym_name");
      for (const plan::Instance* i = instr.instance; i && i->call; i = i->parent) site.calls.push_back(i->call->number);
    }
    const SourceLine place = placeOf(*instr.source, text);
    site.file = place.file;
    site.line = place.line;
    site.column = place.column;
    if (instr.op == Opcode::Mark) {
      const auto& values = program.marks[static_cast<size_t>(instr.immediate)];
      site.what = values.front()->owner ? Site::What::Results : Site::What::Arguments;
      for (const ir::Value* value : values) site.values.push_back(named(*value, *instr.source, text));
    } else {
      for (unsigned i = 0; i < instr.outCount && i < instr.source->results.size(); ++i)
        site.values.push_back(named(*instr.source->results[i], *instr.source, text));
      for (unsigned i = 0; i < instr.inCount && i < instr.source->operands.size(); ++i)
        site.operands.push_back(named(*instr.source->operands[i], *instr.source, text));
    }
    table.ofInstr[at] = static_cast<int32_t>(table.sites.size());
    table.sites.push_back(std::move(site));
  }
  return table;
}

}  // namespace tilesight::trace
