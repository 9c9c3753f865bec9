#include "trace/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/float_format.h"
#include "trace/region.h"

namespace tilesight::trace {

using findings::counted;
using findings::grouped;
using findings::Style;
using ir::ElementKind;

void Statistics::add(double number) {
  ++count;
  if (std::isnan(number)) ++nan;
  else if (std::isinf(number)) ++(number > 0 ? positiveInfinity : negativeInfinity);
  else {
    min = finite ? std::min(min, number) : number;
    max = finite ? std::max(max, number) : number;
    ++finite;
    zero += number == 0;
    sum_ += number;
    mean = sum_ / static_cast<double>(finite);
  }
}

std::string Statistics::text() const {
  std::string text;
  if (finite && min == max) text = fmt::format("{} {}", count == 1 ? "is" : finite == count ? "all are" : "the others are", numberText(min));
  else if (finite) text = fmt::format("min {}  max {}  mean {}", numberText(min), numberText(max), numberText(mean));
  auto also = [&](int64_t number, const char* what) {
    if (!number) return;
    if (number == count) text = fmt::format("{} {}", count == 1 ? "is" : "all are", what);
    else text += fmt::format("{}{} of {} {} {}", text.empty() ? "" : ", ", grouped(number), grouped(count), number == 1 ? "is" : "are", what);
  };
  also(nan, "NaN");
  also(positiveInfinity, "inf");
  also(negativeInfinity, "-inf");
  if (zero && min != max) also(zero, "zero");
  return text;
}

double numberAt(ElementKind kind, const uint8_t* bytes) {
  uint64_t bits = 0;
  const uint32_t size = std::min<uint32_t>(ir::elementBytes(kind), 8);
  std::memcpy(&bits, bytes, size);
  if (ir::isFloatKind(kind)) return ir::bitsToFloat(bits, kind);
  if (kind == ElementKind::I1) return bits ? 1 : 0;
  const unsigned shift = 64 - 8 * std::max(size, 1u);
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

std::string numberText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  if (number == std::floor(number) && std::abs(number) < 1e6) return fmt::format("{:.0f}", number == 0 ? 0.0 : number);
  return fmt::format("{:.5g}", number);
}

std::string numberText(ElementKind kind, const uint8_t* bytes) {
  if (ir::isFloatKind(kind)) return numberText(numberAt(kind, bytes));
  if (kind == ElementKind::I1) return *bytes ? "true" : "false";
  int64_t value = 0;
  const uint32_t size = std::min<uint32_t>(ir::elementBytes(kind), 8);
  std::memcpy(&value, bytes, size);
  const unsigned shift = 64 - 8 * std::max(size, 1u);
  value = static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
  return fmt::format("{}", value);
}

std::string typeText(const std::string& mlirType) {
  std::string_view text = mlirType;
  std::string shape, element;
  if (text.starts_with("tensor<")) {
    text.remove_prefix(7);
    text = text.substr(0, text.rfind('>'));
    std::vector<std::string> sizes;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) {
      const size_t end = text.find('x');
      if (end == text.npos) break;
      sizes.emplace_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    if (const size_t comma = text.find(", #"); comma != text.npos) text = text.substr(0, comma);
    shape = fmt::format("[{}]", fmt::join(sizes, ", "));
  }
  if (text.starts_with("!tt.ptr<")) {
    text.remove_prefix(8);
    text = text.substr(0, text.find_first_of(",>"));
    return fmt::format("{} to {}{}", shape.empty() ? "pointer" : "pointers", text, shape);
  }
  if (text.starts_with("!tt.tensordesc")) return "descriptor";
  if (text == "i1") return shape.empty() ? "bool" : "mask" + shape;
  return std::string(text) + shape;
}

std::string elementName(const std::string& name, const std::vector<int64_t>& shape, int64_t element) {
  return shape.empty() ? name : fmt::format("{}[{}]", name, fmt::join(indexOfNumber(shape, element), ", "));
}

namespace {

constexpr int64_t kFewColumns = 10, kFewRows = 16;  // written out whole
constexpr int64_t kPictureRows = 24;

// A value as rows and columns: tiles of more axes show the first of their outer ones.
struct Matrix {
  int64_t rows = 1, columns = 1;
  bool vector = false, first = false;
  int64_t outer = 1;
};

Matrix matrixOf(const Value& value) {
  Matrix m;
  const size_t rank = value.shape.size();
  if (rank >= 1) m.columns = value.shape[rank - 1];
  if (rank >= 2) m.rows = value.shape[rank - 2];
  for (size_t d = 0; d + 2 < rank; ++d) m.outer *= value.shape[d];
  if (m.columns == 1 && m.rows > 1) std::swap(m.rows, m.columns);  // a column lies in memory as a row does
  m.vector = m.rows == 1 && rank >= 1;
  m.first = m.outer > 1;
  return m;
}

class Drawing {
 public:
  Drawing(const Value& value, const findings::Painter& paint, size_t width) : value_(value), paint_(paint), width_(width) {
    size_ = static_cast<int64_t>(std::max<uint32_t>(1, ir::elementBytes(value.element)));
  }

