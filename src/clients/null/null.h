// The client that does nothing: the smallest one, and the measure of what the engine costs alone.
#pragma once

#include "tilesight/client.h"

namespace tilesight::clients {
const ts_client& null();
}
