// The .npy files of numpy.
#include <algorithm>
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

using Kind = ir::ElementKind;

constexpr int64_t kMost = int64_t{1} << 40;  // elements

tl::unexpected<Diagnostic> broken(const std::string& path, const std::string& what) {
  return failure(Diagnostic{path, 0, 0, what, "numpy.save writes such files"});
}

tl::unexpected<Diagnostic> noNumbers(const std::string& path, const std::string& what) {
  return failure(Diagnostic{path, 0, 0, fmt::format("holds {}: integers, floats or bools are needed", what), {}});
}

// What stands behind 'KEY': in the header's dict.
std::string_view entry(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  header.remove_prefix(at + key.size() + 3);
  while (!header.empty() && header[0] == ' ') header.remove_prefix(1);
  return header;
}

struct Header {
  std::string dtype;  // "<f4"
  Kind kind = Kind::Invalid;
  bool isUnsigned = false, columnsFirst = false;
  std::vector<int64_t> shape;
  int64_t count = 1;
};

// "(4, 8)", "(3,)", "()"
bool parseShape(std::string_view text, Header& header) {
  if (text.empty() || text[0] != '(') return false;
  size_t i = 1;
  for (; i < text.size() && text[i] != ')'; ++i) {
    if (text[i] == ' ' || text[i] == ',' || text[i] == 'L') continue;  // 4L is of Python 2
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return false;
    int64_t size = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++i) size = std::min(kMost + 1, size * 10 + (text[i] - '0'));
    --i;
    header.shape.push_back(size);
    header.count = size && header.count > kMost / size ? kMost + 1 : header.count * size;
  }
  return i < text.size();
}

Result<Header> readHeader(std::istream& file, const std::string& path) {
  uint8_t start[12] = {};
  file.read(reinterpret_cast<char*>(start), 10);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) return broken(path, "is no .npy file");
  if (start[6] < 1 || start[6] > 3) return broken(path, fmt::format("is of version {} of the format: 1 to 3 can be read", start[6]));
  size_t length = static_cast<size_t>(start[8]) | static_cast<size_t>(start[9]) << 8;
  if (start[6] >= 2) {
    file.read(reinterpret_cast<char*>(start + 10), 2);
    length |= static_cast<size_t>(start[10]) << 16 | static_cast<size_t>(start[11]) << 24;
  }
  if (length > 1 << 20) return broken(path, "has a header that is too long");
  std::string text(length, '\0');
  file.read(text.data(), static_cast<std::streamsize>(length));
  if (!file) return broken(path, "ends in its header");
  const std::string_view type = entry(text, "descr"), order = entry(text, "fortran_order");
  if (type.starts_with('[')) return noNumbers(path, "records of several fields");
  const size_t end = type.find('\'', 1);
  Header header;
  header.columnsFirst = order.starts_with("True");
  if (!type.starts_with('\'') || end == type.npos || end < 3 || !(header.columnsFirst || order.starts_with("False")) ||
      !parseShape(entry(text, "shape"), header))
    return broken(path, "has a header that cannot be read");
  header.dtype = type.substr(1, end - 1);
  if (!std::all_of(header.dtype.begin() + 1, header.dtype.end(), [](unsigned char c) { return std::isalnum(c) != 0; }))
    return broken(path, "has a header that cannot be read");
  const std::string plain = header.dtype.substr(1);
  if (plain[0] == 'O') return noNumbers(path, "Python objects");
  if (header.dtype[0] == '>')
    return failure(Diagnostic{path, 0, 0, fmt::format("holds {}: numbers of this machine's byte order are needed", header.dtype),
                              fmt::format("numpy's astype(\"<{}\") converts them", plain)});
  header.isUnsigned = plain[0] == 'u';
  header.kind = plain == "f8" ? Kind::F64 : plain == "f4" ? Kind::F32 : plain == "f2" ? Kind::F16 : plain == "b1" ? Kind::I1
                : plain == "i1" || plain == "u1" ? Kind::I8 : plain == "i2" || plain == "u2" ? Kind::I16
                : plain == "i4" || plain == "u4" ? Kind::I32 : plain == "i8" || plain == "u8" ? Kind::I64 : Kind::Invalid;
  if (header.kind == Kind::Invalid) return noNumbers(path, header.dtype);
  if (header.count > kMost) return broken(path, "has a shape that is too large");
  return header;
}

}  // namespace

Result<Expected> readNpy(const std::string& path, const FitsShape& fits) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(Diagnostic{path, 0, 0, "cannot be read", {}});
  return readNpy(file, path, fits);
}

Result<Expected> readNpy(std::istream& file, const std::string& path, const FitsShape& fits) {
  auto header = readHeader(file, path);
  if (!header) return failure(std::move(header).error());
  TS_CHECK(fits(header->shape));
  const int64_t count = header->count;
  const std::streamoff from = file.tellg();
  file.seekg(0, std::ios::end);
  const uint32_t bytes = ir::elementBytes(header->kind);
  if (file.tellg() - from < count * static_cast<int64_t>(bytes)) return broken(path, "is shorter than its shape says");
  file.seekg(from);
  std::vector<uint8_t> data(static_cast<size_t>(count) * bytes);
  if (!file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size())))
    return failure(Diagnostic{path, 0, 0, "cannot be read to its end", {}});
  Expected expected;
  expected.shape = std::move(header->shape);
  expected.numbers.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i;
    if (header->columnsFirst) {
      const std::vector<int64_t> index = indexOfNumber(expected.shape, i);
      at = 0;
      for (size_t d = index.size(); d-- > 0;) at = at * expected.shape[d] + index[d];
    }
    const uint8_t* element = data.data() + static_cast<size_t>(at) * bytes;
    double number = numberAt(header->kind, element);
    if (header->isUnsigned && number < 0) number += bytes == 8 ? 18446744073709551616.0 : static_cast<double>(uint64_t{1} << (8 * bytes));
    expected.numbers[static_cast<size_t>(i)] = number;
  }
  return expected;
}

}  // namespace tilesight::trace
