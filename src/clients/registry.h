// The clients that come with Tilesight, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilesight/client.h"

namespace tilesight::clients {

/// Null if there is no client of that name.
const ts_client* find(std::string_view name);
std::vector<std::string> names();

}  // namespace tilesight::clients
