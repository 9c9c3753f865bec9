#include "server/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "ir/float_format.h"

namespace tilesight::server {
namespace {

using ir::ElementKind;

template <typename T>
void each(const uint8_t* data, int64_t count, int64_t stride, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * stride, sizeof value);
    out[i] = static_cast<double>(value);
  }
}

/// Floats of one or two bytes: every pattern's value.
template <typename T>
void table(ElementKind kind, const uint8_t* data, int64_t count, int64_t stride, double* out) {
  static std::array<std::vector<double>, 64> tables;
  static std::array<std::once_flag, 64> made;
  std::vector<double>& values = tables[static_cast<size_t>(kind)];
  std::call_once(made[static_cast<size_t>(kind)], [&] {
    values.resize(size_t{1} << (8 * sizeof(T)));
    for (size_t bits = 0; bits < values.size(); ++bits) values[bits] = ir::bitsToFloat(bits, kind);
  });
  for (int64_t i = 0; i < count; ++i) {
    T bits;
    std::memcpy(&bits, data + i * stride, sizeof bits);
    out[i] = values[bits];
  }
}

}  // namespace

void numbersOf(ElementKind kind, const uint8_t* data, int64_t count, int64_t stride, double* out) {
  const uint32_t bytes = ir::elementBytes(kind);
  if (kind == ElementKind::F32) return each<float>(data, count, stride, out);
  if (kind == ElementKind::F64) return each<double>(data, count, stride, out);
  if (ir::isFloatKind(kind) && bytes == 1) return table<uint8_t>(kind, data, count, stride, out);
  if (ir::isFloatKind(kind) && bytes == 2) return table<uint16_t>(kind, data, count, stride, out);
  if (kind == ElementKind::TF32) return each<float>(data, count, stride, out);
  if (kind == ElementKind::I1) {
    for (int64_t i = 0; i < count; ++i) out[i] = data[i * stride] & 1;
    return;
  }
  if (kind == ElementKind::Pointer) return each<uint64_t>(data, count, stride, out);
  switch (bytes) {
    case 1: return each<int8_t>(data, count, stride, out);
    case 2: return each<int16_t>(data, count, stride, out);
    case 4: return each<int32_t>(data, count, stride, out);
    case 8: return each<int64_t>(data, count, stride, out);
    case 16: return each<int64_t>(data, count, stride, out);  // the low half
    default: std::fill(out, out + count, std::numeric_limits<double>::quiet_NaN());
  }
}

std::string elementText(ElementKind kind, const uint8_t* data) {
  if (kind == ElementKind::I1) return *data & 1 ? "true" : "false";
  if (kind == ElementKind::F32) {
    float value;
    std::memcpy(&value, data, sizeof value);
    return fmt::format("{}", value);
  }
  if (kind == ElementKind::Pointer || (ir::isIntegerKind(kind) && ir::elementBytes(kind) == 8)) {
    int64_t value;
    std::memcpy(&value, data, sizeof value);
    return kind == ElementKind::Pointer ? fmt::format("{:#x}", static_cast<uint64_t>(value)) : std::to_string(value);
  }
  double value = 0;
  numbersOf(kind, data, 1, 0, &value);
  return fmt::format("{}", value);
}

Statistics statisticsOf(const double* values, int64_t count) {
  Statistics s;
  s.elements = count;
  double low = INFINITY, high = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double v = values[i];
    if (std::isnan(v)) { ++s.nan; continue; }
    if (std::isinf(v)) { ++s.inf; continue; }
    s.zero += v == 0;
    sum += v;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (s.finite()) s.min = low, s.max = high, s.mean = sum / static_cast<double>(s.finite());
  return s;
}

const char* familyOf(ElementKind kind) {
  if (kind == ElementKind::I1) return "bool";
  if (kind == ElementKind::Pointer) return "pointer";
  if (ir::isFloatKind(kind)) return "float";
  return ir::isIntegerKind(kind) ? "int" : "none";
}

}  // namespace tilesight::server
