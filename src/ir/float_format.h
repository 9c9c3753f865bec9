// Floating-point formats of constants: bit pattern <-> exact value, for every ElementKind that is a
// float. Used by the parser, the printer and whoever folds constants.
#pragma once

#include <cstdint>

#include "ir/type.h"

namespace tilesight::ir {

/// Bits of storage of one element of a float kind (f32: 32, tf32: 32, f4E2M1FN: 4); 0 for others.
uint32_t floatWidth(ElementKind kind);

/// `value` rounded to nearest even in the format of `kind`. Overflow gives infinity, or NaN where
/// the format has no infinity; formats without NaN (f4E2M1FN) saturate.
uint64_t floatToBits(double value, ElementKind kind);

/// The exact value of a bit pattern; NaN payloads are not kept.
double bitsToFloat(uint64_t bits, ElementKind kind);

}  // namespace tilesight::ir
