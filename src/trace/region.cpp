#include "trace/region.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "findings/format.h"

namespace tilesight::trace {

int64_t Box::count() const {
  int64_t count = 1;
  for (size_t d = 0; d < first.size(); ++d) count *= past[d] - first[d];
  return count;
}

std::string Box::text() const {
  std::string text;
  for (size_t d = 0; d < first.size(); ++d) {
    if (d) text += ", ";
    text += past[d] - first[d] == 1 ? fmt::format("{}", first[d]) : fmt::format("{}:{}", first[d], past[d]);
  }
  return text;
}

std::string Region::text(const std::string& name) const {
  if (!count) return "no element of " + name;
  if (!boxes.empty() && boxes[0].first.empty()) return name;
  std::string text;
  for (const Box& box : boxes) text += fmt::format("{}{}[{}]", text.empty() ? "" : ", ", name, box.text());
  return exact ? text : fmt::format("{} within {}", findings::counted(count, "element"), text);
}

int64_t rowMajorNumber(const std::vector<int64_t>& shape, const std::vector<int64_t>& index) {
  int64_t number = 0;
  for (size_t d = 0; d < shape.size(); ++d) number = number * shape[d] + index[d];
  return number;
}

std::vector<int64_t> indexOfNumber(const std::vector<int64_t>& shape, int64_t number) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = number % std::max<int64_t>(shape[d], 1);
    number /= std::max<int64_t>(shape[d], 1);
  }
  return index;
}

Region regionOf(const std::vector<int64_t>& shape, const std::vector<int64_t>& elements, size_t limit) {
  Region region;
  region.count = static_cast<int64_t>(elements.size());
  if (elements.empty()) return region;
  const size_t rank = shape.size();
  const int64_t row = rank ? shape[rank - 1] : 1;
  Box around{indexOfNumber(shape, elements.front()), {}};
  around.past = around.first;
  for (int64_t& p : around.past) ++p;
  std::vector<Box> boxes;  // runs along the last axis first
  for (size_t i = 0; i < elements.size();) {
    size_t end = i + 1;
    while (end < elements.size() && elements[end] == elements[end - 1] + 1 && elements[end] % row != 0) ++end;
    Box box{indexOfNumber(shape, elements[i]), {}};
    box.past = box.first;
    for (int64_t& p : box.past) ++p;
    if (rank) box.past[rank - 1] += static_cast<int64_t>(end - i) - 1;
    for (size_t d = 0; d < rank; ++d) {
      around.first[d] = std::min(around.first[d], box.first[d]);
      around.past[d] = std::max(around.past[d], box.past[d]);
    }
    boxes.push_back(std::move(box));
    i = end;
  }
  // Boxes that differ along one axis only, and meet there, are one.
  for (size_t axis = rank; axis-- > 0;) {
    if (axis + 1 == rank) continue;
    std::map<std::vector<int64_t>, size_t> last;  // the other axes' extents -> the box that may grow
    std::vector<Box> merged;
    for (Box& box : boxes) {
      std::vector<int64_t> key;
      for (size_t d = 0; d < rank; ++d)
        if (d != axis) key.push_back(box.first[d]), key.push_back(box.past[d]);
      const auto found = last.find(key);
      if (found != last.end() && merged[found->second].past[axis] == box.first[axis]) {
        merged[found->second].past[axis] = box.past[axis];
        continue;
      }
      last[key] = merged.size();
      merged.push_back(std::move(box));
    }
    boxes = std::move(merged);
  }
  region.exact = boxes.size() <= limit;
  if (region.exact) region.boxes = std::move(boxes);
  else region.boxes = {std::move(around)};
  return region;
}

bool indexInView(const launch::View& view, int64_t offset, std::vector<int64_t>* index) {
  const size_t rank = view.shape.size();
  index->assign(rank, 0);
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(view.strides[a]) > std::abs(view.strides[b]); });
  for (size_t d = 0; d < rank; ++d) {
    if (view.shape[d] == 0) return false;
    if (view.strides[d] < 0) offset -= (view.shape[d] - 1) * view.strides[d];
  }
  bool inside = true, outermost = true;
  for (size_t d : order) {
    const int64_t stride = std::abs(view.strides[d]);
    if (stride == 0 || view.shape[d] == 1) continue;
    int64_t i = offset >= 0 ? offset / stride : -((-offset + stride - 1) / stride);
    if (!outermost) i = std::min(i, view.shape[d] - 1);
    outermost = false;
    inside = inside && i >= 0 && i < view.shape[d];
    offset -= i * stride;
    (*index)[d] = view.strides[d] > 0 ? i : view.shape[d] - 1 - i;
  }
  return inside && offset == 0;
}

Region regionOfView(const launch::View& view, std::vector<int64_t> offsets, int64_t* outside, size_t limit) {
  std::vector<int64_t> numbers, index;
  numbers.reserve(offsets.size());
  *outside = 0;
  for (int64_t offset : offsets) {
    if (indexInView(view, offset, &index)) numbers.push_back(rowMajorNumber(view.shape, index));
    else ++*outside;
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return regionOf(view.shape, numbers, limit);
}

}  // namespace tilesight::trace
