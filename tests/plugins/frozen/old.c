/* A plugin as it was written for version 1.0, compiled against the frozen copy of that version's headers. */
#include "plugin-1.0.h"

static int32_t run(void* data, const ts_plugin_host* host, ts_context context, ts_error* error) {
  (void)data;
  (void)error;
  ts_op module = host->module(context);
  for (ts_op op = host->walk(context, module, NULL); op; op = host->walk(context, module, op))
    if (ts_equal(host->op_name(context, op), "arith.addi"))
      host->op_set_attribute(context, op, ts_text("by"), host->attr_make_string(context, ts_text("1.0")));
  if (host->max_trips(context, module) != -1) return ts_failure(error, "the last function of 1.0 is another");
  return 0;
}

static void* create(const ts_host* host, const char* options) {
  (void)options;
  return (void*)host;
}

static void on_store(void* self, const ts_access* access) {
  ((const ts_host*)self)->report(access, "stored", 0, 0, access->active, "seen by 1.0");
}

static const ts_pass kPass = {.size = sizeof(ts_pass), .name = "old", .summary = "", .run = run};
static const ts_pass* const kPasses[] = {&kPass};
static const ts_client kClient = {.size = sizeof(ts_client), .abi = TS_CLIENT_ABI, .name = "old", .needs = TS_NEED_ADDRESSES, .create = create, .on_store = on_store};
static const ts_client* const kClients[] = {&kClient};
static const ts_plugin kPlugin = {.size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = TS_PLUGIN_ABI_MINOR, .id = "test.old",
                                  .version = "1", .summary = "", .passes = kPasses, .pass_count = 1, .clients = kClients, .client_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  if (host->size < sizeof(ts_plugin_host)) return ts_failure(error, "the host's table is shorter than that of 1.0");
  *plugin = &kPlugin;
  return 0;
}
