#include "trace/expect.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/kernel.h"
#include "exec/memory.h"
#include "findings/nearest.h"
#include "trace/writers.h"

namespace tilesight::trace {

namespace {

const uint8_t* elementAt(const launch::Launch& launch, const launch::View& view, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d];
  return launch.storages[view.storage].data + view.offset + at * static_cast<int64_t>(ir::elementBytes(view.element));
}

}  // namespace

bool differs(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) != std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual != expected;
  return std::abs(actual - expected) > tolerance.absolute + tolerance.relative * std::abs(expected);
}

Tolerance toleranceOf(ir::ElementKind kind) {
  using Kind = ir::ElementKind;
  switch (kind) {
    case Kind::F64: return {1e-9, 1e-12};
    case Kind::F32:
    case Kind::TF32: return {1e-4, 1e-5};
    case Kind::F16: return {1e-2, 1e-3};
    case Kind::BF16: return {2e-2, 1e-2};
    default: return ir::isFloatKind(kind) ? Tolerance{0.125, 0.0625} : Tolerance{};
  }
}

Result<uint32_t> tensorNamed(const launch::Launch& launch, const std::string& name) {
  std::vector<std::string> tensors;
  for (uint32_t i = 0; i < launch.arguments.size(); ++i) {
    const launch::Argument& a = launch.arguments[i];
    if (a.kind != launch::Argument::Kind::Tensor && a.kind != launch::Argument::Kind::Descriptor) continue;
    if (a.name == name) return i;
    tensors.push_back(a.name);
  }
  return failure(Diagnostic{{}, 0, 0, fmt::format("the kernel has no tensor \"{}\"", name), fmt::format("its tensors are {}", fmt::join(tensors, ", "))});
}

Result<Writer> writerOf(const Values& values, uint32_t argument, const std::vector<int64_t>& index) {
  const launch::Launch& launch = values.launch();
  const launch::View& view = launch.arguments[argument].view;
  const exec::LaunchMemory memory(launch);
  int64_t address = memory.view(static_cast<int32_t>(argument))->address;
  for (size_t d = 0; d < index.size(); ++d) address += index[d] * view.strides[d] * static_cast<int64_t>(ir::elementBytes(view.element));
  // Addresses alone, where they do not depend on what programs store.
  auto writers = writersOf(values.kernel(), launch, address, static_cast<int64_t>(ir::elementBytes(view.element)), !values.needsReads());
  if (!writers) return failure(std::move(writers).error());
  Writer writer;
  writer.programs = writers->programs;
  if (const int64_t last = writers->last; last >= 0)
    writer.program = {last % launch.grid[0], last / launch.grid[0] % launch.grid[1], last / (launch.grid[0] * launch.grid[1])};
  return writer;
}

Result<Written> sliceOfElement(const Values& values, uint32_t argument, const std::vector<int64_t>& index) {
  const launch::Argument& a = values.launch().arguments[argument];
  if (index.size() != a.view.shape.size())
    return failure(fmt::format("{} has the shape ({}), and the index [{}] has {} of its {} numbers", a.name, fmt::join(a.view.shape, ", "), fmt::join(index, ", "), index.size(), a.view.shape.size()));
  for (size_t d = 0; d < index.size(); ++d)
    if (index[d] < 0 || index[d] >= a.view.shape[d])
      return failure(fmt::format("{} has no element [{}]: its shape is ({})", a.name, fmt::join(index, ", "), fmt::join(a.view.shape, ", ")));
  auto writer = writerOf(values, argument, index);
  if (!writer) return failure(std::move(writer).error());
  if (!writer->program) return failure(fmt::format("no program writes {}[{}]: it is what it was before the launch", a.name, fmt::join(index, ", ")));
  return followStore(values, *writer->program, argument, index);
}

Status sameShape(const launch::Argument& tensor, const std::vector<int64_t>& shape) {
  if (shape == tensor.view.shape) return {};
  return failure(fmt::format("{} has the shape ({}), the expected array ({})", tensor.name, fmt::join(tensor.view.shape, ", "), fmt::join(shape, ", ")));
}

Result<Mismatch> differences(const launch::Launch& launch, uint32_t argument, const Expected& expected, std::optional<Tolerance> tolerance) {
  const launch::Argument& a = launch.arguments[argument];
  const launch::View& view = a.view;
  TS_CHECK(sameShape(a, expected.shape));
  Mismatch mismatch;
  mismatch.name = a.name;
  mismatch.shape = view.shape;
  mismatch.tolerance = tolerance.value_or(toleranceOf(view.element));
  mismatch.elements = static_cast<int64_t>(expected.numbers.size());
  std::vector<int64_t> wrong, index(view.shape.size());
  for (int64_t i = 0; i < mismatch.elements; ++i) {
    index = indexOfNumber(view.shape, i);
    const double actual = numberAt(view.element, elementAt(launch, view, index)), right = expected.numbers[static_cast<size_t>(i)];
    if (!differs(actual, right, mismatch.tolerance)) continue;
    const double error = std::abs(actual - right);
    if (std::isfinite(error) && error > mismatch.largestError) mismatch.largestError = error, mismatch.largestAt = index;
    wrong.push_back(i);
  }
  mismatch.wrong = static_cast<int64_t>(wrong.size());
  if (wrong.empty()) return mismatch;
  mismatch.wrongElements = regionOf(view.shape, wrong, 4);
  mismatch.index = indexOfNumber(view.shape, wrong.front());
  mismatch.actual = numberText(view.element, elementAt(launch, view, mismatch.index));
  mismatch.expected = numberText(expected.numbers[static_cast<size_t>(wrong.front())]);
  return mismatch;
}

Result<Mismatch> compare(const Values& values, uint32_t argument, const Expected& expected, std::optional<Tolerance> tolerance) {
  const launch::View& view = values.launch().arguments[argument].view;
  if (values.lost(view.storage))
    return failure(Diagnostic{{}, 0, 0,
                              fmt::format("tensor {} has changed since the launch, and what the launch found in it was not kept: it cannot be compared",
                                          values.launch().arguments[argument].name),
                              kAskBefore});
  auto after = values.after();
  if (!after) return failure(std::move(after).error());
  auto found = differences(**after, argument, expected, tolerance);
  if (!found || !found->wrong) return found;
  Mismatch mismatch = std::move(*found);
  auto writer = writerOf(values, argument, mismatch.index);
  if (!writer) return failure(std::move(writer).error());
  mismatch.writers = writer->programs;
  mismatch.written = writer->program.has_value();
  if (!writer->program) {
    mismatch.before = numberText(view.element, elementAt(values.launch(), view, mismatch.index));
    return mismatch;
  }
  mismatch.program = *writer->program;
  auto store = followStore(values, *writer->program, argument, mismatch.index);
  if (!store) return failure(std::move(store).error());
  mismatch.store = std::move(*store);
  return mismatch;
}

}  // namespace tilesight::trace
