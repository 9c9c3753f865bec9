// Which elements of which tensors programs touch: they run again, alone, for that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/loaded.h"

namespace tilesight::server {

/// Elements of one tensor that follow each other in memory.
struct Touch {
  int64_t program = 0;
  int32_t argument = -1;
  uint32_t op = 0;
  uint32_t occurrence = 0;   // how often the program had run the operation before, as far as it accessed memory
  int64_t first = 0;         // in elements from the tensor's element [0,..,0]; may lie outside
  int64_t count = 0, times = 1;
  bool read = false, write = false;
};

/// Visits what the programs touch, in their order. Errors: the bundle is gone.
Status footprint(const Loaded& loaded, const std::vector<int64_t>& programs, const std::function<void(const Touch&)>& visit);

/// "0-3,2-5": the programs with x of 0..3 and y of 2..5, any z, ends included. Errors: other text, or no such program.
Result<std::vector<int64_t>> brushed(const Loaded& loaded, const std::string& text);

/// JSON of one element: how often it is read and written, its value before and after, and who wrote it last: program,
/// step, operation, line, iterations, and which operand of the step the written tile is. Errors: no such element.
Result<std::string> elementJson(const Loaded& loaded, size_t argument, const std::vector<int64_t>& index);

}  // namespace tilesight::server
