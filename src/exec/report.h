// Turns what the machine saw into findings: place, call chain, witness, operand, explanation.
#pragma once

#include <string>

#include "exec/machine.h"
#include "exec/source_line.h"
#include "findings/finding.h"

namespace tilesight::exec {

/// A while loop that runs this often is taken for one that waits.
inline constexpr int64_t kWhileLimit = 100'000'000;

/// The value of an entry parameter.
Tile parameterTile(const LaunchContext& context, size_t parameter);

/// Innermost user frame and callers of an instruction, outermost last.
struct Place {
  findings::Frame frame;
  std::vector<findings::Frame> stack;
  std::string sourceLine;
};
Place placeOf(const LaunchContext& context, const Instr& instr);

/// The loop variable's name in the source, or "". `downwards`: the source counts down, the IR up; the
/// source's value is upper - value + lower.
std::string loopName(Machine& machine, const Instr& loop, bool* downwards);
/// Index of a row-major element of a shape.
std::vector<int64_t> elementIndex(const Shape& shape, int64_t linear);
/// A float of any kind.
double floatAt(const Tile& tile, int64_t index);
/// A value in decimal, for prints.
std::string elementText(const Tile& tile, int64_t index);
/// The chain behind one value, with what it was at a row-major element of its tile; -1: at none.
void explainValue(Machine& machine, const Instr& instr, const ir::Value* value, int64_t element, findings::Finding& finding);

/// The evidence about the tensor that an address is in, but for the element and how far outside it is.
findings::Operand operandOf(const LaunchContext& context, const ViewInfo& view, int64_t address);

/// How users write the operation: "load", "atomic_add".
std::string operationName(const Instr& instr);
/// The argument's name, or a description of where a pointer of unknown origin came from.
std::string argumentName(const LaunchContext& context, int32_t argument);

findings::Unknown unknownAt(Machine& machine, const Instr& instr, const std::string& reason);

/// A finding at an instruction with place, program and iterations filled in.
findings::Finding findingAt(Machine& machine, const Instr& instr, const std::string& kind,
                            findings::Severity severity, std::string message);

/// Reports `count` elements of an access, the first of them `element`, to the machine's collector.
void reportAccess(const AccessCore& core, const char* client, const char* kind, int severity,
                  int64_t element, int64_t count, const char* message);

/// The chain behind the address of an access, in the user's names; notes say what the mask lacks.
void explain(Machine& machine, const Instr& instr, const Resolved& access, int64_t element,
             findings::Finding& finding);

}  // namespace tilesight::exec
