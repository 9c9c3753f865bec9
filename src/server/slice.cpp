#include "server/slice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "server/packed.h"
#include "server/slice_source.h"

namespace tilesight::server {
namespace {

constexpr int64_t kMarginRows = 8, kSamples = 1000000;

/// How rows and columns of the picture lie in the tensor.
struct Plane {
  int64_t rows = 1, columns = 1;
  int64_t fixed = 0, rowStride = 0, columnStride = 0;  // in elements
  int64_t length = 0;       // of a folded tensor
  bool folded = false;
  int64_t above = 0, below = 0;  // rows of the margin
  int64_t low = 0, high = 0;     // the tensor's elements lie between these offsets, ends included

  int64_t offset(int64_t row, int64_t column) const {
    return folded ? (row * columns + column) * columnStride : fixed + row * rowStride + column * columnStride;
  }
  bool inside(int64_t row, int64_t column) const {
    return row >= 0 && row < rows && (!folded || row * columns + column < length);
  }
};

Result<Plane> planeOf(const SliceRequest& request, const launch::View& view) {
  const int rank = static_cast<int>(view.shape.size());
  if (request.rows >= rank || request.columns >= rank || request.rows < -1 || request.columns < -1 ||
      (request.rows >= 0 && request.rows == request.columns))
    return failure("there is no such axis");
  Plane plane;
  for (int d = 0; d < rank; ++d) {
    const int64_t reach = (view.shape[static_cast<size_t>(d)] - 1) * view.strides[static_cast<size_t>(d)];
    (reach < 0 ? plane.low : plane.high) += reach;
    if (d == request.rows || d == request.columns) continue;
    const int64_t index = static_cast<size_t>(d) < request.at.size() ? request.at[static_cast<size_t>(d)] : 0;
    if (index < 0 || index >= std::max<int64_t>(1, view.shape[static_cast<size_t>(d)])) return failure("an index is outside the tensor");
    plane.fixed += index * view.strides[static_cast<size_t>(d)];
  }
  if (request.rows >= 0) plane.rows = view.shape[static_cast<size_t>(request.rows)], plane.rowStride = view.strides[static_cast<size_t>(request.rows)];
  if (request.columns >= 0)
    plane.columns = view.shape[static_cast<size_t>(request.columns)], plane.columnStride = view.strides[static_cast<size_t>(request.columns)];
  plane.length = plane.columns;
  plane.folded = rank == 1 && request.fold > 0 && request.columns == 0;
  if (plane.folded) plane.rows = (plane.length + request.fold - 1) / request.fold, plane.columns = request.fold;
  for (int64_t extent : view.shape)
    if (extent == 0) plane.rows = plane.columns = plane.length = 0;
  return plane;
}

/// Rows before the tensor's first element and behind its last one: only where rows go on in memory.
void addMargin(Plane& plane, int64_t margin) {
  if (!margin || !plane.rows || !plane.columns || (!plane.folded && plane.rowStride < plane.columnStride) || plane.columnStride < 0) return;
  const int64_t step = plane.folded ? plane.columns * plane.columnStride : plane.rowStride;
  if (step <= 0) return;
  const int64_t most = std::min(kMarginRows, std::max<int64_t>(1, margin / step));
  if (plane.offset(-1, plane.columns - 1) < plane.low) plane.above = most;
  if (plane.offset(plane.rows, 0) > plane.high) plane.below = most;
}

class Aggregate {
 public:
  Aggregate(size_t cells, bool values, int64_t elements)
      : values_(values), every_(std::max<int64_t>(1, elements / kSamples)), total_(cells, values ? 0 : -std::numeric_limits<double>::infinity()),
        counted_(cells), kind_(cells, 4) {}

  void add(size_t cell, double value) {
    ++seen;
    if (std::isnan(value)) { ++nan; kind_[cell] = 1; return; }
    if (std::isinf(value)) { ++inf; if (kind_[cell] != 1) kind_[cell] = 2; return; }
    if (kind_[cell] == 4) kind_[cell] = 0;
    zero += value == 0;
    sum += value;
    low = std::min(low, value);
    high = std::max(high, value);
    if (seen % every_ == 0) sample_.push_back(value);
    ++counted_[cell];
    if (values_) total_[cell] += value;
    else total_[cell] = std::max(total_[cell], value);
  }
  /// A row of elements whose numbers are 0, `step` in a cell.
  void addZeros(size_t cell, int64_t count, int64_t step) {
    sample_.resize(sample_.size() + static_cast<size_t>((seen + count) / every_ - seen / every_));
    seen += count, zero += count;
    low = std::min(low, 0.0), high = std::max(high, 0.0);
    for (; count > 0; count -= step, ++cell) {
      if (kind_[cell] == 4) kind_[cell] = 0;
      counted_[cell] += static_cast<uint32_t>(std::min(count, step));
      if (!values_) total_[cell] = std::max(total_[cell], 0.0);
    }
  }
  /// Outside of the tensor: shown if it was accessed, and not counted.
  void addOutside(size_t cell, double value) {
    if (value > 0 && (kind_[cell] == 4 || kind_[cell] == 5)) kind_[cell] = 5, total_[cell] = std::max(values_ ? 0 : total_[cell], value), counted_[cell] = 1;
  }

