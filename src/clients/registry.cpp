#include "clients/registry.h"

#include "clients/null/null.h"
#include "clients/sanitizer/sanitizer.h"
#include "clients/tracer/tracer.h"
#include "clients/traffic/traffic.h"

namespace tilesight::clients {

namespace {
const ts_client* const* all() {
  static const ts_client* const table[] = {&sanitizer(), &tracer(), &traffic(), &null(), nullptr};
  return table;
}
}  // namespace

const ts_client* find(std::string_view name) {
  for (auto client = all(); *client; ++client)
    if (name == (*client)->name) return *client;
  return nullptr;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (auto client = all(); *client; ++client) result.emplace_back((*client)->name);
  return result;
}

}  // namespace tilesight::clients
