#include "arrow/packing.h"

#include <cstring>

#include <fmt/format.h>

#ifdef TILESIGHT_ZSTD
#include <zstd.h>
#endif

namespace tilesight::arrow {

#ifdef TILESIGHT_ZSTD

bool packs() { return true; }

struct Packer::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  std::vector<uint8_t> room;
  ~Context() { ZSTD_freeCCtx(zstd); }
};

Packed Packer::pack(std::span<const uint8_t> raw) {
  if (raw.empty()) return std::make_shared<const std::vector<uint8_t>>();
  constexpr int kLevel = 3;  // columns that go round in circles take several times as much with 1 or 2
  std::vector<uint8_t>& room = context_->room;
  room.resize(8 + ZSTD_compressBound(raw.size()));
  auto length = static_cast<int64_t>(raw.size());
  size_t stored = ZSTD_compressCCtx(context_->zstd, room.data() + 8, room.size() - 8, raw.data(), raw.size(), kLevel);
  if (ZSTD_isError(stored) || stored >= raw.size()) {
    length = -1;
    stored = raw.size();
    std::memcpy(room.data() + 8, raw.data(), raw.size());
  }
  std::memcpy(room.data(), &length, 8);
  return std::make_shared<const std::vector<uint8_t>>(room.begin(), room.begin() + 8 + static_cast<ptrdiff_t>(stored));
}

#else

bool packs() { return false; }

struct Packer::Context {};

Packed Packer::pack(std::span<const uint8_t> raw) {
  return std::make_shared<const std::vector<uint8_t>>(raw.begin(), raw.end());
}

#endif

Packer::Packer() : context_(std::make_unique<Context>()) {}
Packer::~Packer() = default;

Result<std::vector<uint8_t>> unpack(std::span<const uint8_t> stored, bool compressed, uint64_t limit) {
  if (stored.empty()) return std::vector<uint8_t>();
  int64_t length = -1;
  if (compressed) {
    if (stored.size() < 8) return failure("a buffer is too short");
    std::memcpy(&length, stored.data(), 8);
    stored = stored.subspan(8);
  }
  if (length == -1) {
    if (stored.size() > limit) return failure("a buffer is larger than its column");
    return std::vector<uint8_t>(stored.begin(), stored.end());
  }
  if (length < 0 || static_cast<uint64_t>(length) > limit) return failure("a buffer is larger than its column");
#ifdef TILESIGHT_ZSTD
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != static_cast<uint64_t>(length))
    return failure("a compressed buffer is broken");
  std::vector<uint8_t> raw(static_cast<size_t>(length));
  const size_t got = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) || got != raw.size()) return failure("a compressed buffer is broken");
  return raw;
#else
  return failure("it is compressed with zstd, and this build has none");
#endif
}

}  // namespace tilesight::arrow
