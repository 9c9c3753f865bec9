// What programs read of memory that programs write: with it, each of them can run again alone, without memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/type.h"

namespace tilesight::exec {

/// The values that one access read, row-major, as they lie in memory.
struct Read {
  ir::ElementKind kind = ir::ElementKind::Invalid;
  std::vector<uint8_t> bytes;
};

/// Of one program, in the order in which it read them.
using Reads = std::vector<Read>;

/// By program number.
using ReadsOfPrograms = std::map<int64_t, Reads>;

}  // namespace tilesight::exec
