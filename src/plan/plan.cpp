#include "plan/plan.h"

#include <cassert>

#include "plan/build.h"
#include "plan/even.h"
#include "plan/fuse.h"
#include "plan/need.h"
#include "plan/read_once.h"
#include "plan/trips.h"
#include "plan/verify.h"

namespace tilesight::plan {

const char* opcodeName(Opcode opcode) {
  switch (opcode) {
#define OP(name) \
  case Opcode::name: return #name;
#include "plan/opcodes.def"
#undef OP
  }
  return "?";
}

Result<Program> plan(const ir::Module& module, const PlanOptions& options) {
  const Need used(module, {});
  const bool whole = options.outputs && !options.values && !options.everything;
  auto program = whole ? build(module, used, used, options) : build(module, Need(module, options), used, options);
  // Who waits for another program waits for what it stores.
  if (program && program->waits && !program->outputs) return plan(module, {true, options.values, options.computes});
  if (!program || options.everything) return program;  // every value is to be seen: nothing is put together
  const Need explained(module, {.outputs = false});
  fuse(*program, explained);
  markLoadsReadOnce(*program);
  findEven(*program, explained);
  findLoops(*program);
  assert(verify(*program));  // in tests and where assertions are on: it takes longer than planning
  return program;
}

}  // namespace tilesight::plan
