// Do two versions of a kernel compute the same? Both run on the engine, with the same random inputs.
#pragma once

#include <string>

#include "passes/range.h"

namespace tilesight::tools {

struct Equivalence {
  int runs = 0;             // that were compared, byte for byte
  std::string difference;   // with which inputs, where, and both values; empty: none
  std::string notCompared;  // why some, or all, runs could not be; empty: all were
};

/// Runs `before` and `after`, IR text, `runs` times with random inputs: pointers lead to the middle of random memory, so that
/// tiles outside of their shape read and write other data; integers and the grid respect `promised` and
/// `tt.divisibility`. All of that memory is compared, and an error that only `after` makes is a difference, too. The
/// same inputs in every call.
Equivalence compareOnEngine(const std::string& before, const std::string& after, const std::string& name, const passes::Assumptions& promised, int runs);

}  // namespace tilesight::tools
