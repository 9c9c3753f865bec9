// Operations of dialects that plugins add, lowered before a kernel runs.
#pragma once

#include "dialects/added.h"
#include "tilesight/plugin.h"

namespace tilesight::plugins {

/// Makes kernels be lowered by `table` where they have operations of `dialect`, which was read from it. Thread-safe.
void addLowering(const ts_dialect& table, const dialects::Dialect& dialect);

/// False if the dialect's operations can only be read and changed.
bool hasLowering(const dialects::Dialect& dialect);

}  // namespace tilesight::plugins
