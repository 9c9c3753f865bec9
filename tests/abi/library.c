/* The enumeration of the library's functions, which take it as a number. */
#include "tilesight/tilesight.h"

TILESIGHT_API const enum tilesight_print_flags tilesight_print_flags = TILESIGHT_GENERIC;
