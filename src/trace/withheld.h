// Launches whose data was not saved: zeros stand for it, so what is computed from it is no value of the launch.
#pragma once

#include "trace/values.h"

namespace tilesight::trace {

/// Tensors of the launch whose data is not there, by name.
std::vector<std::string> withheldTensors(const launch::Launch& launch);

/// Can the values of a program be told up to, and with, this step? They can until it reads data that is not there (of
/// launches whose programs read what others wrote: until it reads). Errors: they cannot, with what to do; no such
/// program.
Status toldUntil(const Values& values, std::array<int64_t, 3> program, int64_t step);
/// Can what the launch as a whole computes be told? Errors: likewise.
Status toldAll(const Values& values);

}  // namespace tilesight::trace
