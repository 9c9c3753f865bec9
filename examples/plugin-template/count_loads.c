/* count-loads: says how many loads there are. See docs/write-a-plugin.md of Tilesight. */
#include <tilesight/plugin.h>

#include <stdio.h>

static int32_t run(void* data, const ts_plugin_host* host, ts_context context, ts_error* error) {
  (void)data;
  (void)error;
  int loads = 0;
  ts_op module = host->module(context);
  for (ts_op op = host->walk(context, module, NULL); op; op = host->walk(context, module, op))
    loads += ts_equal(host->op_name(context, op), "tt.load");
  if (loads >= host->option_integer(context, 0)) {
    char text[80];
    snprintf(text, sizeof text, "%d loads", loads);
    host->remark(context, NULL, TS_REMARK_NOTE, ts_text("count"), ts_text(text));
  }
  return 0;
}

static const ts_option kLeast = {.size = sizeof(ts_option), .kind = TS_OPTION_INTEGER, .name = "least", .help = "say nothing of fewer loads",
                                 .fallback = "0", .least = 0, .most = 1000000};
static const ts_option* const kOptions[] = {&kLeast};

static const ts_pass kPass = {.size = sizeof(ts_pass), .name = "count-loads", .summary = "say how many loads there are", .stage = "ttir",
                              .options = kOptions, .option_count = 1, .run = run};
static const ts_pass* const kPasses[] = {&kPass};

static const ts_plugin kPlugin = {.size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 0, .id = "example.count-loads",
                                  .version = "1.0", .summary = "counts loads", .passes = kPasses, .pass_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host;
  (void)error;
  *plugin = &kPlugin;
  return 0;
}
