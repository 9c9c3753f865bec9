#include "ir/verifier.h"
namespace tilesight::ir {
Status verify(const Module&) { return {}; }
}