  const uint8_t* at(int64_t element) const { return value_.bytes.data() + element * size_; }
  double number(int64_t element) const { return numberAt(value_.element, at(element)); }

  std::string numbers(int64_t rows, int64_t columns, int64_t stride) const {
    std::vector<std::string> cells;
    size_t widest = 1;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        cells.push_back(numberText(value_.element, at(r * stride + c)));
        widest = std::max(widest, cells.back().size());
      }
    std::string text;
    const size_t head = fmt::format("[{}]", rows - 1).size();
    for (int64_t r = 0; r < rows; ++r) {
      text += rows > 1 ? fmt::format("  {:>{}}", fmt::format("[{}]", r), head) : " ";
      for (int64_t c = 0; c < columns; ++c) {
        const std::string& cell = cells[static_cast<size_t>(r * columns + c)];
        text += " " + std::string(widest - cell.size(), ' ') + (cell == "nan" ? paint_(Style::Error, cell) : cell);
      }
      text += "\n";
    }
    return text;
  }

  // A vector of some length, several lines of numbers, each with the index of its first.
  std::string numbersOfVector(int64_t count) const {
    std::vector<std::string> cells;
    size_t widest = 1;
    for (int64_t i = 0; i < count; ++i) {
      cells.push_back(numberText(value_.element, at(i)));
      widest = std::max(widest, cells.back().size());
    }
    const size_t head = fmt::format("[{}]", count - 1).size();
    int64_t columns = 1;
    while (columns < 16 && head + 2 + static_cast<size_t>(2 * columns) * (widest + 1) <= width_) columns *= 2;
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      if (i % columns == 0) text += fmt::format("{}  {:>{}}", i ? "\n" : "", fmt::format("[{}]", i), head);
      const std::string& cell = cells[static_cast<size_t>(i)];
      text += " " + std::string(widest - cell.size(), ' ') + (cell == "nan" ? paint_(Style::Error, cell) : cell);
    }
    return text + "\n";
  }

  // What a cell of a picture shows: of its elements, a NaN, else an infinity, else the mean.
  struct Cell {
    double mean = 0;
    char special = 0;  // N, +, -
    bool all = true, any = false;  // masks
  };
  Cell cell(int64_t r0, int64_t r1, int64_t c0, int64_t c1, int64_t columns) const {
    Cell cell;
    Statistics s;
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t c = c0; c < c1; ++c) {
        const double n = number(r * columns + c);
        s.add(n);
        cell.all = cell.all && n != 0;
        cell.any = cell.any || n != 0;
      }
    cell.mean = s.mean;
    cell.special = s.nan ? 'N' : s.positiveInfinity ? '+' : s.negativeInfinity && (s.negativeInfinity == s.count) ? '-' : 0;
    return cell;
  }

  std::string cells(const Matrix& m, const Statistics& all) const {
    const int64_t most = std::min<int64_t>(64, static_cast<int64_t>(width_) - 16);
    const int64_t across = std::min(m.columns, most), down = std::min(m.rows, kPictureRows);
    const int64_t perColumn = (m.columns + across - 1) / across, perRow = (m.rows + down - 1) / down;
    std::string text;
    const size_t head = fmt::format("[{}]", m.rows - 1).size();
    for (int64_t r = 0; r < m.rows; r += perRow) {
      text += m.rows > 1 ? fmt::format("  {:>{}} ", fmt::format("[{}]", r), head) : "  ";
      for (int64_t c = 0; c < m.columns; c += perColumn) {
        const Cell cell = this->cell(r, std::min(m.rows, r + perRow), c, std::min(m.columns, c + perColumn), m.columns);
        text += drawn(cell, all);
      }
      text += "\n";
    }
    if (perColumn > 1 || perRow > 1)
      text += fmt::format("  a character is {}{}\n", perRow > 1 ? counted(perRow, "row") + " of " : "", counted(perColumn, "element"));
    return text;
  }

 private:
  std::string drawn(const Cell& cell, const Statistics& all) const {
    if (value_.element == ElementKind::I1) return cell.all ? "█" : cell.any ? "▒" : "·";
    if (cell.special == 'N') return paint_(Style::Error, "N");
    if (cell.special) return paint_(Style::Warning, cell.special == '+' ? "+" : "-");
    static constexpr const char* kShades[] = {"·", "░", "▒", "▓", "█"};
    const double span = all.max - all.min;
    const double place = span > 0 ? (cell.mean - all.min) / span : 0.5;
    return kShades[std::clamp(static_cast<int>(place * 5), 0, 4)];
  }

  const Value& value_;
  const findings::Painter& paint_;
  size_t width_;
  int64_t size_;
};

