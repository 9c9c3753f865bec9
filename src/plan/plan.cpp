#include "plan/plan.h"

#include "plan/build.h"
#include "plan/need.h"

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
  Need need(module, options.addressOnly);
  return build(module, need, options);
}

}  // namespace tilesight::plan
