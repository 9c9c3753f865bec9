/* A plugin whose pass does what no host can take back, or what no verifier sees; one for each value of DOES. */
#include <tilesight/plugin.h>

#include <stdio.h>
#include <stdlib.h>

#define CRASHES 1
#define ABORTS 2
#define EXITS 3
#define HANGS 4
#define PRINTS 5
#define CRASHES_WHEN_ASKED 6
#define FAILS 7
#define CORRUPTS 8
#define KEEPS_ADDING 9    /* not idempotent */
#define COMPUTES_OTHERWISE 10
#define WRITES_OUTSIDE 11
#define DOUBLES 12        /* x + x becomes x * 2: right, and idempotent */
#define CLOSES_FILES 13   /* and then does not return */

#if defined(_WIN32)
#include <io.h>
#define close _close
#else
#include <unistd.h>
#endif

static ts_op first(const ts_plugin_host* h, ts_context c, const char* name) {
  for (ts_op op = h->walk(c, h->module(c), NULL); op; op = h->walk(c, h->module(c), op))
    if (ts_equal(h->op_name(c, op), name)) return op;
  return NULL;
}

static ts_value binary(const ts_plugin_host* h, ts_context c, ts_op before, const char* name, ts_value a, ts_value b) {
  ts_value operands[2];
  ts_type type = h->value_type(c, a);
  ts_op_description d = {.size = sizeof d, .name = ts_text(name), .at = {NULL, before}, .operands = operands, .operand_count = 2, .results = &type, .result_count = 1};
  operands[0] = a;
  operands[1] = b;
  return h->op_result(c, h->op_create(c, &d), 0);
}

static int32_t run(void* data, const ts_plugin_host* h, ts_context c, ts_error* error) {
  (void)data;
  (void)error;
  ts_op store = first(h, c, "tt.store"), add = first(h, c, "arith.addi");
  (void)store;
  (void)add;
  (void)binary;
#if DOES == CRASHES
  h->op_erase(c, store);
  *(volatile int*)16 = 1;
#elif DOES == ABORTS
  abort();
#elif DOES == EXITS
  exit(0);
#elif DOES == HANGS || DOES == CLOSES_FILES
  for (int file = 3; DOES == CLOSES_FILES && file < 64; ++file) close(file);
  for (volatile int forever = 1; forever;) {
  }
#elif DOES == PRINTS
  printf("hello from the pass\n");
  fflush(stdout);
#elif DOES == FAILS
  h->op_erase(c, store);
  return ts_failure(error, "it does not like this kernel");
#elif DOES == CORRUPTS
  h->value_set_type(c, h->op_result(c, add, 0), h->type_parse(c, ts_text("i64")));
#elif DOES == KEEPS_ADDING
  h->op_set_operand(c, store, 1, binary(h, c, store, "arith.ori", h->op_operand(c, store, 1), h->op_operand(c, store, 1)));
#elif DOES == COMPUTES_OTHERWISE
  if (!add) return 0;
  h->value_replace_uses(c, h->op_result(c, add, 0), binary(h, c, add, "arith.subi", h->op_operand(c, add, 0), h->op_operand(c, add, 1)));
  h->op_erase(c, add);
#elif DOES == DOUBLES
  if (!add || h->op_operand(c, add, 0) != h->op_operand(c, add, 1)) return 0;
  ts_point at = {NULL, add};
  ts_value two = h->constant(c, at, h->value_type(c, h->op_operand(c, add, 0)), 2, NULL);
  h->value_replace_uses(c, h->op_result(c, add, 0), binary(h, c, add, "arith.muli", h->op_operand(c, add, 0), two));
  h->remark(c, add, TS_REMARK_DONE, ts_text("doubled"), ts_text("a sum of the same is a product"));
  h->op_erase(c, add);
#elif DOES == WRITES_OUTSIDE
  int64_t known = 0;
  ts_op address = first(h, c, "tt.addptr");
  if (!address || h->constant_integer(c, h->op_operand(c, address, 1), &known)) return 0;
  ts_point at = {NULL, address};
  h->op_set_operand(c, address, 1, h->constant(c, at, h->value_type(c, h->op_operand(c, address, 1)), 1 << 28, NULL));
#endif
  return 0;
}

static const ts_pass kPass = {.size = sizeof(ts_pass), .name = "harmful", .summary = "does harm", .run = run};
static const ts_pass* const kPasses[] = {&kPass};
static const ts_plugin kPlugin = {.size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 0, .id = "test.harmful", .version = "0", .summary = "",
                                  .passes = kPasses, .pass_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host;
  (void)error;
#if DOES == CRASHES_WHEN_ASKED
  abort();
#endif
  *plugin = &kPlugin;
  return 0;
}
