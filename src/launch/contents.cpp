#include "launch/contents.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "launch/memory.h"
#include "support/system.h"

namespace tilesight::launch {
namespace {

constexpr uint64_t chunkBytes = 64 << 10;

bool allZero(const uint8_t* data, uint64_t bytes) {
  return bytes == 0 || (data[0] == 0 && std::memcmp(data, data + 1, bytes - 1) == 0);
}

uint64_t chunkSize(uint64_t total, uint64_t offset) { return std::min(chunkBytes, total - offset); }

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, uint64_t bytes) {
  MappedFile file;
  if (bytes == 0) return file;
  const Result<const uint8_t*> start = support::mapFile(path, bytes);
  if (!start) return failure(start.error());
  file.data_ = *start;
  file.bytes_ = bytes;
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) support::unmapFile(data_, bytes_);
}

const uint8_t* ContentStore::chunk(uint32_t number, uint64_t offset) const {
  const auto& places = places_[number];
  auto next = places.upper_bound(offset);
  if (next != places.begin()) {
    const auto& [start, place] = *std::prev(next);
    if (offset < start + place.first) return files_[number].data() + place.second + (offset - start);
  }
  const int64_t base = contents_[number].base;
  return base >= 0 ? chunk(static_cast<uint32_t>(base), offset) : nullptr;
}

bool ContentStore::equals(uint32_t number, const Storage& storage) const {
  for (uint64_t at = 0; at < storage.bytes; at += chunkBytes) {
    const uint64_t size = chunkSize(storage.bytes, at);
    const uint8_t* known = chunk(number, at);
    if (known ? std::memcmp(known, storage.data + at, size) != 0 : !allZero(storage.data + at, size))
      return false;
  }
  return true;
}

Result<uint32_t> ContentStore::add(const Storage& storage) {
  const std::pair key{storage.recordedBase, storage.bytes};
  const auto known = storage.recordedBase ? known_.find(key) : known_.end();
  if (known != known_.end() && equals(known->second.last, storage)) return known->second.last;

  Content content{.bytes = storage.bytes, .fill = {0}};
  // What is withheld is zeros: nothing of it is to be read.
  if (storage.bytes == 0 || storage.withheld) return store(storage, std::move(content));
  if (const size_t length = patternLength(storage.data, storage.bytes)) {
    content.fill.assign(storage.data, storage.data + length);
    // Not remembered as a version: a uniform storage costs nothing to say again.
    return store(storage, std::move(content));
  }

  const auto changedChunks = [&](int64_t root) {
    std::vector<Piece> pieces;
    for (uint64_t at = 0; at < storage.bytes; at += chunkBytes) {
      const uint64_t size = chunkSize(storage.bytes, at);
      const uint8_t* old = root >= 0 ? chunk(static_cast<uint32_t>(root), at) : nullptr;
      const bool same =
          old ? std::memcmp(old, storage.data + at, size) == 0 : allZero(storage.data + at, size);
      if (same) continue;
      if (!pieces.empty() && pieces.back().offset + pieces.back().bytes == at)
        pieces.back().bytes += size;
      else
        pieces.push_back({at, size});
    }
    return pieces;
  };
  const auto total = [](const std::vector<Piece>& pieces) {
    uint64_t sum = 0;
    for (const Piece& piece : pieces) sum += piece.bytes;
    return sum;
  };

  if (known != known_.end()) {
    std::vector<Piece> changed = changedChunks(known->second.root);
    if (total(changed) <= storage.bytes / 2) {
      content.base = known->second.root;
      content.pieces = std::move(changed);
      const Result<uint32_t> number = store(storage, std::move(content));
      if (number) known->second.last = *number;
      return number;
    }
  }
  content.pieces = changedChunks(-1);
  const Result<uint32_t> number = store(storage, std::move(content));
  if (number && storage.recordedBase) known_[key] = {*number, *number};
  return number;
}

Result<uint32_t> ContentStore::store(const Storage& storage, Content content) {
  const auto number = static_cast<uint32_t>(contents_.size());
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> places;
  MappedFile mapped;
  if (!content.pieces.empty()) {
    content.file = fmt::format("storages/{}.bin", number);
    const std::string path = folder_ + "/" + content.file;
    std::FILE* file = std::fopen(path.c_str(), "wbx");
    bool good = file != nullptr;
    uint64_t at = 0;
    for (const Piece& piece : content.pieces) {
      good = good && std::fwrite(storage.data + piece.offset, 1, piece.bytes, file) == piece.bytes;
      places[piece.offset] = {piece.bytes, at};
      at += piece.bytes;
    }
    if (file) good = std::fclose(file) == 0 && good;
    if (!good)
      return failure(Diagnostic{path, 0, 0, "cannot be written", "is the disk full?"});
    Result<MappedFile> back = MappedFile::open(path, at);
    if (!back) return failure(back.error());
    mapped = std::move(*back);
    storedBytes_ += at;
  }
  contents_.push_back(std::move(content));
  files_.push_back(std::move(mapped));
  places_.push_back(std::move(places));
  return number;
}

}  // namespace tilesight::launch
