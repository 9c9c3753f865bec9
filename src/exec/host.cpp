// The functions a client may call from its hooks.
#include <cstring>

#include <fmt/format.h>

#include "exec/elementwise.h"
#include "exec/guard.h"
#include "exec/machine.h"
#include "exec/report.h"

namespace tilesight::exec {

namespace {

const AccessCore& coreOf(const ts_access* access) { return *static_cast<const AccessCore*>(access->core); }

void addresses(const ts_access* access, int64_t* out) {
  const Tile& address = coreOf(access).resolved->address;
  for (int64_t i = 0; i < address.numel(); ++i) out[i] = elementBits(address, i);
}

void maskBytes(const ts_access* access, uint8_t* out) {
  const Tile& mask = coreOf(access).resolved->mask;
  for (int64_t i = 0; i < mask.numel(); ++i) out[i] = static_cast<uint8_t>(elementBits(mask, i));
}

void faultBits(const ts_access* access, uint8_t* out) {
  const AccessCore& core = coreOf(access);
  core.machine->context().memory->faultBits(core.machine->pool(), *core.resolved, out);
  // Addresses that already depend on an earlier fault are that fault's consequence.
  // (One that only breaks a promise is the address that the program meant.)
  const Tile* meaningless = core.machine->meaningless(core.machine->in(*core.instr, 0));
  if (!meaningless) return;
  for (int64_t i = 0; i < access->elements; ++i)
    if (elementBits(*meaningless, meaningless->numel() == access->elements ? i : 0)) out[i] = 0;
}

int values(const ts_access* access, uint32_t which, void* out) {
  const AccessCore& core = coreOf(access);
  if (!core.values || !core.machine->context().needValues) return 0;
  const Tile* tile = which == TS_VALUE    ? core.values->value
                     : which == TS_BEFORE ? core.values->before
                     : which == TS_COMPARED ? core.values->compared
                                            : nullptr;
  if (!tile || tile->form == Form::Empty) return 0;
  Tile dense = contiguous(core.machine->pool(), *tile);
  const size_t bytes = static_cast<size_t>(dense.numel()) * dense.elementBytes();
  if (bytes != static_cast<size_t>(access->elements) * access->element_bytes) return 0;
  std::memcpy(out, dense.data(), bytes);
  return 1;
}

void arguments(const ts_access* access, int32_t* out) {
  const Tile& address = coreOf(access).resolved->address;
  for (int64_t i = 0; i < address.numel(); ++i) out[i] = originAt(address, i);
}

void report(const ts_access* access, const char* kind, int severity, int64_t element, int64_t count, const char* message) {
  const AccessCore& core = coreOf(access);
  const std::string wrong = !kind || !*kind                               ? "no kind"
                            : severity < 0 || severity > 2                ? fmt::format("a severity of {}", severity)
                            : element < 0 || element >= access->elements ? fmt::format("element {} of a tile of {}", element, access->elements)
                            : count < 0                                   ? fmt::format("a count of {}", count)
                                                                          : "";
  if (!wrong.empty()) {
    if (Guard* guard = Guard::current()) guard->fail("report: " + wrong);
    return;
  }
  reportAccess(core, core.client ? core.client : "", kind, severity, element, count, message);
}

void opPlace(const void* core, uint32_t op, const char** file, uint32_t* line, uint32_t* column) {
  const auto* access = static_cast<const AccessCore*>(core);
  const ir::Operation* source = access->machine->context().kernel->operation(op);
  const ir::LocationStorage* place = source ? source->location.file() : nullptr;
  *file = place ? place->text.c_str() : nullptr;
  *line = place ? place->line : 0;
  *column = place ? place->column : 0;
}

const char* opName(const void* core, uint32_t op) {
  const auto* access = static_cast<const AccessCore*>(core);
  const ir::Operation* source = access->machine->context().kernel->operation(op);
  return source ? source->name.c_str() : "";
}

void fail(const char* message) {
  if (Guard* guard = Guard::current()) guard->fail(message ? message : "");
}

}  // namespace

const ts_host& host() {
  static const ts_host table{sizeof(ts_host), TS_CLIENT_ABI, addresses, maskBytes, faultBits, report, opPlace, opName, values, arguments, fail};
  return table;
}

}  // namespace tilesight::exec
