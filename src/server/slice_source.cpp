#include "server/slice_source.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "server/elements.h"
#include "server/footprint.h"

namespace tilesight::server {
namespace {

class OfValues final : public SliceSource {
 public:
  OfValues(std::shared_ptr<const launch::Launch> owner, const uint8_t* first, ir::ElementKind kind)
      : owner_(std::move(owner)), first_(first), kind_(kind), bytes_(std::max<int64_t>(1, ir::elementBytes(kind))) {}
  void row(int64_t offset, int64_t stride, int64_t count, double* out) const override {
    numbersOf(kind_, first_ + offset * bytes_, count, stride * bytes_, out);
  }
  bool isValues() const override { return true; }

 private:
  std::shared_ptr<const launch::Launch> owner_;
  const uint8_t* first_;
  ir::ElementKind kind_;
  int64_t bytes_;
};

/// Actual against expected: how far they are apart, or 1 where that is beyond the tolerance.
class OfDifference final : public SliceSource {
 public:
  OfDifference(const Loaded& loaded, const launch::View& view, std::shared_ptr<const Expectation> expected, bool wrong)
      : view_(view), first_(loaded.surveyed()->after->storages[view.storage].data + view.offset), expected_(std::move(expected)), wrong_(wrong),
        tolerance_(trace::toleranceOf(view.element)) {
    int64_t step = 1;
    for (size_t d = view.shape.size(); d-- > 0; step *= view.shape[d]) rowMajor_ = rowMajor_ && view.strides[d] == step;
  }
  void row(int64_t offset, int64_t stride, int64_t count, double* out) const override {
    const int64_t bytes = std::max<int64_t>(1, ir::elementBytes(view_.element));
    numbersOf(view_.element, first_ + offset * bytes, count, stride * bytes, out);
    std::vector<int64_t> index;
    for (int64_t i = 0; i < count; ++i) {
      int64_t number = offset + i * stride;
      if (!rowMajor_) number = trace::indexInView(view_, number, &index) ? trace::rowMajorNumber(view_.shape, index) : -1;
      const double right = number >= 0 && number < static_cast<int64_t>(expected_->array.numbers.size()) ? expected_->array.numbers[static_cast<size_t>(number)] : out[i];
      if (wrong_) out[i] = trace::differs(out[i], right, tolerance_);
      else out[i] = out[i] == right || (std::isnan(out[i]) && std::isnan(right)) ? 0 : std::abs(out[i] - right);
    }
  }

 private:
  const launch::View& view_;
  const uint8_t* first_;
  std::shared_ptr<const Expectation> expected_;
  bool wrong_, rowMajor_ = true;  // in memory
  trace::Tolerance tolerance_;
};

/// What the survey counted; `of` makes the number from the map and the place in it.
template <typename Of>
class OfMap final : public SliceSource {
 public:
  /// `whole`: of all programs, whose pictures have the same margins. `owner`: of `map`; may be null.
  OfMap(std::shared_ptr<const Surveyed> owner, const ElementMap& map, const ElementMap& whole, int64_t low, Of of)
      : owner_(std::move(owner)), map_(map), whole_(whole), shift_(map.margin() - low), of_(of) {}
  void row(int64_t offset, int64_t stride, int64_t count, double* out) const override {
    int64_t at = offset + shift_;
    for (int64_t i = 0; i < count; ++i, at += stride) out[i] = of_(map_, at);
  }
  int64_t margin() const override { return whole_.outside() ? map_.margin() : 0; }
  uint64_t outside() const override { return map_.outside(); }
  int64_t cell() const override { return map_.cell(); }

 private:
  std::shared_ptr<const Surveyed> owner_;
  const ElementMap& map_;
  const ElementMap& whole_;
  int64_t shift_;
  Of of_;
};

template <typename Of>
std::unique_ptr<SliceSource> ofMap(const std::shared_ptr<const Surveyed>& owner, const ElementMap& map, const ElementMap& whole, int64_t low, Of of) {
  return std::make_unique<OfMap<Of>>(owner, map, whole, low, of);
}

/// How often some elements were touched; the others never.
class OfElements final : public SliceSource {
 public:
  void add(int64_t first, int64_t count, int64_t times) {
    runs_.push_back({first, first + count, static_cast<double>(times)});
    if (runs_.size() > 2 * sorted_ + kUnsorted) sort();
  }
  void finish(int64_t margin) {
    margin_ = margin;
    sort();
  }
  void row(int64_t offset, int64_t stride, int64_t count, double* out) const override {
    if (stride <= 0) {
      for (int64_t i = 0; i < count; ++i) out[i] = at(offset + i * stride);
      return;
    }
    std::fill(out, out + count, 0.0);
    const int64_t last = offset + (count - 1) * stride;
    auto run = from(offset);
    if (stride > 1 && from(last) - run > 4 * count) {  // more runs than elements: most lie between them
      for (int64_t i = 0; i < count; ++i) out[i] = at(offset + i * stride);
      return;
    }
    for (; run != runs_.end() && run->first <= last; ++run) {
      const int64_t i0 = (std::max(run->first, offset) - offset + stride - 1) / stride, i1 = (std::min(run->past - 1, last) - offset) / stride;
      for (int64_t i = i0; i <= i1; ++i) out[i] = run->times;
    }
  }
  int64_t margin() const override { return margin_; }
  bool anything(int64_t first, int64_t last) const override {
    const auto run = from(first);
    return run != runs_.end() && run->first <= last;
  }