std::string pointers(const Value& value, const launch::Launch& launch, const findings::Painter& paint) {
  std::map<int32_t, std::vector<int64_t>> offsets;
  for (size_t i = 0; i < value.offsets.size(); ++i) offsets[value.arguments[i]].push_back(value.offsets[i]);
  std::string text;
  for (auto& [argument, all] : offsets) {
    if (argument < 0) {
      const auto [low, high] = std::minmax_element(all.begin(), all.end());
      text += fmt::format("  {} to no tensor of the launch: addresses {:#x} to {:#x}\n", counted(static_cast<int64_t>(all.size()), "pointer"), *low, *high);
      continue;
    }
    const launch::Argument& of = launch.arguments[static_cast<size_t>(argument)];
    const std::string name = findings::printable(of.name);
    const int64_t pointers = static_cast<int64_t>(all.size());
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    const int64_t first = *low, last = *high;
    int64_t outside = 0;
    const Region region = regionOfView(of.view, all, &outside);
    if (region.count) {
      text += fmt::format("  {}", region.text(name));
      if (region.count != pointers - outside) text += fmt::format(", some of them more than once ({} pointers)", grouped(pointers));
      text += "\n";
    }
    if (outside)
      text += paint(Style::Warning, fmt::format("  {} of {} {} outside {}[{}]: elements {} to {} behind its first", grouped(outside), grouped(pointers),
                                                outside == 1 ? "is" : "are", name, fmt::join(of.view.shape, ", "), first, last)) + "\n";
  }
  return text;
}

}  // namespace

std::string picture(const Value& value, const launch::Launch& launch, const findings::Painter& paint, size_t width) {
  if (!value.text.empty()) return findings::wrapped(findings::printable(value.text), "  ", "    ", width);
  const int64_t count = value.numel();
  if (!count) return "  (no elements)\n";
  if (value.element == ElementKind::Pointer) return pointers(value, launch, paint);
  const Drawing drawing(value, paint, width);
  if (value.shape.empty()) return fmt::format("  {}\n", numberText(value.element, value.bytes.data()));
  std::string text;
  Statistics all;
  for (int64_t i = 0; i < count; ++i) all.add(drawing.number(i));
  if (value.element == ElementKind::I1) {
    std::vector<int64_t> active;
    for (int64_t i = 0; i < count; ++i)
      if (value.bytes[static_cast<size_t>(i)]) active.push_back(i);
    if (active.empty() || static_cast<int64_t>(active.size()) == count) {
      text += fmt::format("  {} of the {} are true\n", active.empty() ? "none" : "all", counted(count, "element"));
      return text;
    }
    const Region region = regionOf(value.shape, active, 2);
    text += fmt::format("  {} of {} are true{}\n", grouped(region.count), counted(count, "element"), region.exact ? ": " + region.text("") : "");
  } else {
    text += fmt::format("  {}\n", all.text());
    if (all.finite == count && all.min == all.max) return text;
  }
  Matrix m = matrixOf(value);
  if (m.first) text += fmt::format("  the first of {} matrices:\n", grouped(m.outer));
  const bool few = m.columns <= kFewColumns && m.rows <= kFewRows;
  if (value.element != ElementKind::I1 || few) {
    if (few) return text + drawing.numbers(m.rows, m.columns, m.columns);
    if (m.vector && count <= 64) return text + drawing.numbersOfVector(count);
  }
  text += drawing.cells(m, all);
  if (value.element == ElementKind::I1) return text;
  text += fmt::format("  · is {} to {}, █ is {} to {}", numberText(all.min), numberText(all.min + (all.max - all.min) / 5),
                      numberText(all.max - (all.max - all.min) / 5), numberText(all.max));
  if (all.nan) text += ", N has a NaN";
  if (all.positiveInfinity) text += ", + has an inf";
  if (all.negativeInfinity) text += ", - is -inf";
  text += "\n";
  const int64_t columns = std::min<int64_t>(m.columns, 8), rows = std::min<int64_t>(m.rows, 4);
  text += m.rows > 1 ? fmt::format("  its corner [0:{}, 0:{}]:\n", rows, columns) : fmt::format("  its beginning [0:{}]:\n", columns);
  return text + drawing.numbers(rows, columns, m.columns);
}

}  // namespace tilesight::trace
