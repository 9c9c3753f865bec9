// What is known of a launch before it runs, as numbers of the trace's dictionaries: so that no range of programs has to
// add to them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "arrow/schema.h"
#include "exec/kernel.h"
#include "launch/launch.h"

namespace tilesight::record {

/// Of an operation that accesses memory.
struct OperationNames {
  int32_t operation = 0, file = 0, variable = 0;
  uint32_t line = 0, column = 0;
};

struct LaunchNames {
  uint32_t launch = 0;
  std::array<int64_t, 3> grid{};
  std::vector<OperationNames> operations;  // by number
  std::vector<int32_t> tensors;            // by argument
  std::vector<int64_t> addresses;          // of element [0, ..., 0], by argument; 0: no tensor
};

/// Numbers of names that every trace has.
struct FixedNames {
  static constexpr size_t kFaultBits = 6, kElementKinds = 64;
  std::array<int32_t, 5> kinds{}, masks{};
  std::array<int32_t, 5> forms{};
  std::array<int32_t, kElementKinds> elements{};
  std::array<int32_t, 1 << kFaultBits> faults{};
  int32_t noTensor = 0;
};

/// `names`: the dictionaries of `accesses`.
FixedNames fixedNames(std::vector<arrow::Names>& names);
LaunchNames launchNames(std::vector<arrow::Names>& names, const exec::Kernel& kernel, const launch::Launch& launch, uint32_t number);

}  // namespace tilesight::record
