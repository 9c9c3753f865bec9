#include "tools/equivalence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "clients/registry.h"
#include "exec/run.h"
#include "ir/context.h"
#include "text/text.h"

namespace tilesight::tools {

namespace {

constexpr int64_t kElements = 1 << 18, kMiddle = kElements / 2;  // of each pointer's memory
constexpr uint64_t kMostIterations = 200'000;                    // of loops in a program
constexpr double kSeconds = 10;                                  // a run

struct Random {
  std::mt19937_64 engine;
  uint64_t bits() { return engine(); }
  int64_t between(int64_t low, int64_t high) { return static_cast<int64_t>(static_cast<uint64_t>(low) + engine() % (static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1)); }
};

/// A parameter of the kernel: what an argument for it must be.
struct Parameter {
  std::string name;
  bool isPointer = false;
  ir::ElementKind element = ir::ElementKind::Invalid;
  std::string dtype;
  uint32_t width = 0;       // of an integer
  int64_t divisibility = 1;
};

const char* dtypeOf(ir::ElementKind kind) {
  switch (kind) {
    case ir::ElementKind::I1: return "bool";
    case ir::ElementKind::I8: return "int8";
    case ir::ElementKind::I16: return "int16";
    case ir::ElementKind::I32: return "int32";
    case ir::ElementKind::I64: return "int64";
    case ir::ElementKind::F16: return "float16";
    case ir::ElementKind::BF16: return "bfloat16";
    case ir::ElementKind::F32: return "float32";
    case ir::ElementKind::F64: return "float64";
    case ir::ElementKind::F8E4M3FN: return "float8_e4m3fn";
    case ir::ElementKind::F8E5M2: return "float8_e5m2";
    default: return nullptr;
  }
}

/// The parameters of the kernel. Error: one that no argument is made for.
Result<std::vector<Parameter>> parametersOf(const std::string& text, const std::string& name) {
  ir::Context context;
  const auto module = text::parse(text, name, context);
  if (!module) return failure(module.error());
  const ir::Operation* entry = module->entry();
  if (!entry || entry->regions.empty() || entry->regions[0]->empty()) return failure("there is no single kernel");
  const ir::Attribute attributes = entry->attribute("arg_attrs");
  std::vector<Parameter> parameters;
  for (const auto& argument : entry->regions[0]->blocks[0]->arguments) {
    Parameter p;
    p.name = argument->name.empty() ? argument->spelling : argument->name;
    ir::Type type = argument->type;
    p.isPointer = type.isPointer();
    if (p.isPointer) type = type->inner;
    p.element = type && (type.kind() == ir::TypeKind::Integer || type.kind() == ir::TypeKind::Float) ? type.elementKind() : ir::ElementKind::Invalid;
    const char* dtype = dtypeOf(p.element);
    if (!dtype) return failure(fmt::format("no argument is made for %{} of type {}", p.name, argument->type.str()));
    p.dtype = dtype;
    p.width = type.kind() == ir::TypeKind::Integer ? type->width : 0;
    if (attributes && argument->index < attributes->elements.size() && attributes->elements[argument->index].kind() == ir::AttributeKind::Dictionary)
      for (const auto& [key, value] : attributes->elements[argument->index]->entries)
        if (key == "tt.divisibility") p.divisibility = std::max<int64_t>(1, value.asInteger().value_or(1));
    parameters.push_back(std::move(p));
  }
  return parameters;
}

/// Bits of a value that makes sense in arithmetic: small integers, or floats of all sizes near 1, some of them special.
uint64_t valueOf(ir::ElementKind kind, Random& random, bool small) {
  const uint64_t r = random.bits();
  const auto sign = [&](int bit) { return (r >> 60 & 1) << bit; };
  // Exponents around that of 1, all bits behind them.
  switch (kind) {
    case ir::ElementKind::I1: return r & 1;
    case ir::ElementKind::F16: return sign(15) | (12 + (r >> 40) % 6) << 10 | (r & 0x3FF);
    case ir::ElementKind::BF16: return sign(15) | (124 + (r >> 40) % 6) << 7 | (r & 0x7F);
    case ir::ElementKind::F32: return sign(31) | (124 + (r >> 40) % 6) << 23 | (r & 0x7FFFFF);
    case ir::ElementKind::F64: return sign(63) | (1020 + (r >> 54) % 6) << 52 | (r & 0xFFFFFFFFFFFFF);
    case ir::ElementKind::F8E4M3FN: return sign(7) | (5 + (r >> 40) % 4) << 3 | (r & 7);
    case ir::ElementKind::F8E5M2: return sign(7) | (13 + (r >> 40) % 4) << 2 | (r & 3);
    default: return small ? r % 16 : r;
  }
}

int64_t integerFor(const Parameter& p, const passes::Assumptions& promised, Random& random) {
  constexpr int64_t usual[] = {0, 1, 2, 7, 16, 33, 64, 100, 128, 256, 1000, -1, -16};
  passes::IntegerRange range = passes::IntegerRange::all(p.width);
  if (const auto found = promised.arguments.find(p.name); found != promised.arguments.end()) {
    const passes::IntegerRange& said = found->second;
    if (said.isExact()) return said.low;
    range.low = std::max(range.low, said.low), range.high = std::min(range.high, said.high);
    range.modulus = said.modulus, range.residue = said.residue;
  }
  const int64_t modulus = range.modulus > 1 && range.modulus < (1 << 20) ? static_cast<int64_t>(range.modulus) : p.divisibility;
  const int64_t residue = range.modulus > 1 ? range.residue : 0;
  int64_t value = random.bits() % 2 ? usual[random.bits() % std::size(usual)] : random.between(0, 300);
  if (value < range.low || value > range.high) {
    const bool fromLow = range.low > -(1 << 20);
    value = fromLow ? random.between(range.low, range.low + std::min<int64_t>(5000, range.high - range.low)) : random.between(range.high - 5000, range.high);
  }
  // To the congruence that is promised, inside of the bounds.
  value = value - ((value - residue) % modulus + modulus) % modulus;
  if (value < range.low && value <= range.high - modulus) value += modulus;
  return value;
}

/// One launch: what it is given, and its memory.
struct Inputs {
  launch::Launch launch;
  std::vector<std::vector<uint8_t>> memory;
  std::string words;  // "grid 2x1x1, n = 17"
};

Inputs randomInputs(const std::vector<Parameter>& parameters, const passes::Assumptions& promised, int run) {
  Random random{std::mt19937_64(static_cast<uint64_t>(run) * 7919 + 1)};
  Inputs inputs;
  inputs.launch.index = 0;
  for (size_t axis = 0; axis < 3; ++axis) inputs.launch.grid[axis] = promised.grid[axis].value_or(random.between(1, axis == 0 ? 4 : 2));
  inputs.words = fmt::format("grid {}", fmt::join(inputs.launch.grid, "x"));
  const bool small = run % 2 == 0;  // every other time integers may be indices
  for (const Parameter& p : parameters) {
    launch::Argument argument;
    argument.name = p.name;
    if (p.isPointer) {
      const uint32_t bytes = ir::elementBytes(p.element);
      std::vector<uint8_t> data(static_cast<size_t>(kElements) * bytes);
      for (size_t at = 0; at < data.size(); at += bytes) {
        const uint64_t value = valueOf(p.element, random, small);
        std::memcpy(data.data() + at, &value, bytes);
      }
      inputs.memory.push_back(std::move(data));
      launch::Storage storage;
      storage.bytes = inputs.memory.back().size();
      storage.name = p.name;
      inputs.launch.storages.push_back(storage);
      argument.kind = launch::Argument::Kind::Tensor;
      argument.view.element = p.element;
      argument.view.dtype = p.dtype;
      argument.view.shape = {kElements - kMiddle};
      argument.view.strides = {1};
      argument.view.offset = kMiddle * bytes;
      argument.view.storage = static_cast<uint32_t>(inputs.launch.storages.size() - 1);
    } else {
      argument.kind = launch::Argument::Kind::Scalar;
      argument.element = p.element;
      argument.bits = p.width > 1 ? static_cast<uint64_t>(integerFor(p, promised, random)) : valueOf(p.element, random, small);
      if (p.width) inputs.words += fmt::format(", {} = {}", p.name, static_cast<int64_t>(argument.bits));
    }
    inputs.launch.arguments.push_back(std::move(argument));
  }
  return inputs;
}

std::string valueText(const uint8_t* at, ir::ElementKind kind) {
  const uint32_t bytes = ir::elementBytes(kind);
  uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  float single;
  double number;
  if (kind == ir::ElementKind::F32) return std::memcpy(&single, at, 4), fmt::format("{} (0x{:08x})", single, bits);
  if (kind == ir::ElementKind::F64) return std::memcpy(&number, at, 8), fmt::format("{} (0x{:016x})", number, bits);
  if (ir::isFloatKind(kind)) return fmt::format("0x{:0{}x}", bits, 2 * bytes);
  const uint32_t shift = 64 - 8 * bytes;
  return fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
}

/// One version's run on a copy of the memory.
struct Ran {
  std::vector<std::vector<uint8_t>> memory;
  findings::LaunchReport report;
};

Result<Ran> ran(const exec::Kernel& kernel, const Inputs& inputs) {
  Ran out;
  out.memory = inputs.memory;
  launch::Launch launch = inputs.launch;
  for (size_t i = 0; i < launch.storages.size(); ++i) launch.storages[i].data = out.memory[i].data();
  exec::RunOptions options;
  options.clients.push_back({clients::find("sanitizer")});
  options.threads = 1;
  options.iterationLimit = kMostIterations;
  options.timeLimit = kSeconds;
  options.silent = true;
  auto report = exec::run(kernel, launch, options);
  if (!report) return failure(report.error());
  out.report = std::move(*report);
  return out;
}

const findings::Finding* firstError(const findings::LaunchReport& report) {
  for (const findings::Finding& finding : report.findings)
    if (finding.severity == findings::Severity::Error) return &finding;
  return nullptr;
}

/// What differs between two runs, or "".
std::string differenceOf(const Ran& before, const Ran& after, const std::vector<Parameter>& parameters) {
  size_t storage = 0;
  for (const Parameter& p : parameters) {
    if (!p.isPointer) continue;
    const auto& a = before.memory[storage];
    const auto& b = after.memory[storage];
    ++storage;
    const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first;
    if (at == a.end()) continue;
    const size_t bytes = ir::elementBytes(p.element), element = static_cast<size_t>(at - a.begin()) / bytes;
    return fmt::format("{}[{}] is {} after, {} before", p.name, static_cast<int64_t>(element) - kMiddle, valueText(b.data() + element * bytes, p.element),
                       valueText(a.data() + element * bytes, p.element));
  }
  if (const findings::Finding* error = firstError(after.report); error && !firstError(before.report))
    return fmt::format("{} ({}), which it did not do before", error->message, error->kind);
  return {};
}

}  // namespace

Equivalence compareOnEngine(const std::string& before, const std::string& after, const std::string& name, const passes::Assumptions& promised, int runs) {
  Equivalence out;
  const auto not_compared = [&](std::string why) {
    if (out.notCompared.empty()) out.notCompared = std::move(why);
    return out;
  };
  const auto first = exec::compile(before, name);
  if (!first) return not_compared(first.error().message);
  const auto parameters = parametersOf(before, name);
  if (!parameters) return not_compared(parameters.error().message);
  const auto second = exec::compile(after, name);
  if (!second) {
    out.difference = "the engine cannot read it any more: " + second.error().str();
    return out;
  }
  for (int run = 0; run < runs; ++run) {
    const Inputs inputs = randomInputs(*parameters, promised, run);
    const auto a = ran(**first, inputs);
    if (!a) return not_compared(a.error().message);
    if (!a->report.unknowns.empty()) {
      not_compared(a->report.unknowns[0].reason);
      continue;
    }
    const auto b = ran(**second, inputs);
    const std::string with = fmt::format("run {} ({}): ", run + 1, inputs.words);
    if (!b) {
      out.difference = with + b.error().message;
      return out;
    }
    if (!b->report.unknowns.empty()) {
      out.difference = with + "not known any more: " + b->report.unknowns[0].reason;
      return out;
    }
    ++out.runs;
    if (const std::string difference = differenceOf(*a, *b, *parameters); !difference.empty()) {
      out.difference = with + difference;
      return out;
    }
  }
  return out;
}

}  // namespace tilesight::tools
