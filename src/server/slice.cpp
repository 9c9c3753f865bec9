#include "server/slice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "ir/float_format.h"
#include "server/packed.h"

namespace tilesight::server {
namespace {

/// The number at `data`, whatever its kind; integers are signed.
double numberAt(const uint8_t* data, ir::ElementKind kind, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(bytes));
  if (ir::isFloatKind(kind)) return ir::bitsToFloat(bits, kind);
  if (kind == ir::ElementKind::I1) return bits ? 1 : 0;
  const int shift = static_cast<int>(64 - 8 * bytes);
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

struct Source {
  std::function<double(int64_t)> cell;  // by offset in elements from element [0,..,0]
  bool values = false;
};

Result<Source> sourceOf(const Loaded& loaded, const SliceRequest& request, const launch::View& view,
                        std::shared_ptr<const launch::Launch>& owner) {
  const int64_t bytes = std::max<int64_t>(1, ir::elementBytes(view.element));
  if (request.layer == "before" || request.layer == "after") {
    if (request.layer == "before") {
      auto before = loaded.before();
      if (!before) return failure(before.error());
      owner = *before;
    }
    const launch::Launch& launch = owner ? *owner : loaded.launch;
    const launch::Storage& storage = launch.storages[view.storage];
    if (storage.withheld) return failure("the data of this tensor was not saved with the bundle");
    const uint8_t* first = storage.data + view.offset;
    const ir::ElementKind kind = view.element;
    return Source{[=](int64_t at) { return numberAt(first + at * bytes, kind, bytes); }, true};
  }
  const ElementMap& map = loaded.survey->maps()[request.argument];
  if (!map.count) return failure("accesses of this tensor are not counted: it is empty or larger than the limit");
  int64_t low = 0;
  for (size_t d = 0; d < view.shape.size(); ++d) low += std::min<int64_t>(0, (view.shape[d] - 1) * view.strides[d]);
  auto count = [](const auto& counts, int64_t at) -> double {
    return counts.empty() ? 0 : static_cast<double>(counts[static_cast<size_t>(at)]);
  };
  const std::string& layer = request.layer;
  auto at = [&](auto how) { return Source{[&map, low, how](int64_t offset) { return how(map, offset - low); }}; };
  if (layer == "reads") return at([=](const ElementMap& m, int64_t i) { return count(m.reads, i); });
  if (layer == "writes") return at([=](const ElementMap& m, int64_t i) { return count(m.writes, i); });
  if (layer == "accesses") return at([=](const ElementMap& m, int64_t i) { return count(m.reads, i) + count(m.writes, i); });
  if (layer == "untouched") return at([=](const ElementMap& m, int64_t i) { return count(m.reads, i) + count(m.writes, i) == 0 ? 1.0 : 0.0; });
  if (layer == "rewritten") return at([=](const ElementMap& m, int64_t i) { return std::max(0.0, count(m.writes, i) - 1); });
  if (layer == "writer")
    return at([](const ElementMap& m, int64_t i) {
      return m.writer.empty() ? -1 : static_cast<double>(m.writer[static_cast<size_t>(i)] & ~kShared) - 1;
    });
  return failure(fmt::format("there is no layer \"{}\"", layer));
}

}  // namespace

Result<std::string> slice(const Loaded& loaded, const SliceRequest& request) {
  if (request.argument >= loaded.launch.arguments.size()) return failure("there is no such argument");
  const launch::Argument& argument = loaded.launch.arguments[request.argument];
  if (argument.kind != launch::Argument::Kind::Tensor) return failure("this argument is no tensor");
  const launch::View& view = argument.view;
  const int rank = static_cast<int>(view.shape.size());
  if (request.rows >= rank || request.columns >= rank || request.rows < -1 || request.columns < -1 ||
      (request.rows >= 0 && request.rows == request.columns))
    return failure("there is no such axis");
  std::shared_ptr<const launch::Launch> owner;
  auto source = sourceOf(loaded, request, view, owner);
  if (!source) return failure(source.error());

  int64_t fixed = 0;
  for (int d = 0; d < rank; ++d) {
    if (d == request.rows || d == request.columns) continue;
    const int64_t index = static_cast<size_t>(d) < request.at.size() ? request.at[static_cast<size_t>(d)] : 0;
    if (index < 0 || index >= std::max<int64_t>(1, view.shape[static_cast<size_t>(d)])) return failure("an index is outside the tensor");
    fixed += index * view.strides[static_cast<size_t>(d)];
  }
  const auto axis = [&](int d) { return d < 0 ? int64_t{1} : view.shape[static_cast<size_t>(d)]; };
  const auto stride = [&](int d) { return d < 0 ? int64_t{0} : view.strides[static_cast<size_t>(d)]; };
  int64_t rows = axis(request.rows), columns = axis(request.columns);
  const bool folded = rank == 1 && request.fold > 0 && request.columns == 0;
  const int64_t length = columns;
  if (folded) rows = (length + request.fold - 1) / request.fold, columns = request.fold;
  for (int64_t extent : view.shape)
    if (extent == 0) rows = columns = 0;

  const auto bound = [](int64_t value, int64_t end) { return std::clamp<int64_t>(value, 0, end); };
  const int64_t r0 = bound(request.row0, rows), r1 = request.row1 ? bound(request.row1, rows) : rows;
  const int64_t c0 = bound(request.column0, columns), c1 = request.column1 ? bound(request.column1, columns) : columns;
  const int64_t h = std::max<int64_t>(0, r1 - r0), w = std::max<int64_t>(0, c1 - c0);
  const int64_t maxHeight = std::clamp<int64_t>(request.height, 1, kMaxSide), maxWidth = std::clamp<int64_t>(request.width, 1, kMaxSide);
  const int64_t stepY = std::max<int64_t>(1, (h + maxHeight - 1) / maxHeight), stepX = std::max<int64_t>(1, (w + maxWidth - 1) / maxWidth);
  const int64_t height = h ? (h + stepY - 1) / stepY : 0, width = w ? (w + stepX - 1) / stepX : 0;

  const size_t cells = static_cast<size_t>(height * width);
  std::vector<double> total(cells, source->values ? 0 : -std::numeric_limits<double>::infinity());
  std::vector<uint32_t> counted(cells);
  std::vector<uint8_t> kind(cells, 4);
  std::vector<double> sample;
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t nan = 0, inf = 0, zero = 0, seen = 0;
  const int64_t every = std::max<int64_t>(1, h * w / 1000000);
  for (int64_t r = r0; r < r1; ++r) {
    const int64_t y = (r - r0) / stepY;
    for (int64_t c = c0; c < c1; ++c) {
      const int64_t flat = r * columns + c;
      if (folded && flat >= length) break;
      const int64_t offset = folded ? flat * stride(0) : fixed + r * stride(request.rows) + c * stride(request.columns);
      const double value = source->cell(offset);
      const size_t cell = static_cast<size_t>(y * width + (c - c0) / stepX);
      ++seen;
      if (std::isnan(value)) { ++nan; kind[cell] = 1; continue; }
      if (std::isinf(value)) { ++inf; if (kind[cell] != 1) kind[cell] = 2; continue; }
      if (kind[cell] == 4) kind[cell] = 0;
      zero += value == 0;
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
      if (seen % every == 0) sample.push_back(value);
      ++counted[cell];
      if (source->values) total[cell] += value;
      else total[cell] = std::max(total[cell], value);
    }
  }
  std::vector<float> value(cells);
  for (size_t i = 0; i < cells; ++i)
    value[i] = static_cast<float>(counted[i] ? (source->values ? total[i] / counted[i] : total[i]) : 0);
  std::vector<double> histogram(64);
  for (double v : sample)
    histogram[high > low ? std::min<size_t>(63, static_cast<size_t>((v - low) / (high - low) * 64)) : 0] += static_cast<double>(every);

  Packed packed;
  packed.add("value", {height, width}, value);
  packed.add("kind", {height, width}, kind);
  packed.add("histogram", {64}, histogram);
  const int64_t finite = seen - nan - inf;
  return packed.bytes(fmt::format(
      R"({{"rows":{},"columns":{},"window":[{},{},{},{}],"step":[{},{}],"min":{},"max":{},"mean":{},"nan":{},"inf":{},"zero":{},"elements":{}}})",
      rows, columns, r0, r1, c0, c1, stepY, stepX, finite ? low : 0, finite ? high : 0,
      finite ? sum / static_cast<double>(finite) : 0, nan, inf, zero, seen));
}

}  // namespace tilesight::server
