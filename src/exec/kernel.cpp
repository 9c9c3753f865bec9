#include "exec/kernel.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "frontends/added.h"
#include "frontends/triton/lower.h"
#include "ir/verifier.h"
#include "text/text.h"

namespace tilesight::exec {

ir::ElementKind machineKind(ir::Type type) {
  if (!type) return ir::ElementKind::Invalid;
  if (type.kind() == ir::TypeKind::Index) return ir::ElementKind::I64;
  if (type.isPointer()) return ir::ElementKind::Pointer;
  if (type.isTensor()) return machineKind(type.elementType());
  if (type.kind() == ir::TypeKind::Integer || type.kind() == ir::TypeKind::Float) return type.elementKind();
  return ir::ElementKind::Invalid;
}

ir::ElementKind pointeeKind(ir::Type type) {
  if (!type) return ir::ElementKind::Invalid;
  if (type.kind() == ir::TypeKind::View) return machineKind(type->inner);
  const ir::Type pointer = type.elementType();
  return pointer.isPointer() ? machineKind(pointer->inner) : ir::ElementKind::Invalid;
}

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 24;  // Triton's own limit is 2^20

bool tileFits(ir::Type type) {
  int64_t count = 1;
  for (int64_t d : type.shape()) {
    if (d <= 0 || d > kMaxElements) return false;
    count *= d;
    if (count > kMaxElements) return false;
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const Kernel>> Kernel::compile(const std::string& text, const std::string& name) {
  auto kernel = std::make_shared<Kernel>();
  kernel->context_ = std::make_unique<ir::Context>();
  auto parsed = text::parse(text, name, *kernel->context_);
  if (!parsed) return failure(std::move(parsed).error());
  kernel->source_ = std::move(*parsed);
  TS_CHECK(ir::verify(kernel->source_));
  ir::walk(*kernel->source_.top, [&](ir::Operation& op) {
    op.number = static_cast<uint32_t>(kernel->operations_.size());
    kernel->operations_.push_back(&op);
    return true;
  });
  const std::optional<ir::Module> known = frontends::lowerAdded(kernel->source_);
  auto lowered = frontends::triton::lower(known ? *known : kernel->source_, *kernel->context_);
  if (!lowered) return failure(std::move(lowered).error());
  kernel->common_ = std::move(*lowered);
  if (!kernel->common_.entry())
    return failure(Diagnostic{name, 0, 0, "the module has no single public function",
                              "a kernel is one `tt.func public`"});
  if (const ir::Operation& entry = *kernel->common_.entry(); entry.regions.empty() || entry.regions[0]->empty())
    return failure(Diagnostic{name, entry.sourceLine, entry.sourceColumn, "the kernel is declared, but has no body", {}});
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

std::string Kernel::name() const {
  const ir::Operation* entry = common_.entry();
  return entry ? std::string(entry->string("sym_name")) : std::string();
}

const plan::Effects& Kernel::effects() const {
  std::lock_guard lock(mutex_);
  if (!effects_) effects_ = std::make_unique<plan::Effects>(plan::effects(common_));
  return *effects_;
}

Result<const CompiledPlan*> Kernel::plan(const plan::PlanOptions& options) const {
  std::lock_guard lock(mutex_);
  auto& slot = plans_[options.everything ? kEverything : options.outputs + 2 * options.values + 4 * options.computes];
  if (!slot) {
    auto program = plan::plan(common_, options);
    if (!program) return failure(std::move(program).error());
    auto compiled = std::make_unique<CompiledPlan>();
    compiled->program = std::move(*program);
    for (const plan::Slot& s : compiled->program.slots) {
      if (s.type.isTensor() && !tileFits(s.type))
        return failure(Diagnostic{source_.fileName, 0, 0, "a tile of type " + s.type.str() + " is too large to execute",
                                  "tiles have at most 16,777,216 elements"});
      compiled->slotShapes.push_back(shapes_.intern(s.type.isTensor() ? s.type.shape() : std::vector<int64_t>{}));
      compiled->slotKinds.push_back(machineKind(s.type));
    }
    compiled->extents.resize(compiled->program.code.size());
    for (size_t at = 0; at < compiled->extents.size(); ++at)
      if (const plan::Instr& instr = compiled->program.code[at]; plan::hasExtents(instr.op)) compiled->extents[at] = plan::extentsOf(*instr.source);
    slot = std::move(compiled);
  }
  return slot.get();
}

Result<std::shared_ptr<const Kernel>> compile(const std::string& irText, const std::string& name) {
  return Kernel::compile(irText, name);
}

KernelInfo info(const Kernel& kernel) {
  KernelInfo info;
  info.name = kernel.name();
  if (const ir::Operation* entry = kernel.source().entry(); entry && !entry->regions[0]->empty())
    for (auto& argument : entry->regions[0]->blocks[0]->arguments)
      info.parameters.push_back({argument->name, argument->type.str()});
  std::map<std::string, uint32_t> counts;
  ir::walk(*kernel.source().top, [&](ir::Operation& op) {
    if (op.name != "builtin.module") ++counts[op.name];
    return true;
  });
  info.opCounts.assign(counts.begin(), counts.end());
  std::stable_sort(info.opCounts.begin(), info.opCounts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  ir::walk(*kernel.common().top, [&](ir::Operation& op) {
    if (op.name == "builtin.module") return true;
    std::string reason = plan::cannotExecute(op);
    if (reason.empty()) return true;
    findings::Unknown unknown;
    unknown.kernel = info.name;
    unknown.reason = reason;
    if (const ir::LocationStorage* file = op.location.file()) {
      unknown.location.file = file->text;
      unknown.location.line = file->line;
      unknown.location.column = file->column;
    }
    info.notExecutable.push_back(std::move(unknown));
    return true;
  });
  return info;
}

}  // namespace tilesight::exec
