#include "record/accesses.h"

#include <algorithm>
#include <cstring>

namespace tilesight::record {

using arrow::Buffer;
using arrow::Column;

void AccessRows::clear() {
  const bool open = !programs_.empty();
  const Program last = open ? programs_.back() : Program{};
  const auto had = static_cast<uint32_t>(open ? size() - last.first.row + last.before : 0);
  pattern_.clear();
  for (auto* list : {&offset_, &cells_}) list->clear();
  for (auto* list : {&trip_, &outerTrip_}) list->clear();
  loose_.clear();
  programs_.clear();
  // The current program may go on: its accesses are counted further.
  if (open) programs_.push_back({last.number, had, {}});
}

void AccessRows::copyRows(const AccessRows& from, const Place& first, const Place& past) {
  const auto copy = [](auto& to, const auto& source, size_t begin, size_t end) {
    to.insert(to.end(), source.begin() + static_cast<ptrdiff_t>(begin), source.begin() + static_cast<ptrdiff_t>(end));
  };
  copy(pattern_, from.pattern_, first.row, past.row);
  copy(offset_, from.offset_, first.row, past.row);
  copy(trip_, from.trip_, first.row, past.row);
  copy(outerTrip_, from.outerTrip_, first.row, past.row);
  copy(loose_, from.loose_, first.loose, past.loose);
  copy(cells_, from.cells_, first.cell, past.cell);
}

uint64_t AccessRows::append(const AccessRows& others, size_t i) {
  const Program& program = others.programs_[i];
  const Place past = i + 1 < others.programs_.size() ? others.programs_[i + 1].first : others.here();
  startProgram(program.number);
  programs_.back().before = program.before;
  copyRows(others, program.first, past);
  return weightOf(past.row - program.first.row, past.cell - program.first.cell);
}

AccessRows AccessRows::takeAfter() {
  const Program last = programs_.back();
  AccessRows program;
  program.startProgram(last.number);
  program.programs_.back().before = last.before;
  program.copyRows(*this, last.first, here());
  pattern_.resize(last.first.row);
  offset_.resize(last.first.row);
  for (auto* list : {&trip_, &outerTrip_}) list->resize(last.first.row);
  loose_.resize(last.first.loose);
  cells_.resize(last.first.cell);
  programs_.pop_back();
  return program;
}

Buffer AccessEncoder::pack(size_t place, std::span<const uint8_t> raw) {
  Last& last = last_[place];
  if (!last.packed || last.raw.size() != raw.size() || std::memcmp(last.raw.data(), raw.data(), raw.size()) != 0) {
    last.raw.assign(raw.begin(), raw.end());
    last.packed = packer_.pack(raw);
  }
  return {raw, last.packed};
}

template <typename T>
arrow::Packed AccessEncoder::constant(T value, size_t count) {
  constexpr size_t kKept = 64;
  const size_t bytes = count * sizeof(T);
  const auto known = std::find_if(constants_.begin(), constants_.end(), [&](const Constant& other) {
    return other.bytes == bytes && other.width == sizeof(T) && other.value == value;
  });
  if (known != constants_.end()) return known->packed;
  const std::vector<T> values(count, value);
  if (constants_.size() == kKept) constants_.clear();
  constants_.push_back({value, bytes, sizeof(T), packer_.pack(Buffer::of(values).raw)});
  return constants_.back().packed;
}

void AccessEncoder::translate(const AccessRows& rows, const Patterns& patterns) {
  constexpr size_t kMaxPatterns = 1 << 16;  // what it knows is not to grow with the launch
  constexpr uint32_t kNone = UINT32_MAX;
  if (patterns_.size() > kMaxPatterns) {
    patterns_.clear();
    known_.clear();
  }
  here_.assign(patterns.size(), kNone);
  numbers_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    uint32_t& number = here_[rows.pattern_[i]];
    if (number == kNone) number = patterns_.number(patterns[rows.pattern_[i]]);
    numbers_[i] = number;
  }
}

