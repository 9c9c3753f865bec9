/* Everything of the plugin interface in one library with debug information: abidiff reads it there. The function leads to all
 * tables, the variables to the enumerations, whose values tables hold as numbers. */
#include TILESIGHT_ABI_HEADER

TS_PLUGIN_EXPORT int32_t tilesight_plugin_query(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host, (void)plugin, (void)error;
  return 0;
}

#define ENUMERATION(name) TS_PLUGIN_EXPORT const enum ts_##name tilesight_##name = (enum ts_##name)0;
ENUMERATION(need)
ENUMERATION(access_kind)
ENUMERATION(sem)
ENUMERATION(scope)
ENUMERATION(which)
ENUMERATION(form)
ENUMERATION(fault)
ENUMERATION(remark_kind)
ENUMERATION(type_kind)
ENUMERATION(attr_kind)
ENUMERATION(op_facts)
ENUMERATION(option_kind)
