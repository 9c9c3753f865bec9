#include "clients/null/null.h"

namespace tilesight::clients {

const ts_client& null() {
  static const ts_client table = [] {
    ts_client client{};
    client.size = sizeof client;
    client.abi = TS_CLIENT_ABI;
    client.name = "null";
    return client;
  }();
  return table;
}

}  // namespace tilesight::clients
