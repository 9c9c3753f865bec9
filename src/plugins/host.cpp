#include "plugins/session.h"

namespace tilesight::plugins {

const ts_plugin_host& hostTable() {
  static const ts_plugin_host table = [] {
    ts_plugin_host host = {};
    host.size = sizeof(host);
    host.abi_major = TS_PLUGIN_ABI_MAJOR;
    host.abi_minor = TS_PLUGIN_ABI_MINOR;
    host.version = TILESIGHT_VERSION;
    fillReading(host);
    fillEditing(host);
    fillAsking(host);
    return host;
  }();
  return table;
}

}  // namespace tilesight::plugins
