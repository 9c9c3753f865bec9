// Actual against expected: the first wrong element of an output, who wrote it, and where its value came from.
#pragma once

#include <functional>
#include <istream>
#include <optional>

#include "trace/slice.h"

namespace tilesight::trace {

/// An array of numbers in memory, row-major.
struct Expected {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
};

/// Is an array of this shape wanted? Asked before there is memory for it: a file may claim to hold terabytes.
using FitsShape = std::function<Status(const std::vector<int64_t>& shape)>;
/// Reads a .npy file of numbers or bools. Errors: what is none; what `fits` says.
Result<Expected> readNpy(const std::string& path, const FitsShape& fits);
/// The same from a stream that can seek; `name` stands for the path in messages.
Result<Expected> readNpy(std::istream& file, const std::string& name, const FitsShape& fits);

struct Tolerance {
  double relative = 0, absolute = 0;
};
/// What rounding may do to a kernel's result of this kind: 1e-4 for f32, 1e-2 for f16, ..; integers are exact.
Tolerance toleranceOf(ir::ElementKind kind);
/// Beyond the tolerance; NaN agrees with NaN alone, an infinity with itself.
bool differs(double actual, double expected, const Tolerance& tolerance);

struct Mismatch {
  std::string name;              // of the tensor
  std::vector<int64_t> shape;
  int64_t elements = 0, wrong = 0;
  Tolerance tolerance;
  Region wrongElements;
  double largestError = 0;       // among the wrong ones that are finite
  std::vector<int64_t> largestAt;
  // The first wrong one.
  std::vector<int64_t> index;
  std::string actual, expected;
  std::string before;            // what the launch found there, if no program wrote it
  bool written = false;          // by a program
  std::array<int64_t, 3> program{};  // the last one that did
  int64_t writers = 0;           // programs that wrote it
  std::optional<Written> store;
};

/// The tensor argument of this name. Errors: there is none; which there are.
Result<uint32_t> tensorNamed(const launch::Launch& launch, const std::string& name);

/// Can it be compared with an array of this shape? Errors: no, it has another.
Status sameShape(const launch::Argument& tensor, const std::vector<int64_t>& shape);

/// Compares a tensor of a launch, as it is in memory, with `expected`: all of the answer but `before` and what is known of
/// writers. Errors: another shape.
Result<Mismatch> differences(const launch::Launch& launch, uint32_t argument, const Expected& expected, std::optional<Tolerance> tolerance);

/// Compares what the launch leaves in a tensor with `expected`, an array of its shape. wrong == 0: they agree.
Result<Mismatch> compare(const Values& values, uint32_t argument, const Expected& expected, std::optional<Tolerance> tolerance);

/// The last program that writes an element, and how many do.
struct Writer {
  std::optional<std::array<int64_t, 3>> program;
  int64_t programs = 0;
};
Result<Writer> writerOf(const Values& values, uint32_t argument, const std::vector<int64_t>& index);

/// Where the value of an element of a tensor came from: its last writer's slice. Errors: no program writes it.
Result<Written> sliceOfElement(const Values& values, uint32_t argument, const std::vector<int64_t>& index);

}  // namespace tilesight::trace
