// What two launches did to their tensors, compared element by element.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diff/touched.h"
#include "launch/launch.h"

namespace tilesight::diff {

/// Elements that one side touched and the other did not.
struct Only {
  int64_t count = 0;
  std::vector<int64_t> first;  // the first one's index
  std::optional<Touch> touch;  // who
};

/// The elements that were read, or written.
struct Sets {
  int64_t both = 0;
  std::array<Only, 2> only;  // in A, in B
  bool same() const { return only[0].count == 0 && only[1].count == 0; }
};

struct ValueDifference {
  std::vector<int64_t> index;
  std::array<std::string, 2> value;
  std::array<std::optional<Touch>, 2> writer;  // the last; absent: nobody wrote it
};

struct TensorResult {
  std::array<std::string, 2> name;  // "": the side has no such tensor
  std::string mismatch;             // why its elements cannot be compared: other shapes; "": they can
  Sets read, written;
  int64_t values = 0;               // written elements that were compared
  int64_t different = 0;
  double maxAbsolute = 0;           // over finite differences
  std::vector<int64_t> maxAt;
  int64_t maxUlp = -1;              // -1: no floats, or none that differ
  std::string notCompared;          // why values were not; "": they were
  std::optional<ValueDifference> first;
  int64_t inputs = 0;               // elements that both read and that held other values before
  std::vector<int64_t> firstInput;
  bool same() const { return mismatch.empty() && read.same() && written.same() && different == 0; }
};

struct LaunchResult {
  std::array<std::string, 2> kernel;
  std::array<size_t, 2> launch{};   // position in the bundle
  std::vector<TensorResult> tensors;
  /// Bytes that were touched and belong to no tensor, per side; they are compared only by their number.
  std::array<int64_t, 2> elsewhere{};
  std::vector<std::string> unknowns;  // what was not executed
  bool same() const;
  bool unknown() const;
};

/// A launch, and the same launch once more: both are run in place. Loaded afresh from a bundle, they share nothing.
struct Side {
  std::shared_ptr<const exec::Kernel> kernel;
  launch::Launch launch, again;
  launch::Launch before;  // stays as it is
  size_t position = 0;
};

/// Errors: arguments that do not fit a kernel.
Result<LaunchResult> compare(std::array<Side, 2>& sides);

}  // namespace tilesight::diff
