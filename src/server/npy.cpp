#include "server/npy.h"

#include <cstring>

#include <fmt/format.h>

#include "server/elements.h"

namespace tilesight::server {
namespace {

using ir::ElementKind;

struct Form {
  const char* dtype;
  bool asFloat;  // each element becomes a float32
};

Form formOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::F16: return {"<f2", false};
    case ElementKind::F32: case ElementKind::TF32: return {"<f4", false};
    case ElementKind::F64: return {"<f8", false};
    case ElementKind::I1: return {"|b1", false};
    default: break;
  }
  if (ir::isFloatKind(kind)) return {"<f4", true};
  switch (ir::elementBytes(kind)) {
    case 1: return {"|i1", false};
    case 2: return {"<i2", false};
    case 4: return {"<i4", false};
    default: return {"<i8", false};
  }
}

std::string header(const char* dtype, const std::vector<int64_t>& shape) {
  std::string dims;
  for (int64_t extent : shape) dims += fmt::format("{},", extent);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, dims);
  text.resize((text.size() + 11 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  std::string all("\x93NUMPY\x01\x00", 8);
  all += static_cast<char>(text.size() & 0xff);
  all += static_cast<char>(text.size() >> 8);
  return all + text;
}

}  // namespace

Result<std::string> npy(ElementKind kind, const std::vector<int64_t>& shape, const std::vector<uint8_t>& bytes) {
  const Form form = formOf(kind);
  const int64_t size = std::max<int64_t>(1, ir::elementBytes(kind)), count = static_cast<int64_t>(bytes.size()) / size;
  if (count * (form.asFloat ? 4 : size) > kMaxNpyBytes) return failure("the array is larger than 1 GiB");
  std::string all = header(form.dtype, shape);
  const size_t at = all.size();
  if (!form.asFloat) {
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all;
  }
  std::vector<double> values(static_cast<size_t>(count));
  numbersOf(kind, bytes.data(), count, size, values.data());
  all.resize(at + static_cast<size_t>(count) * 4);
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = static_cast<float>(values[i]);
    std::memcpy(all.data() + at + 4 * i, &value, sizeof value);
  }
  return all;
}

Result<std::string> npy(const launch::View& view, const launch::Storage& storage) {
  const int64_t size = std::max<int64_t>(1, ir::elementBytes(view.element));
  int64_t count = 1;
  for (int64_t extent : view.shape) count *= extent;
  if (count * size > kMaxNpyBytes) return failure("the array is larger than 1 GiB");
  std::vector<uint8_t> bytes(static_cast<size_t>(count * size));
  std::vector<int64_t> at(view.shape.size(), 0);
  const uint8_t* from = storage.data + view.offset;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(bytes.data() + i * size, from, static_cast<size_t>(size));
    for (size_t d = at.size(); d-- > 0;) {
      from += view.strides[d] * size;
      if (++at[d] < view.shape[d]) break;
      from -= view.strides[d] * size * at[d];
      at[d] = 0;
    }
  }
  return npy(view.element, view.shape, bytes);
}

}  // namespace tilesight::server
