// An example client: bytes read and written per source line.
#pragma once

#include "tilesight/client.h"

namespace tilesight::clients {
const ts_client& traffic();
}
