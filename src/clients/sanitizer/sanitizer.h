// Accesses outside the tensors: bounds, views, null and foreign pointers, alignment.
#pragma once

#include "tilesight/client.h"

namespace tilesight::clients {
const ts_client& sanitizer();
}
