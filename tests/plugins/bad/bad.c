/* Plugins that do something wrong, one for each value of BAD. */
#include <tilesight/plugin.h>

#define REFUSES 1
#define RUN_FAILS 2
#define RUN_FAILS_SILENTLY 3
#define BREAKS_TYPES 4
#define USES_ERASED 5
#define WRONG_KIND 6
#define ERASES_USED 7
#define KEEPS_CONTEXT 8
#define OTHER_MAJOR 9
#define LATER_MINOR 10
#define TRUNCATED 11
#define EXTENDED 12
#define NO_TABLE 13
#define BAD_DEFAULT 14
#define NAME_TAKEN 15
#define NO_FUNCTION 16
#define TOO_MANY 17
#define TRUNCATED_PASS 18
#define BAD_ATTRIBUTE 19
#define NO_EXPORT 20
#define BREAKS_ORDER 21
#define TAKES_SHORT_HOST 22
#define MISSING_SYMBOL 23

static ts_op first(const ts_plugin_host* h, ts_context c, const char* name) {
  for (ts_op op = h->walk(c, h->module(c), NULL); op; op = h->walk(c, h->module(c), op))
    if (ts_equal(h->op_name(c, op), name)) return op;
  return NULL;
}

#if BAD == MISSING_SYMBOL
void nowhere_to_be_found(void);
#endif

static int32_t run(void* data, const ts_plugin_host* h, ts_context c, ts_error* error) {
  (void)data;
  (void)error;
  (void)first;
  (void)h;
  (void)c;
#if BAD == MISSING_SYMBOL
  nowhere_to_be_found();
#elif BAD == RUN_FAILS
  h->op_erase(c, first(h, c, "tt.store"));
  return ts_failure(error, "it does not like this kernel");
#elif BAD == RUN_FAILS_SILENTLY
  return 7;
#elif BAD == BREAKS_TYPES
  h->value_set_type(c, h->op_result(c, first(h, c, "arith.addi"), 0), h->type_parse(c, ts_text("i64")));
#elif BAD == USES_ERASED
  ts_op store = first(h, c, "tt.store");
  h->op_erase(c, store);
  h->op_name(c, store);
#elif BAD == WRONG_KIND
  h->op_name(c, (ts_op)h->op_result(c, first(h, c, "arith.addi"), 0));
#elif BAD == ERASES_USED
  h->op_erase(c, first(h, c, "arith.addi"));
#elif BAD == KEEPS_CONTEXT
  static ts_context kept;
  static ts_op op;
  if (kept && (h->op_name(kept, op).size || h->module(kept))) return ts_failure(error, "an old context still works");
  kept = c;
  op = first(h, c, "tt.store");
#elif BAD == BAD_ATTRIBUTE
  h->op_set_attribute(c, first(h, c, "arith.addi"), ts_text("x"), h->attr_parse(c, ts_text("} nonsense {")));
#elif BAD == BREAKS_ORDER
  ts_op add = first(h, c, "arith.addi");
  ts_point end = {0};
  end.before = first(h, c, "tt.return");
  h->op_move(c, add, end);
#endif
  return 0;
}

static const ts_option kOption = {.size = sizeof(ts_option), .kind = TS_OPTION_INTEGER, .name = "size", .help = "", .fallback = BAD == BAD_DEFAULT ? "9" : "1", .least = 1, .most = 8};
static const ts_option* const kOptions[] = {&kOption};
static const ts_pass kPass = {
  .size = BAD == TRUNCATED_PASS ? 16 : sizeof(ts_pass), .name = BAD == NAME_TAKEN ? "cse" : "bad", .summary = "does something wrong",
  .options = kOptions, .option_count = 1, .run = BAD == NO_FUNCTION ? NULL : run};
static const ts_pass* const kPasses[] = {&kPass};

/* A table of a later version: what this one does not know is at its end. */
typedef struct longer {
  ts_plugin plugin;
  uint64_t later[16];
} longer;

static const longer kPlugin = {
  .plugin = {.size = BAD == TRUNCATED ? 24 : BAD == EXTENDED ? sizeof(longer) : sizeof(ts_plugin),
             .abi_major = BAD == OTHER_MAJOR ? 2 : TS_PLUGIN_ABI_MAJOR, .abi_minor = BAD == LATER_MINOR ? 99 : 0,
             .id = "test.bad", .version = "0", .summary = "", .passes = kPasses, .pass_count = BAD == TOO_MANY ? 4000000000u : 1},
  .later = {~0ull, ~0ull}};

#if BAD == NO_EXPORT
static
#else
TS_PLUGIN_EXPORT
#endif
    int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)error;
  (void)host;
  (void)plugin;
  (void)kPlugin;
#if BAD == REFUSES
  return ts_failure(error, "no licence for this machine");
#elif BAD == TAKES_SHORT_HOST
  if (!TS_HAS(host, ts_plugin_host, max_trips)) return ts_failure(error, "the host's table is too short");
  *plugin = &kPlugin.plugin;
#elif BAD != NO_TABLE
  *plugin = &kPlugin.plugin;
#endif
  return 0;
}

#if BAD == NO_EXPORT
int32_t another_name(const ts_plugin** plugin);
TS_PLUGIN_EXPORT int32_t another_name(const ts_plugin** plugin) { return TS_PLUGIN_QUERY(0, plugin, 0); }
#endif
