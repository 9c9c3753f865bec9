#include "diff/elements.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ir/float_format.h"

namespace tilesight::diff {

namespace {

uint64_t bitsOf(const launch::View& view, const uint8_t* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, std::min<size_t>(8, ir::elementBytes(view.element)));
  return bits;
}

bool isSigned(const launch::View& view) { return !view.dtype.starts_with("uint") && view.dtype != "bool"; }

int64_t integer(const launch::View& view, uint64_t bits) {
  const unsigned width = 8 * ir::elementBytes(view.element);
  if (!isSigned(view) || width >= 64) return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

/// Position of a float among all values of its type, so that neighbours differ by 1.
int64_t rank(uint64_t bits, uint32_t width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

}  // namespace

int64_t elementsOf(const launch::View& view) {
  int64_t count = 1;
  for (int64_t size : view.shape) count *= std::max<int64_t>(0, size);
  return count;
}

Cursor::Cursor(const launch::View& view)
    : view_(view), bytes_(ir::elementBytes(view.element)), offset_(view.offset), index_(view.shape.size(), 0) {}

void Cursor::next() {
  for (size_t d = index_.size(); d-- > 0;) {
    offset_ += view_.strides[d] * bytes_;
    if (++index_[d] < view_.shape[d]) return;
    offset_ -= view_.strides[d] * bytes_ * view_.shape[d];
    index_[d] = 0;
  }
}

Difference difference(const launch::View& view, const uint8_t* a, const uint8_t* b) {
  const size_t bytes = ir::elementBytes(view.element);
  if (std::memcmp(a, b, bytes) == 0) return {};
  Difference result{false, 0, -1};
  const uint64_t left = bitsOf(view, a), right = bitsOf(view, b);
  if (!ir::isFloatKind(view.element)) {
    if (bytes <= 8) {
      const int64_t x = integer(view, left), y = integer(view, right);
      result.absolute = std::fabs(isSigned(view) ? static_cast<double>(x) - static_cast<double>(y)
                                                 : static_cast<double>(static_cast<uint64_t>(x)) - static_cast<double>(static_cast<uint64_t>(y)));
    }
    return result;
  }
  const double x = ir::bitsToFloat(left, view.element), y = ir::bitsToFloat(right, view.element);
  if (std::isnan(x) && std::isnan(y)) return {};
  result.absolute = std::fabs(x - y);
  if (!std::isnan(x) && !std::isnan(y)) {
    const uint32_t width = ir::floatWidth(view.element);
    result.ulp = std::abs(rank(left, width) - rank(right, width));
  }
  return result;
}

std::string valueText(const launch::View& view, const uint8_t* at) {
  const uint64_t bits = bitsOf(view, at);
  if (ir::isFloatKind(view.element)) {
    const double value = ir::bitsToFloat(bits, view.element);
    if (std::isnan(value)) return fmt::format("nan ({:#x})", bits);
    return view.element == ir::ElementKind::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  }
  if (ir::elementBytes(view.element) > 8) return fmt::format("{:#x}...", bits);
  return isSigned(view) ? fmt::format("{}", integer(view, bits)) : fmt::format("{}", bits);
}

}  // namespace tilesight::diff
