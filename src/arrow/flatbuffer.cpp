#include "arrow/flatbuffer.h"

#include <algorithm>

namespace tilesight::arrow {

void FlatBuilder::align(size_t to, size_t more) {
  while ((reversed_.size() + more) % to) reversed_.push_back(0);
}

FlatOffset FlatBuilder::text(std::string_view text) {
  align(4, text.size() + 1);
  reversed_.push_back(0);
  reversed_.insert(reversed_.end(), text.rbegin(), text.rend());
  push(static_cast<uint32_t>(text.size()));
  return size();
}

FlatOffset FlatBuilder::vector(const std::vector<FlatOffset>& items) {
  align(4);
  for (size_t i = items.size(); i-- > 0;) push(size() + 4 - items[i]);
  push(static_cast<uint32_t>(items.size()));
  return size();
}

FlatOffset FlatBuilder::structs(const std::vector<int64_t>& values, size_t words) {
  align(8);
  for (size_t i = values.size(); i-- > 0;) push(values[i]);
  push(static_cast<uint32_t>(values.size() / words));
  return size();
}

void FlatBuilder::start() {
  fields_.clear();
  tableStart_ = size();
}

void FlatBuilder::reference(uint16_t number, FlatOffset to) {
  align(4);
  push(size() + 4 - to);
  fields_.emplace_back(number, size());
}

FlatOffset FlatBuilder::end() {
  align(4);
  push(int32_t{0});  // how far the field table lies before the table; filled in below
  const FlatOffset table = size();
  uint16_t count = 0;
  for (auto& [number, at] : fields_) count = std::max<uint16_t>(count, number + 1);
  std::vector<uint16_t> positions(count, 0);
  for (auto& [number, at] : fields_) positions[number] = static_cast<uint16_t>(table - at);
  for (size_t i = count; i-- > 0;) push(positions[i]);
  push(static_cast<uint16_t>(table - tableStart_));
  push(static_cast<uint16_t>(4 + 2 * count));
  const auto distance = static_cast<int32_t>(size() - table);
  uint8_t bytes[4];
  std::memcpy(bytes, &distance, 4);
  for (size_t i = 0; i < 4; ++i) reversed_[table - 1 - i] = bytes[i];
  return table;
}

std::vector<uint8_t> FlatBuilder::finish(FlatOffset root) {
  align(8, 4);
  push(size() + 4 - root);
  return {reversed_.rbegin(), reversed_.rend()};
}

uint32_t FlatTable::word(size_t at) const {
  uint32_t result = 0;
  if (at + 4 <= bytes_.size()) std::memcpy(&result, bytes_.data() + at, 4);
  return result;
}

std::optional<FlatTable> FlatTable::at(std::span<const uint8_t> bytes, size_t position) {
  if (position + 4 > bytes.size()) return std::nullopt;
  return FlatTable(bytes, position);
}

std::optional<FlatTable> FlatTable::root(std::span<const uint8_t> bytes) {
  if (bytes.size() < 8) return std::nullopt;
  uint32_t to = 0;
  std::memcpy(&to, bytes.data(), 4);
  return at(bytes, to);
}

size_t FlatTable::position(uint16_t field) const {
  const auto distance = static_cast<int32_t>(word(at_));
  const auto fields = static_cast<int64_t>(at_) - distance;
  if (fields < 0 || static_cast<size_t>(fields) + 4 > bytes_.size()) return 0;
  const auto start = static_cast<size_t>(fields);
  uint16_t length = 0, offset = 0;
  std::memcpy(&length, bytes_.data() + start, 2);
  const size_t entry = 4 + 2 * size_t{field};
  if (entry + 2 > length || start + entry + 2 > bytes_.size()) return 0;
  std::memcpy(&offset, bytes_.data() + start + entry, 2);
  return offset ? at_ + offset : 0;
}

size_t FlatTable::target(uint16_t field) const {
  const size_t at = position(field);
  if (!at || at + 4 > bytes_.size()) return 0;
  const size_t to = at + word(at);
  return to + 4 <= bytes_.size() ? to : 0;
}

std::optional<FlatTable> FlatTable::table(uint16_t number) const {
  const size_t to = target(number);
  return to ? at(bytes_, to) : std::nullopt;
}

std::optional<std::string> FlatTable::text(uint16_t number) const {
  const size_t to = target(number);
  if (!to) return std::nullopt;
  const size_t length = word(to);
  if (length > bytes_.size() || to + 4 + length > bytes_.size()) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes_.data()) + to + 4, length);
}

std::optional<std::vector<FlatTable>> FlatTable::tables(uint16_t number) const {
  const size_t to = target(number);
  if (!to) return std::nullopt;
  const size_t count = word(to);
  if (count > bytes_.size() / 4 || to + 4 + 4 * count > bytes_.size()) return std::nullopt;
  std::vector<FlatTable> result;
  for (size_t i = 0; i < count; ++i) {
    const size_t slot = to + 4 + 4 * i;
    auto table = at(bytes_, slot + word(slot));
    if (!table) return std::nullopt;
    result.push_back(*table);
  }
  return result;
}

std::optional<std::vector<int64_t>> FlatTable::structs(uint16_t number, size_t words) const {
  const size_t to = target(number);
  if (!to) return std::nullopt;
  const size_t count = word(to), bytes = 8 * words;
  if (count > bytes_.size() / bytes || to + 4 + count * bytes > bytes_.size()) return std::nullopt;
  std::vector<int64_t> result(count * words);
  if (count) std::memcpy(result.data(), bytes_.data() + to + 4, count * bytes);
  return result;
}

}  // namespace tilesight::arrow