  std::string packed(const Plane& plane, const int64_t (&window)[4], int64_t stepY, int64_t stepX, int64_t height, int64_t width, const SliceSource& source) const {
    std::vector<float> value(kind_.size());
    for (size_t i = 0; i < value.size(); ++i)
      value[i] = static_cast<float>(counted_[i] ? (values_ ? total_[i] / counted_[i] : total_[i]) : 0);
    std::vector<double> histogram(64);
    for (double v : sample_)
      histogram[high > low ? std::min<size_t>(63, static_cast<size_t>((v - low) / (high - low) * 64)) : 0] += static_cast<double>(every_);
    Packed out;
    out.add("value", {height, width}, value);
    out.add("kind", {height, width}, kind_);
    out.add("histogram", {64}, histogram);
    const int64_t finite = seen - nan - inf;
    const std::string bounds = plane.above || plane.below ? fmt::format(R"(,"bounds":[{},{}])", plane.rows, plane.columns) : "";
    return out.bytes(fmt::format(
        R"({{"rows":{},"columns":{},"window":[{},{},{},{}],"step":[{},{}],"min":{},"max":{},"mean":{},"nan":{},"inf":{},"zero":{},"elements":{},"outside":{},"cell":{}{}}})",
        plane.rows, plane.columns, window[0], window[1], window[2], window[3], stepY, stepX, finite ? low : 0, finite ? high : 0,
        finite ? sum / static_cast<double>(finite) : 0, nan, inf, zero, seen, source.outside(), source.cell(), bounds));
  }

  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t nan = 0, inf = 0, zero = 0, seen = 0;

 private:
  bool values_;
  int64_t every_;
  std::vector<double> total_, sample_;
  std::vector<uint32_t> counted_;
  std::vector<uint8_t> kind_;
};

}  // namespace

Result<std::string> slice(const Loaded& loaded, const SliceRequest& request) {
  if (request.argument >= loaded.launch().arguments.size()) return failure("there is no such argument");
  const launch::Argument& argument = loaded.launch().arguments[request.argument];
  if (argument.kind != launch::Argument::Kind::Tensor) return failure("this argument is no tensor");
  auto plane = planeOf(request, argument.view);
  if (!plane) return failure(plane.error());
  auto source = sliceSource(loaded, request, argument.view);
  if (!source) return failure(source.error());
  const int64_t margin = (*source)->margin();
  addMargin(*plane, margin);

  const auto bound = [](int64_t value, int64_t from, int64_t end) { return std::clamp<int64_t>(value, from, end); };
  const int64_t r0 = request.row0 ? bound(request.row0, -plane->above, plane->rows) : -plane->above;
  const int64_t r1 = request.row1 ? bound(request.row1, 0, plane->rows + plane->below) : plane->rows + plane->below;
  const int64_t c0 = bound(request.column0, 0, plane->columns), c1 = request.column1 ? bound(request.column1, 0, plane->columns) : plane->columns;
  const int64_t h = std::max<int64_t>(0, r1 - r0), w = std::max<int64_t>(0, c1 - c0);
  const int64_t maxHeight = std::clamp<int64_t>(request.height, 1, kMaxSide), maxWidth = std::clamp<int64_t>(request.width, 1, kMaxSide);
  const int64_t stepY = std::max<int64_t>(1, (h + maxHeight - 1) / maxHeight), stepX = std::max<int64_t>(1, (w + maxWidth - 1) / maxWidth);
  const int64_t height = h ? (h + stepY - 1) / stepY : 0, width = w ? (w + stepX - 1) / stepX : 0;

  Aggregate cells(static_cast<size_t>(height * width), (*source)->isValues(), h * w);
  std::vector<double> row(static_cast<size_t>(w));
  for (int64_t r = r0; r < r1 && w; ++r) {
    const size_t first = static_cast<size_t>((r - r0) / stepY * width);
    // In the margin only what the source has numbers of.
    int64_t from = c0, past = c1;
    if (!plane->inside(r, c0) || !plane->inside(r, c1 - 1)) {
      const int64_t lowest = plane->low - margin, highest = plane->high + margin;
      while (from < past && plane->offset(r, from) < lowest) ++from;
      while (past > from && plane->offset(r, past - 1) > highest) --past;
    }
    if (from >= past) continue;
    if (past - from == w && plane->inside(r, c0) && plane->inside(r, c1 - 1) && plane->columnStride >= 0 &&
        !(*source)->anything(plane->offset(r, c0), plane->offset(r, c1 - 1))) {
      cells.addZeros(first, w, stepX);
      continue;
    }
    (*source)->row(plane->offset(r, from), plane->columnStride, past - from, row.data());
    int64_t x = (from - c0) / stepX, left = stepX - (from - c0) % stepX;
    for (int64_t c = from; c < past; ++c) {
      const size_t cell = first + static_cast<size_t>(x);
      if (plane->inside(r, c)) cells.add(cell, row[static_cast<size_t>(c - from)]);
      else cells.addOutside(cell, row[static_cast<size_t>(c - from)]);
      if (--left == 0) ++x, left = stepX;
    }
  }
  return cells.packed(*plane, {r0, r1, c0, c1}, stepY, stepX, height, width, **source);
}

}  // namespace tilesight::server
