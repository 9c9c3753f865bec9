// Where the value of an element of a tensor came from: its last writer's backward slice, to elements of the inputs.
#pragma once

#include <string>
#include <vector>

#include "server/loaded.h"

namespace tilesight::server {

/// Follows what was stored last to an element. Errors: no such element, nobody writes it, or what trace::followStore says.
Result<trace::Written> follow(const Loaded& loaded, size_t argument, const std::vector<int64_t>& index);

/// JSON of Loaded::written: the writer (program, operation, line, iterations, the stored value), `chain` (the variables on
/// the way, from the store backwards, also through other programs; each with its `program`) and `sources` (the elements read: `text`, `count`, the index of the first; `outside`,
/// `mayHaveChanged`), `scalars`, and `unknown`, how many elements came from memory that is no tensor. Errors: the same.
Result<std::string> inputsJson(const Loaded& loaded, size_t argument, const std::vector<int64_t>& index);

}  // namespace tilesight::server
