// The .npy files of numpy.
#include <cctype>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "ir/float_format.h"
#include "trace/expect.h"
#include "trace/picture.h"
#include "trace/region.h"

namespace tilesight::trace {

namespace {

tl::unexpected<Diagnostic> broken(const std::string& path, const std::string& what) {
  return failure(Diagnostic{path, 0, 0, what, "numpy.save writes such files"});
}

// What stands behind 'KEY': in the header's dict.
std::string_view entry(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  header.remove_prefix(at + key.size() + 3);
  while (!header.empty() && header[0] == ' ') header.remove_prefix(1);
  return header;
}

}  // namespace

Result<Expected> readNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(Diagnostic{path, 0, 0, "cannot be read", {}});
  return readNpy(file, path);
}

Result<Expected> readNpy(std::istream& file, const std::string& path) {
  uint8_t start[12] = {};
  file.read(reinterpret_cast<char*>(start), 10);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) return broken(path, "is no .npy file");
  size_t length = static_cast<size_t>(start[8]) | static_cast<size_t>(start[9]) << 8;
  if (start[6] >= 2) {
    file.read(reinterpret_cast<char*>(start + 10), 2);
    length |= static_cast<size_t>(start[10]) << 16 | static_cast<size_t>(start[11]) << 24;
  }
  if (length > 1 << 20) return broken(path, "has a header that is too long");
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) return broken(path, "ends in its header");
  const std::string_view type = entry(header, "descr"), order = entry(header, "fortran_order"), sizes = entry(header, "shape");
  if (type.size() < 5 || type[0] != '\'' || order.empty() || sizes.empty() || sizes[0] != '(') return broken(path, "has a header that cannot be read");
  const std::string name(type.substr(1, type.find('\'', 1) - 1));
  if (name.size() < 3 || name[0] == '>') return broken(path, fmt::format("holds {}: numbers of this machine's byte order are needed", name));
  using Kind = ir::ElementKind;
  const std::string plain = name.substr(1);
  const bool isUnsigned = plain[0] == 'u';
  const Kind kind = plain == "f8" ? Kind::F64 : plain == "f4" ? Kind::F32 : plain == "f2" ? Kind::F16 : plain == "b1" ? Kind::I1
                    : plain == "i1" || plain == "u1" ? Kind::I8 : plain == "i2" || plain == "u2" ? Kind::I16
                    : plain == "i4" || plain == "u4" ? Kind::I32 : plain == "i8" || plain == "u8" ? Kind::I64 : Kind::Invalid;
  if (kind == Kind::Invalid) return broken(path, fmt::format("holds {}: numbers are needed", name));
  Expected expected;
  int64_t count = 1;
  for (size_t i = 1; i < sizes.size() && sizes[i] != ')'; ++i) {
    if (!std::isdigit(static_cast<unsigned char>(sizes[i]))) continue;
    int64_t size = 0;
    for (; i < sizes.size() && std::isdigit(static_cast<unsigned char>(sizes[i])); ++i)
      if (size > int64_t{1} << 40) return broken(path, "has a shape that is too large");
      else size = size * 10 + (sizes[i] - '0');
    --i;
    expected.shape.push_back(size);
    if (size && count > (int64_t{1} << 40) / size) return broken(path, "has a shape that is too large");
    count *= size;
  }
  const std::streamoff from = file.tellg();
  file.seekg(0, std::ios::end);
  const uint32_t bytes = ir::elementBytes(kind);
  if (file.tellg() - from < count * static_cast<int64_t>(bytes)) return broken(path, "is shorter than its shape says");
  file.seekg(from);
  std::vector<uint8_t> data(static_cast<size_t>(count) * bytes);
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
  expected.numbers.resize(static_cast<size_t>(count));
  const bool columnsFirst = order.starts_with("True");
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i;
    if (columnsFirst) {
      const std::vector<int64_t> index = indexOfNumber(expected.shape, i);
      at = 0;
      for (size_t d = index.size(); d-- > 0;) at = at * expected.shape[d] + index[d];
    }
    const uint8_t* element = data.data() + static_cast<size_t>(at) * bytes;
    double number = numberAt(kind, element);
    if (isUnsigned && number < 0) number += bytes == 8 ? 18446744073709551616.0 : static_cast<double>(uint64_t{1} << (8 * bytes));
    expected.numbers[static_cast<size_t>(i)] = number;
  }
  return expected;
}

}  // namespace tilesight::trace
