#include "launch/zip_offsets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tilesight::launch {
namespace {

// Sizes of the records of the format (APPNOTE.TXT, 4.3), without what has no fixed size.
constexpr uint64_t kLocal = 30, kCentral = 46, kEnd = 22, kEnd64 = 56, kLocator64 = 20, kMaxComment = 65535;
constexpr uint64_t kMaxDirectory = uint64_t{256} << 20;

uint64_t number(const uint8_t* at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | at[i];
  return value;
}

bool isRecord(const uint8_t* at, char third, char fourth) {
  return at[0] == 'P' && at[1] == 'K' && at[2] == third && at[3] == fourth;
}

std::optional<std::vector<uint8_t>> bytesAt(int file, uint64_t offset, uint64_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint64_t done = 0; done < count;) {
    const ssize_t got = pread(file, bytes.data() + done, count - done, static_cast<off_t>(offset + done));
    if (got <= 0) return {};
    done += static_cast<uint64_t>(got);
  }
  return bytes;
}

struct Span {
  uint64_t offset = 0, bytes = 0;
};

/// The list of entries, which is at the end of the file.
std::optional<Span> directory(int file, uint64_t size) {
  const uint64_t tail = std::min(size, kEnd + kMaxComment);
  const auto last = bytesAt(file, size - tail, tail);
  if (!last || tail < kEnd) return {};
  uint64_t at = tail - kEnd;
  while (!isRecord(last->data() + at, 5, 6))
    if (at-- == 0) return {};
  const uint8_t* end = last->data() + at;
  Span found{number(end + 16, 4), number(end + 12, 4)};
  if (found.offset != UINT32_MAX && found.bytes != UINT32_MAX) return found;
  const uint64_t endOffset = size - tail + at;
  const auto locator = endOffset >= kLocator64 ? bytesAt(file, endOffset - kLocator64, kLocator64) : std::nullopt;
  if (!locator || !isRecord(locator->data(), 6, 7)) return {};
  const auto end64 = bytesAt(file, number(locator->data() + 8, 8), kEnd64);
  if (!end64 || !isRecord(end64->data(), 6, 6)) return {};
  return Span{number(end64->data() + 48, 8), number(end64->data() + 40, 8)};
}

/// Offset of an entry's own record: in the list's, or in the extra field 1 where that has no room for it.
std::optional<uint64_t> recordOffset(const uint8_t* entry, uint64_t nameBytes, uint64_t extraBytes) {
  const uint64_t offset = number(entry + 42, 4);
  if (offset != UINT32_MAX) return offset;
  const uint8_t* extra = entry + kCentral + nameBytes;
  for (uint64_t at = 0; at + 4 <= extraBytes;) {
    const uint64_t bytes = number(extra + at + 2, 2);
    if (at + 4 + bytes > extraBytes) return {};
    if (number(extra + at, 2) == 1) {  // the sizes that have no room come before
      const uint64_t before = 8 * ((number(entry + 20, 4) == UINT32_MAX) + (number(entry + 24, 4) == UINT32_MAX));
      if (before + 8 > bytes) return {};
      return number(extra + at + 4 + before, 8);
    }
    at += 4 + bytes;
  }
  return {};
}

}  // namespace

std::unordered_map<std::string, uint64_t> zipOffsets(int file) {
  std::unordered_map<std::string, uint64_t> offsets;
  struct stat info {};
  if (fstat(file, &info) != 0) return offsets;
  const auto size = static_cast<uint64_t>(info.st_size);
  const std::optional<Span> list = directory(file, size);
  if (!list || list->bytes > kMaxDirectory || list->bytes > size) return offsets;
  const auto entries = bytesAt(file, list->offset, list->bytes);
  if (!entries) return offsets;
  for (uint64_t at = 0; at + kCentral <= entries->size();) {
    const uint8_t* entry = entries->data() + at;
    const uint64_t nameBytes = number(entry + 28, 2), extraBytes = number(entry + 30, 2);
    at += kCentral + nameBytes + extraBytes + number(entry + 32, 2);
    if (!isRecord(entry, 1, 2) || at > entries->size()) return offsets;
    const std::string name(reinterpret_cast<const char*>(entry) + kCentral, nameBytes);
    const std::optional<uint64_t> record = recordOffset(entry, nameBytes, extraBytes);
    if (!record || *record > size) continue;
    const auto local = bytesAt(file, *record, kLocal + nameBytes);
    if (!local || !isRecord(local->data(), 3, 4) || number(local->data() + 8, 2) != 0 || number(local->data() + 26, 2) != nameBytes ||
        !std::equal(name.begin(), name.end(), local->begin() + kLocal, [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }))
      continue;
    offsets[name] = *record + kLocal + nameBytes + number(local->data() + 28, 2);
  }
  return offsets;
}

}  // namespace tilesight::launch
