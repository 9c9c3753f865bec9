#include "record/accesses.h"

#include <algorithm>
#include <cstring>

namespace tilesight::record {

using arrow::Buffer;
using arrow::Column;

void AccessRows::clear() {
  const bool open = !programs_.empty();
  const Program last = open ? programs_.back() : Program{};
  const auto had = static_cast<uint32_t>(open ? size() - last.first + last.before : 0);
  for (auto* list : {&pattern_, &cells_}) list->clear();
  for (auto* list : {&offset_, &low_, &high_, &active_, &offsets_}) list->clear();
  for (auto* list : {&trip_, &outerTrip_}) list->clear();
  programs_.clear();
  // The current program may go on: its accesses are counted further.
  if (open) programs_.push_back({last.number, 0, had, 0});
}

void AccessRows::copyRows(const AccessRows& from, const Program& program, size_t past) {
  const auto copy = [](auto& to, const auto& source, size_t first, size_t end) {
    to.insert(to.end(), source.begin() + static_cast<ptrdiff_t>(first), source.begin() + static_cast<ptrdiff_t>(end));
  };
  const size_t first = program.first;
  copy(pattern_, from.pattern_, first, past);
  copy(cells_, from.cells_, first, past);
  copy(offset_, from.offset_, first, past);
  copy(low_, from.low_, first, past);
  copy(high_, from.high_, first, past);
  copy(active_, from.active_, first, past);
  copy(trip_, from.trip_, first, past);
  copy(outerTrip_, from.outerTrip_, first, past);
  size_t cells = program.cells;
  for (size_t i = first; i < past; ++i) cells += from.cells_[i];
  copy(offsets_, from.offsets_, program.cells, cells);
}

uint64_t AccessRows::append(const AccessRows& others, size_t i) {
  const Program& program = others.programs_[i];
  const size_t past = i + 1 < others.programs_.size() ? others.programs_[i + 1].first : others.size();
  startProgram(program.number);
  programs_.back().before = program.before;
  const size_t had = offsets_.size();
  copyRows(others, program, past);
  return weightOf(past - program.first, offsets_.size() - had);
}

AccessRows AccessRows::takeAfter() {
  const Program last = programs_.back();
  AccessRows program;
  program.startProgram(last.number);
  program.programs_.back().before = last.before;
  program.copyRows(*this, last, size());
  for (auto* list : {&pattern_, &cells_}) list->resize(last.first);
  for (auto* list : {&offset_, &low_, &high_, &active_}) list->resize(last.first);
  for (auto* list : {&trip_, &outerTrip_}) list->resize(last.first);
  offsets_.resize(last.cells);
  programs_.pop_back();
  return program;
}

Buffer AccessEncoder::reuse(size_t place, std::span<const uint8_t> raw) {
  Last& last = last_[place];
  if (!last.packed || last.raw.size() != raw.size() || std::memcmp(last.raw.data(), raw.data(), raw.size()) != 0) {
    last.raw.assign(raw.begin(), raw.end());
    last.packed = packer_.pack(raw);
  }
  return {raw, last.packed};
}

const AccessEncoder::OfPatterns& AccessEncoder::ofPatterns(const AccessRows& rows) {
  constexpr size_t kKept = 4;
  for (size_t i = 0; i < known_.size(); ++i)
    if (known_[i]->rows == rows.pattern_) {
      std::rotate(known_.begin(), known_.begin() + static_cast<ptrdiff_t>(i), known_.begin() + static_cast<ptrdiff_t>(i) + 1);
      return *known_.front();
    }
  auto fresh = std::make_unique<OfPatterns>();
  fresh->rows = rows.pattern_;
  const size_t count = rows.size();
  std::vector<int32_t> narrow(count);
  const auto each32 = [&](size_t column, auto&& value) {
    for (size_t i = 0; i < count; ++i) narrow[i] = static_cast<int32_t>(value((*patterns_)[rows.pattern_[i]]));
    fresh->columns[column].buffers = {{{}, packer_.pack(Buffer::of(narrow).raw)}};
  };
  std::vector<int64_t> wide(count);
  const auto each64 = [&](size_t column, auto&& value) {
    for (size_t i = 0; i < count; ++i) wide[i] = value((*patterns_)[rows.pattern_[i]]);
    fresh->columns[column].buffers = {{{}, packer_.pack(Buffer::of(wide).raw)}};
  };
  const auto opOf = [&](const Pattern& p) -> const OperationNames& { return names_->operations[p.op]; };
  each32(at::op, [](const Pattern& p) { return p.op; });
  each32(at::kind, [&](const Pattern& p) { return fixed_->kinds[p.kind]; });
  each32(at::operation, [&](const Pattern& p) { return opOf(p).operation; });
  each32(at::tensor, [&](const Pattern& p) { return p.argument < 0 ? fixed_->noTensor : names_->tensors[static_cast<size_t>(p.argument)]; });
  each32(at::file, [&](const Pattern& p) { return opOf(p).file; });
  each32(at::line, [&](const Pattern& p) { return opOf(p).line; });
  each32(at::column, [&](const Pattern& p) { return opOf(p).column; });
  each32(at::variable, [&](const Pattern& p) { return opOf(p).variable; });
  each32(at::element, [&](const Pattern& p) { return fixed_->elements[p.element % FixedNames::kElementKinds]; });
  each32(at::elementBytes, [](const Pattern& p) { return p.elementBytes; });
  each32(at::form, [&](const Pattern& p) { return fixed_->forms[p.form == TS_FORM_AFFINE && p.shape.size() > kAxes ? 4 : p.form]; });
  each32(at::mask, [&](const Pattern& p) {
    return fixed_->masks[p.mask == TS_FORM_SPLAT ? (p.maskAll ? 0 : 1) : p.mask == TS_FORM_AFFINE ? 2 : p.mask == TS_FORM_SEPARABLE ? 3 : 4];
  });
  each32(at::faults, [&](const Pattern& p) { return fixed_->faults[p.faults % fixed_->faults.size()]; });
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
  known_.insert(known_.begin(), std::move(fresh));
  if (known_.size() > kKept) known_.pop_back();
  return *known_.front();
}

arrow::Message AccessEncoder::encode(const AccessRows& rows) {
  const OfPatterns& patterns = ofPatterns(rows);
  std::vector<Column> columns(patterns.columns.begin(), patterns.columns.end());
  const size_t count = rows.size();
  size_t place = 0;
  const auto put = [&](size_t column, const auto& values) { columns[column].buffers = {reuse(place++, values)}; };

  std::vector<uint32_t> narrow(count, names_->launch);
  put(at::launch, narrow);
  std::vector<uint32_t> programs(count);
  for (size_t p = 0; p < rows.programs_.size(); ++p) {
    const AccessRows::Program& program = rows.programs_[p];
    const size_t past = p + 1 < rows.programs_.size() ? rows.programs_[p + 1].first : count;
    for (size_t i = program.first; i < past; ++i) {
      programs[i] = program.number;
      narrow[i] = static_cast<uint32_t>(i - program.first) + program.before;
    }
  }
  columns[at::program].buffers = {Buffer::of(programs)};
  put(at::number, narrow);

  put(at::trip, rows.trip_);
  put(at::outerTrip, rows.outerTrip_);
  std::vector<int64_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = rows.active_[i] * (*patterns_)[rows.pattern_[i]].elementBytes;
  put(at::active, rows.active_);
  put(at::bytes, bytes);
  columns[at::base].buffers = {Buffer::of(rows.offset_)};
  put(at::low, rows.low_);
  put(at::high, rows.high_);

  std::vector<int32_t> offsets(count + 1, 0);
  for (size_t i = 0; i < count; ++i) offsets[i + 1] = offsets[i] + static_cast<int32_t>(rows.cells_[i]);
  columns[at::cells].buffers = {reuse(place, offsets), reuse(place + 1, rows.offsets_)};
  columns[at::cells].items = offsets.back();
  return encodeBatch(schemaOf(Table::Accesses), static_cast<int64_t>(count), columns, packer_);
}

}  // namespace tilesight::record
