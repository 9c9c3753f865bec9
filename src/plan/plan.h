// The executable form of a tile function: a linear program over slots. Structured control flow is
// jumps, so a running program is data (a program counter and slots) and can stop anywhere. Calls are
// expanded at their site with the call chain kept in the locations. What does not depend on the
// program or on memory is in the prologue, run once a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "foreign/ptx.h"
#include "ir/context.h"
#include "ir/operation.h"
#include "plan/hints.h"
#include "support/result.h"

namespace tilesight::plan {

enum class Opcode : uint8_t {
#define OP(name) name,
#include "plan/opcodes.def"
#undef OP
};
const char* opcodeName(Opcode opcode);

inline constexpr uint32_t kNoSlot = UINT32_MAX;
/// Flag of a load: see markLoadsReadOnce.
inline constexpr uint8_t kReadOnce = 4;

/// One expansion of a function: the entry, or a call expanded at its site.
struct Instance {
  const ir::Operation* function = nullptr;
  const ir::Operation* call = nullptr;      // null for the entry
  const Instance* parent = nullptr;
  std::unordered_map<const ir::Value*, uint32_t> slots;
};

/// What a group of elementwise operations (Group) does with one of its own.
enum class Fusing : uint8_t {
  No,     // it is none of them, or only stands among them: executed by itself
  Local,  // only the group reads its result
  Kept,   // others read it, too
};

struct Instr {
  Opcode op;
  uint8_t sub = 0;        // BinaryOp, UnaryOp, CmpIOp, ... of the executor
  uint8_t flag = 0;       // per opcode, see opcodes.def
  bool valueNeeded = true;  // results are computed; stores: the value is
  bool used = true;         // the whole kernel, without clients, needs a result
  bool even = false;      // the result comes of the program's number, parameters, constants and variables of even loops
                          // alone; LoopBegin: the bounds are the same in every program
  bool mayBorrow = false;  // loads: nothing is written before the value is read for the last time, so that it may stay in
                           // the launch's memory until then
  Fusing fusing = Fusing::No;
  uint16_t groupReads = 0;  // of a group: how often its operations read the result
  uint32_t group = 0;       // the first of a group: its number in Program::groups, plus 1
  uint32_t loop = 0;        // LoopBegin: its number in Program::loops, plus 1
  uint32_t in = 0;        // first operand in Program::operands
  uint32_t out = 0;       // first result in Program::operands
  uint16_t inCount = 0, outCount = 0;
  uint32_t dying = 0;     // bit i: operand i is not read again and may be overwritten
  int64_t immediate = 0;
  uint32_t target = 0;    // jumps
  uint32_t body = 0;      // Reduce, Scan, Map: index into Program::regions
  const ir::Operation* source = nullptr;  // the common operation
  const Instance* instance = nullptr;
};

/// A combine region: instructions [begin, end) on its own slots, run on whole tiles.
struct RegionCode {
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> arguments, results;  // slots
  bool straight = true;  // no jumps: may run on whole tiles
  int simple = -1;  // the BinaryOp if the region is one commutative operation on (lhs, rhs)
};

/// Elementwise operations on tiles of one shape, one after another, that no address, mask, assertion or control flow
/// comes of: instructions [begin, end). They may be done strip by strip, so that what only they read is never
/// written out, and nobody asks for the values in between. Among them stand operations that read none of their results.
struct Group {
  uint32_t begin = 0, end = 0;
  uint32_t store = 0;  // the next instruction with an effect, if it is a store that alone reads one of the results; or 0
  uint32_t stored = 0;  // the slot of that result
};

/// A `for` loop whose body is straight and has no loop in it. What may move evenly from trip to trip, as Instr::even does
/// from program to program.
struct Loop {
  struct Carried {
    uint32_t argument, next;  // slots: what a trip has of the one before, and what it gives to the next
    uint32_t operand;         // of the move
  };
  uint32_t begin = 0, next = 0;             // LoopBegin and LoopNext
  uint32_t move = 0;                        // what moves carried values, before LoopNext; 0: none are
  std::vector<uint32_t> candidates, accesses;  // instructions
  std::vector<Carried> carried;
  std::vector<uint32_t> written;            // slots that the body or the loop writes to
};

struct Slot {
  ir::Type type;
  const ir::Value* value = nullptr;
};

struct Program {
  std::vector<Instr> prologue, code;
  std::vector<RegionCode> regions;
  std::vector<Group> groups;
  std::vector<Loop> loops;
  std::vector<std::shared_ptr<const foreign::Ptx>> assembly;
  std::vector<Hint> hints;
  /// With PlanOptions::everything: values that no instruction has as its result (arguments of loops and functions,
  /// results of loops, branches and calls), where they get their value; one list a Mark, in the order of its operands.
  std::vector<std::vector<const ir::Value*>> marks;
  std::vector<uint32_t> operands;      // slot numbers, sliced by Instr::in/out
  std::vector<Slot> slots;
  std::vector<uint32_t> parameters;    // slots of the entry's parameters
  std::vector<std::unique_ptr<Instance>> instances;
  /// An atomic operation whose result the program uses: what it does may depend on the programs before it.
  bool tickets = false;
  /// Any atomic operation.
  bool atomics = false;
  /// A `while` loop that reads memory: it may wait for another program.
  bool waits = false;
  /// What is stored is computed.
  bool outputs = true;
  const ir::Operation* entry = nullptr;
};

/// What a run has to compute, beside the addresses, masks and control flow of every access.
struct PlanOptions {
  bool outputs = true;    // what is stored
  bool values = false;    // for clients: what is loaded or stored, whatever uses it
  bool computes = false;  // for clients: products and reductions are announced, with `outputs` or without
  /// All that the text says, in its order and one by one, with marks: for those who look at values.
  bool everything = false;
};

/// Plans the entry function of a module in the common IR. Operations that cannot be executed become
/// Unsupported instructions; only malformed modules are errors.
Result<Program> plan(const ir::Module& module, const PlanOptions& options);

/// The reason why this operation cannot be executed, or "" if it can. By the source dialect's name.
std::string cannotExecute(const ir::Operation& op);

}  // namespace tilesight::plan