template <typename T, typename Value>
void AccessEncoder::fill(Column& column, const Value& value) {
  std::vector<T>& table = [&]() -> std::vector<T>& {
    if constexpr (sizeof(T) == 8) return wideOf_;
    else return narrowOf_;
  }();
  table.resize(patterns_.size());
  for (uint32_t number : used_) table[number] = static_cast<T>(value(patterns_[number]));
  const size_t count = numbers_.size();
  const bool same = std::all_of(used_.begin(), used_.end(), [&](uint32_t number) { return table[number] == table[used_[0]]; });
  if (same && count) {
    column.buffers = {{{}, constant(table[used_[0]], count)}};
    return;
  }
  std::vector<T>& values = [&]() -> std::vector<T>& {
    if constexpr (sizeof(T) == 8) return wide_;
    else return narrow_;
  }();
  values.resize(count);
  for (size_t i = 0; i < count; ++i) values[i] = table[numbers_[i]];
  column.buffers = {{{}, packer_.pack(Buffer::of(values).raw)}};
}

const AccessEncoder::OfPatterns& AccessEncoder::ofPatterns(const FixedNames& fixed, const LaunchNames& names) {
  constexpr size_t kKept = 4;
  for (size_t i = 0; i < known_.size(); ++i)
    if (known_[i]->rows == numbers_) {
      std::rotate(known_.begin(), known_.begin() + static_cast<ptrdiff_t>(i), known_.begin() + static_cast<ptrdiff_t>(i) + 1);
      return *known_.front();
    }
  auto fresh = std::make_unique<OfPatterns>();
  fresh->rows = numbers_;
  used_.clear();
  for (uint32_t number : here_)
    if (number != UINT32_MAX) used_.push_back(number);
  fresh->exact = std::all_of(used_.begin(), used_.end(), [&](uint32_t number) { return patterns_[number].exact(); });
  const auto each32 = [&](size_t column, auto&& value) { fill<int32_t>(fresh->columns[column], value); };
  const auto each64 = [&](size_t column, auto&& value) { fill<int64_t>(fresh->columns[column], value); };
  const auto opOf = [&](const Pattern& p) -> const OperationNames& { return names.operations[p.op]; };
  each32(at::launch, [&](const Pattern&) { return names.launch; });
  each32(at::op, [](const Pattern& p) { return p.op; });
  each32(at::kind, [&](const Pattern& p) { return fixed.kinds[p.kind]; });
  each32(at::operation, [&](const Pattern& p) { return opOf(p).operation; });
  each32(at::tensor, [&](const Pattern& p) { return p.argument < 0 ? fixed.noTensor : names.tensors[static_cast<size_t>(p.argument)]; });
  each32(at::file, [&](const Pattern& p) { return opOf(p).file; });
  each32(at::line, [&](const Pattern& p) { return opOf(p).line; });
  each32(at::column, [&](const Pattern& p) { return opOf(p).column; });
  each32(at::variable, [&](const Pattern& p) { return opOf(p).variable; });
  each32(at::element, [&](const Pattern& p) { return fixed.elements[p.element % FixedNames::kElementKinds]; });
  each32(at::elementBytes, [](const Pattern& p) { return p.elementBytes; });
  each32(at::form, [&](const Pattern& p) { return fixed.forms[p.form == TS_FORM_AFFINE && p.shape.size() > kAxes ? 4 : p.form]; });
  each32(at::mask, [&](const Pattern& p) {
    return fixed.masks[p.mask == TS_FORM_SPLAT ? (p.maskAll ? 0 : 1) : p.mask == TS_FORM_AFFINE ? 2 : p.mask == TS_FORM_SEPARABLE ? 3 : 4];
  });
  each32(at::faults, [&](const Pattern& p) { return fixed.faults[p.faults % fixed.faults.size()]; });
  each64(at::elements, [](const Pattern& p) { return p.elements; });
  each32(at::rank, [](const Pattern& p) { return p.shape.size(); });
  for (size_t d = 0; d < kAxes; ++d) {
    const auto axis = [d](const std::vector<int64_t>& list, const Pattern& p, int64_t otherwise) {
      return p.shape.size() <= kAxes && d < list.size() ? list[d] : otherwise;
    };
    each32(at::axes + 4 * d, [&](const Pattern& p) { return axis(p.shape, p, 1); });
    each64(at::axes + 4 * d + 1, [&](const Pattern& p) { return axis(p.strides, p, 0); });
    each32(at::axes + 4 * d + 2, [&](const Pattern& p) { return axis(p.low, p, 0); });
    // Absent axes have one index, which every mask but an empty one lets through.
    each32(at::axes + 4 * d + 3, [&](const Pattern& p) { return axis(p.high, p, axis(p.shape, p, 1)); });
  }
  if (fresh->exact) {
    each64(at::active, [](const Pattern& p) { return p.active; });
    each64(at::bytes, [](const Pattern& p) { return p.active * p.elementBytes; });
    each64(at::low, [](const Pattern& p) { return p.lowByte; });
    each64(at::high, [](const Pattern& p) { return p.endByte; });
    fresh->columns[at::cells].buffers = {{{}, constant(int32_t{0}, numbers_.size() + 1)}, {}};
  }
  known_.insert(known_.begin(), std::move(fresh));
  if (known_.size() > kKept) known_.pop_back();
  return *known_.front();
}