 private:
  static constexpr size_t kUnsorted = 1 << 16;
  struct Run {
    int64_t first, past;
    double times;
  };
  /// The first run that ends behind the element.
  std::vector<Run>::const_iterator from(int64_t element) const {
    return std::partition_point(runs_.begin(), runs_.end(), [&](const Run& run) { return run.past <= element; });
  }
  double at(int64_t element) const {
    const auto run = from(element);
    return run != runs_.end() && run->first <= element ? run->times : 0;
  }
  /// Makes runs disjoint and ordered.
  void sort() {
    std::vector<std::pair<int64_t, double>> ends;
    ends.reserve(2 * runs_.size());
    for (const Run& run : runs_) ends.emplace_back(run.first, run.times), ends.emplace_back(run.past, -run.times);
    std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    runs_.clear();
    double times = 0;
    for (size_t i = 0; i < ends.size();) {
      const int64_t first = ends[i].first;
      for (; i < ends.size() && ends[i].first == first; ++i) times += ends[i].second;
      if (i == ends.size() || times == 0) continue;
      if (!runs_.empty() && runs_.back().past == first && runs_.back().times == times) runs_.back().past = ends[i].first;
      else runs_.push_back({first, ends[i].first, times});
    }
    sorted_ = runs_.size();
  }

  std::vector<Run> runs_;
  size_t sorted_ = 0;
  int64_t margin_ = 0;
};

/// The mean of a cell's elements.
double meanOf(const ElementMap& map, double accesses) { return accesses / static_cast<double>(map.cell()); }

}  // namespace

Result<std::unique_ptr<SliceSource>> sliceSource(const Loaded& loaded, const SliceRequest& request, const launch::View& view) {
  using Made = std::unique_ptr<SliceSource>;
  const std::string& layer = request.layer;
  if (layer == "before" || layer == "after") {
    const std::shared_ptr<const launch::Launch> owner = layer == "before" ? loaded.before : loaded.surveyed()->after;
    const launch::Storage& storage = owner->storages[view.storage];
    if (storage.withheld) return failure("the data of this tensor was not saved with the bundle");
    const uint8_t* first = storage.data + view.offset;
    return Made(std::make_unique<OfValues>(owner, first, view.element));
  }
  if (layer == "difference" || layer == "wrong") {
    if (!request.expected) return failure("nothing is expected of this tensor");
    if (loaded.launch().storages[view.storage].withheld) return failure("the data of this tensor was not saved with the bundle");
    return Made(std::make_unique<OfDifference>(loaded, view, request.expected, layer == "wrong"));
  }
  if (layer == "inputs") {
    if (request.of < 0) return failure("the inputs of which element?");
    auto written = loaded.written(static_cast<size_t>(request.of), request.element);
    if (!written) return failure(written.error());
    auto source = std::make_unique<OfElements>();
    for (const trace::Source& read : (*written)->slice.sources)
      if (read.argument == request.argument)
        for (int64_t offset : read.offsets) source->add(offset, 1, 1);
    source->finish(0);
    return Made(std::move(source));
  }
  std::shared_ptr<const Surveyed> part;
  if (!request.brush.empty() && layer != "program") {
    auto found = loaded.part(request.brush);
    if (!found) return failure(found.error());
    part = *found;
  }
  const ElementMap& map = loaded.surveyed()->survey->maps()[request.argument];
  if (layer == "program") {
    if (request.program < 0 || request.program >= loaded.programs()) return failure("there is no such program");
    auto source = std::make_unique<OfElements>();
    const Status status = footprint(loaded, {request.program}, [&](const Touch& touch) {
      if (touch.argument != static_cast<int32_t>(request.argument) || (request.op >= 0 && touch.op != request.op)) return;
      source->add(touch.first, touch.count, touch.times);
    });
    if (!status) return failure(status.error());
    source->finish(map.outside() ? map.margin() : 0);
    return Made(std::move(source));
  }
  const ElementMap& counted = part ? part->survey->maps()[request.argument] : map;
  if (!counted.counts()) return failure("accesses of this tensor are not counted: it is empty, or the launch has too many programs");
  if (counted.overflowed() && layer != "writer" && layer != "first") return failure("accesses of this tensor are not counted: one element has 2^32 or more");
  int64_t low = 0;
  for (size_t d = 0; d < view.shape.size(); ++d) low += std::min<int64_t>(0, (view.shape[d] - 1) * view.strides[d]);
  using Map = ElementMap;
  const auto accesses = [](const Map& m, int64_t i) { return static_cast<double>(m.reads(i)) + m.writes(i); };
  if (layer == "reads") return ofMap(part, counted, map, low, [](const Map& m, int64_t i) { return meanOf(m, m.reads(i)); });
  if (layer == "writes") return ofMap(part, counted, map, low, [](const Map& m, int64_t i) { return meanOf(m, m.writes(i)); });
  if (layer == "accesses") return ofMap(part, counted, map, low, [accesses](const Map& m, int64_t i) { return meanOf(m, accesses(m, i)); });
  if (layer == "untouched") return ofMap(part, counted, map, low, [accesses](const Map& m, int64_t i) { return accesses(m, i) == 0 ? 1.0 : 0.0; });
  if (layer == "rewritten") return ofMap(part, counted, map, low, [](const Map& m, int64_t i) { return std::max(0.0, meanOf(m, m.writes(i)) - 1); });
  if (layer == "writer") return ofMap(part, counted, map, low, [](const Map& m, int64_t i) { return static_cast<double>(m.writer(i)); });
  if (layer == "first") return ofMap(part, counted, map, low, [](const Map& m, int64_t i) { return static_cast<double>(m.first(i)); });
  return failure(fmt::format("there is no layer \"{}\"", layer));
}

}  // namespace tilesight::server
