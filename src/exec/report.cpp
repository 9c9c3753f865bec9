#include "exec/report.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/explain_place.h"

namespace tilesight::exec {

namespace {

// Files of the DSL itself: frames in them are shown as calls, never as the place of a finding.
bool isLibraryFile(std::string_view path) {
  return path.find("/triton/language/") != std::string_view::npos ||
         path.find("/triton/experimental/") != std::string_view::npos;
}

// "k.helper__i32__(1,)cconstexpr_3_" is the helper of module k.
std::string functionName(const ir::Operation* function) {
  if (!function) return {};
  std::string name(function->string("sym_name"));
  size_t end = name.find("__");
  if (end != std::string::npos && end > 0 && name.find('.') != std::string::npos) name.resize(end);
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

// Frames of one location, innermost first.
void flatten(ir::Location location, const std::string& function, std::vector<findings::Frame>& out) {
  switch (location.kind()) {
    case ir::LocationKind::File:
      out.push_back({location->text, location->line, location->column, function});
      break;
    case ir::LocationKind::Name: flatten(location->child, function, out); break;
    case ir::LocationKind::CallSite:
      flatten(location->child, "", out);
      flatten(location->caller, function, out);
      break;
    case ir::LocationKind::Fused:
      if (!location->fused.empty()) flatten(location->fused.front(), function, out);
      break;
    default: break;
  }
}

}  // namespace

Tile parameterTile(const LaunchContext& context, size_t parameter) {
  const plan::Program& program = context.plan->program;
  uint32_t slot = program.parameters[parameter];
  const Shape* scalar = context.kernel->shapes().scalar();
  int32_t index = context.argumentOfParameter[parameter];
  const launch::Argument& argument = context.launch->arguments[index];
  ir::Type type = program.slots[slot].type;
  const ViewInfo* view = context.memory->view(index);
  if (type.kind() == ir::TypeKind::View) {
    auto value = std::make_shared<ViewValue>();
    value->address = view->address;
    value->origin = index;
    value->rank = static_cast<int>(type->shape.size());
    value->shape = argument.view.shape;
    value->stride = argument.view.strides;
    value->offset.assign(value->rank, 0);
    value->block = type->shape;
    value->element = machineKind(type->inner);
    value->padNan = argument.paddingNan;
    Tile tile;
    tile.form = Form::View;
    tile.shape = scalar;
    tile.origin = index;
    tile.view = std::move(value);
    return tile;
  }
  if (type.isPointer()) {
    Tile tile = splatTile(ElementKind::Pointer, view ? view->address : 0, scalar);
    tile.origin = view ? index : kOriginUnknown;
    return tile;
  }
  ElementKind kind = context.plan->slotKinds[slot];
  if (argument.kind == launch::Argument::Kind::Descriptor) {
    // Shape and stride parameters that follow a descriptor.
    size_t first = parameter;
    while (first > 0 && context.argumentOfParameter[first - 1] == index) --first;
    size_t offset = parameter - first - 1, rank = argument.view.shape.size();
    int64_t value = offset < rank       ? argument.view.shape[offset]
                    : offset < 2 * rank ? argument.view.strides[offset - rank]
                                        : static_cast<int64_t>(argument.paddingNan);
    return splatTile(kind, value, scalar);
  }
  return splatTile(kind, static_cast<int64_t>(argument.bits), scalar);
}

namespace {

// Triton up to 3.7 gives 0-based columns, of the last argument of a call: go to where the call starts.
bool zeroBasedColumns(const std::string& version) { return version.starts_with("3.6") || version.starts_with("3.7"); }

uint32_t callColumn(const std::string& line, uint32_t column, const std::string& operation) {
  size_t at = line.rfind(operation + "(", column);
  if (at == std::string::npos) return column;
  while (at > 0 && (std::isalnum(static_cast<unsigned char>(line[at - 1])) || line[at - 1] == '_' || line[at - 1] == '.')) --at;
  return static_cast<uint32_t>(at) + 1;
}

}  // namespace

Place placeOf(const LaunchContext& context, const Instr& instr) {
  std::vector<findings::Frame> frames;
  const plan::Instance* instance = instr.instance;
  flatten(instr.source->location, functionName(instance ? instance->function : nullptr), frames);
  while (instance && instance->call) {
    const plan::Instance* parent = instance->parent;
    flatten(instance->call->location, functionName(parent->function), frames);
    instance = parent;
  }
  Place place;
  size_t at = 0;
  while (at + 1 < frames.size() && isLibraryFile(frames[at].file)) ++at;
  if (at < frames.size()) {
    place.frame = frames[at];
    place.stack.assign(frames.begin() + static_cast<int64_t>(at) + 1, frames.end());
    place.sourceLine = sourceLine(*context.launch, place.frame.file, place.frame.line);
    if (zeroBasedColumns(context.launch->tritonVersion)) {
      ++place.frame.column;
      for (findings::Frame& frame : place.stack) ++frame.column;
      place.frame.column = callColumn(place.sourceLine, place.frame.column, operationName(instr));
    }
  }
  return place;
}

std::vector<int64_t> elementIndex(const Shape& shape, int64_t linear) {
  std::vector<int64_t> index(shape.dims.size());
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = linear % shape.dims[d];
    linear /= shape.dims[d];
  }
  return index;
}

double floatAt(const Tile& tile, int64_t index) {
  int64_t bits = elementBits(tile, index);
  if (tile.kind == ElementKind::F64) return std::bit_cast<double>(bits);
  double value = 0;
  if (UnaryFn widen = kernels().cast(CastOp::FPExt, tile.kind, ElementKind::F64)) widen(&value, &bits, 1);
  return value;
}

std::string elementText(const Tile& tile, int64_t index) {
  int64_t bits = elementBits(tile, index);
  if (!ir::isFloatKind(tile.kind)) return std::to_string(bits);
  return fmt::format("{:f}", floatAt(tile, index));
}

std::string operationName(const Instr& instr) {
  switch (instr.op) {
    case Opcode::Load:
    case Opcode::ViewLoad:
    case Opcode::ViewGather: return "load";
    case Opcode::Store:
    case Opcode::ViewStore:
    case Opcode::ViewScatter: return "store";
    case Opcode::AtomicCas: return "atomic_cas";
    case Opcode::AtomicRmw: {
      static constexpr const char* kNames[] = {"", "and", "or", "xor", "add", "add", "max", "min", "max", "min", "xchg", "inc", "dec"};
      return fmt::format("atomic_{}", instr.sub < std::size(kNames) ? kNames[instr.sub] : "rmw");
    }
    case Opcode::Assert: return "assert";
    case Opcode::Assume: return "assume";
    case Opcode::Hint: return "hint";
    case Opcode::View: return instr.flag & 1 ? "make_block_ptr" : "make_tensor_descriptor";
    case Opcode::BranchIfNot: return "branch";
    case Opcode::LoopBegin: return "loop";
    default: return instr.source->name.substr(instr.source->name.find('.') + 1);
  }
}

std::string argumentName(const LaunchContext& context, int32_t argument) {
  if (argument >= 0 && argument < static_cast<int32_t>(context.launch->arguments.size()))
    return context.launch->arguments[argument].name;
  return {};
}

findings::Unknown unknownAt(Machine& machine, const Instr& instr, const std::string& reason) {
  Place place = placeOf(machine.context(), instr);
  findings::Unknown unknown;
  unknown.kernel = machine.context().launch->kernel;
  unknown.reason = reason;
  unknown.location = place.frame;
  unknown.sourceLine = place.sourceLine;
  return unknown;
}

findings::Finding findingAt(Machine& machine, const Instr& instr, const std::string& kind,
                            findings::Severity severity, std::string message) {
  const LaunchContext& context = machine.context();
  Place place = placeOf(context, instr);
  findings::Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.message = std::move(message);
  finding.kernel = context.launch->kernel;
  finding.grid = context.launch->grid;
  finding.config = context.launch->config;
  finding.test = context.launch->test;
  finding.location = place.frame;
  finding.stack = place.stack;
  finding.sourceLine = place.sourceLine;
  finding.operation = operationName(instr);
  finding.program = {machine.program().id[0], machine.program().id[1], machine.program().id[2]};
  finding.iterations = machine.iterations();
  return finding;
}

findings::Operand operandOf(const LaunchContext& context, const ViewInfo& view, int64_t address) {
  const StorageInfo& storage = context.memory->storages()[view.storage];
  findings::Operand operand;
  operand.argument = view.name;
  operand.byteOffset = address - view.address;
  operand.shape = view.shape;
  operand.strides = view.strides;
  operand.dtype = view.dtype;
  operand.viewBytes = view.high - view.low;
  operand.allocationBytes = storage.bytes;
  operand.allocationKnown = storage.known;
  return operand;
}

void reportAccess(const AccessCore& core, const char* client, const char* kind, int severity, int64_t element,
                  int64_t count, const char* message) {
  Machine& machine = *core.machine;
  const Instr& instr = *core.instr;
  const Resolved& access = *core.resolved;
  const LaunchContext& context = machine.context();
  const int32_t argument = originAt(access.address, element);
  FindingKey key{kind, &instr, argument};
  int64_t address = elementBits(access.address, element);
  const ViewInfo* view = context.memory->view(argument);
  findings::Finding* found = machine.collector().find(key);
  if (!found) {
    findings::Finding finding =
        findingAt(machine, instr, kind, static_cast<findings::Severity>(severity), message ? message : "");
    finding.client = client;
    finding.accessKind = instr.op == Opcode::AtomicRmw || instr.op == Opcode::AtomicCas ? "atomic"
                         : finding.operation == "store"                                 ? "write"
                                                                                        : "read";
    finding.accessBytes = access.elementBytes;
    finding.element = elementIndex(*access.address.shape, element);
    if (view) {
      findings::Operand operand = operandOf(context, *view, address);
      const StorageInfo& storage = context.memory->storages()[view->storage];
      // The tile axis along which the accesses leave the view: the one with the largest step.
      int64_t step = 0;
      const Tile& pointer = machine.in(instr, 0);
      const Shape& shape = *access.address.shape;
      for (int d = 0; d < shape.rank() && shape.symbolic(); ++d) {
        if (shape.dims[d] < 2) continue;
        int64_t stride = 1;
        for (int e = d + 1; e < shape.rank(); ++e) stride *= shape.dims[e];
        int64_t along = elementBits(access.address, stride) - elementBits(access.address, 0);
        if (pointer.form != Form::View && pointer.form == Form::Affine) along = pointer.stride[d];
        if (std::abs(along) > std::abs(step)) step = along;
      }
      std::optional<PlaceInView> place = placeInView(Explainer(machine), instr, access, element, *view);
      operand.index = place ? place->index : LaunchMemory::indexOf(*view, address, step);
      int64_t end = address + access.elementBytes;
      int64_t high = storage.base + storage.bytes;
      operand.bytesPast = end > high ? end - high : address < storage.base ? address - storage.base : 0;
      finding.operand = std::move(operand);
    }
    if (finding.kind == "out-of-view" && finding.operand) {
      const findings::Operand& o = *finding.operand;
      bool named = true;
      for (size_t d = 0; d < o.index.size(); ++d) named = named && o.index[d] >= 0 && o.index[d] < o.shape[d];
      if (named) finding.notes.push_back("the address lies in a gap of the view, behind the element named");
    }
    explain(machine, instr, access, element, finding);
    if (finding.kind == "foreign-pointer" && finding.remedy.empty())
      finding.remedy = "of tensors whose addresses are stored in others, take them with data_ptr() "
                       "(numpy: ts.data_ptr(array)), and keep the tensors alive until the launch";
    if (!instr.used && instr.op == Opcode::Load)
      finding.notes.push_back("result unused: the compiler removes this load");
    found = &machine.collector().add(key, std::move(finding));
    if (!instr.used && instr.op == Opcode::Load && found->severity == findings::Severity::Error)
      found->severity = findings::Severity::Warning;
  }
  machine.collector().count(key, count, machine.program().linear);
  if (view) {
    const StorageInfo& storage = context.memory->storages()[view->storage];
    bool before = found->operand && found->operand->bytesPast < 0;
    int64_t farthest = 0, other = 0;
    std::vector<uint8_t> bits(access.address.numel());
    context.memory->faultBits(machine.pool(), access, bits.data());
    for (int64_t i = 0; i < access.address.numel(); ++i) {
      if (!bits[i] || originAt(access.address, i) != argument) continue;
      int64_t at = elementBits(access.address, i);
      int64_t past = before ? storage.base - at : at + access.elementBytes - (storage.base + storage.bytes);
      farthest = std::max(farthest, past);
      other = std::max(other, before ? at + access.elementBytes - (storage.base + storage.bytes) : storage.base - at);
    }
    found->maxBytesPast = std::max(found->maxBytesPast, farthest);
    found->otherSideBytes = std::max(found->otherSideBytes, other);
  }
}

}  // namespace tilesight::exec