void AccessEncoder::looseColumns(const AccessRows& rows, std::vector<Column>& columns) {
  const size_t count = rows.size();
  const auto each = [&](size_t column, size_t place, auto&& exact, auto&& loose) {
    wide_.resize(count);
    auto next = rows.loose_.begin();
    for (size_t i = 0; i < count; ++i) {
      const Pattern& pattern = patterns_[numbers_[i]];
      wide_[i] = pattern.exact() ? exact(pattern) : loose(pattern, *next++);
    }
    columns[column].buffers = {pack(place, wide_)};
  };
  using Loose = AccessRows::Loose;
  each(at::active, 3, [](const Pattern& p) { return p.active; }, [](const Pattern&, const Loose& row) { return row.active; });
  each(at::bytes, 4, [](const Pattern& p) { return p.active * p.elementBytes; },
       [](const Pattern& p, const Loose& row) { return row.active * p.elementBytes; });
  each(at::low, 5, [](const Pattern& p) { return p.lowByte; }, [](const Pattern&, const Loose& row) { return row.low; });
  each(at::high, 6, [](const Pattern& p) { return p.endByte; }, [](const Pattern&, const Loose& row) { return row.high; });
  ends_.assign(1, 0);
  auto next = rows.loose_.begin();
  for (size_t i = 0; i < count; ++i)
    ends_.push_back(ends_.back() + (patterns_[numbers_[i]].exact() ? 0 : static_cast<int32_t>((next++)->cells)));
  columns[at::cells].buffers = {pack(7, ends_), pack(8, rows.cells_)};
  columns[at::cells].items = ends_.back();
}

arrow::Message AccessEncoder::encode(const FixedNames& fixed, const LaunchNames& names, const AccessRows& rows, const Patterns& patterns) {
  translate(rows, patterns);
  const OfPatterns& ofPatterns = this->ofPatterns(fixed, names);
  std::vector<Column> columns(ofPatterns.columns.begin(), ofPatterns.columns.end());
  const size_t count = rows.size();
  programs_.resize(count);
  places_.resize(count);
  for (size_t p = 0; p < rows.programs_.size(); ++p) {
    const AccessRows::Program& program = rows.programs_[p];
    const size_t past = p + 1 < rows.programs_.size() ? rows.programs_[p + 1].first.row : count;
    for (size_t i = program.first.row; i < past; ++i) {
      programs_[i] = program.number;
      places_[i] = static_cast<uint32_t>(i - program.first.row) + program.before;
    }
  }
  columns[at::program].buffers = {Buffer::of(programs_)};
  columns[at::number].buffers = {pack(0, places_)};
  columns[at::trip].buffers = {pack(1, rows.trip_)};
  columns[at::outerTrip].buffers = {pack(2, rows.outerTrip_)};
  columns[at::base].buffers = {Buffer::of(rows.offset_)};
  if (!ofPatterns.exact) looseColumns(rows, columns);
  return encodeBatch(schemaOf(Table::Accesses), static_cast<int64_t>(count), columns, packer_);
}

arrow::Message Encoders::encode(const FixedNames& fixed, const LaunchNames& names, const AccessRows& rows, const Patterns& patterns) {
  std::unique_ptr<AccessEncoder> encoder;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      encoder = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!encoder) encoder = std::make_unique<AccessEncoder>();
  arrow::Message message = encoder->encode(fixed, names, rows, patterns);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(encoder));
  return message;
}

}  // namespace tilesight::record
