#include "foreign/rows.h"

namespace tilesight::foreign {

void addInteger(std::vector<Function>& rows) {
#include "foreign/integer.def"
}

}  // namespace tilesight::foreign
