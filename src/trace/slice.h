// Where a value came from: backwards through one program, element by element, to the elements of the launch's inputs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "trace/picture.h"
#include "trace/region.h"
#include "trace/values.h"

namespace tilesight::trace {

/// One variable on the way, as it was when it mattered for the last time.
struct Link {
  std::array<int64_t, 3> program{};
  std::string name;            // "acc"; "condition" of a branch; of a store, the tensor
  std::string type, file;      // MLIR's type
  uint32_t line = 0;
  uint32_t site = 0;           // index in Values::sites()
  bool store = false;          // this program stored `elements` of the tensor, which another on the way had read
  std::vector<Iteration> iterations;
  int64_t times = 1;           // how often the line's value mattered: turns of its loops
  std::vector<int64_t> shape;  // of the tile
  Region elements;             // those that mattered
  Statistics values;           // of them
  std::string value;           // of one element, as text
};

/// Elements of a tensor of the launch.
struct Source {
  uint32_t argument = 0;       // index in Launch::arguments
  std::string name;
  Region region;
  std::vector<int64_t> offsets;  // all that were read, `outside` too: in elements from the tensor's [0,..,0], ascending
  int64_t outside = 0;         // reads that were outside of the tensor
  bool mayHaveChanged = false; // programs of the launch write this tensor, and who wrote what was read is not known
};

/// The way of one value.
struct Slice {
  std::array<int64_t, 3> program{};
  std::vector<Link> chain;     // from the value backwards; program by program, each begins with what it stored
  std::vector<Source> sources;
  std::vector<std::string> scalars;  // arguments
  int64_t unknown = 0;         // elements read from memory that is no tensor of the launch
};

/// A program's last store to an element of a tensor, and what was stored.
struct Written {
  Slice slice;
  uint32_t site = 0;
  std::vector<Iteration> iterations;
  int64_t element = 0;         // row-major, of the stored tile
  std::vector<int64_t> shape;  // of that tile
  double value = 0;
  std::string text;            // of the value
  bool atomic = false;         // added up, or the like: others have their part in it
};

/// Follows what the program stored last to element `index` of a tensor argument. Errors: no such program, argument or
/// element; the program stores nothing there; it is too long to follow.
Result<Written> followStore(const Values& values, std::array<int64_t, 3> program, uint32_t argument, const std::vector<int64_t>& index);

/// Follows one element of result `result` of what the program executes as its instruction number `event` (counted from
/// 0, of all that it executes).
Result<Slice> followValue(const Values& values, std::array<int64_t, 3> program, int64_t event, unsigned result, int64_t element);

}  // namespace tilesight::trace
