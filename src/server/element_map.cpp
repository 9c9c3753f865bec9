#include "server/element_map.h"

#include <algorithm>

#include "ir/type.h"

namespace tilesight::server {

ElementMap::ElementMap(const ts_argument& argument, int64_t maxCells) {
  if (!argument.is_tensor) return;
  bytes_ = std::max<int64_t>(1, ir::elementBytes(static_cast<ir::ElementKind>(argument.element)));
  __int128 low = 0, high = 0;
  for (uint32_t d = 0; d < argument.rank; ++d) {
    if (argument.shape[d] <= 0) return;
    const __int128 reach = static_cast<__int128>(argument.shape[d] - 1) * argument.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const __int128 span = high - low + 1 + 2 * kMargin;
  if (span > INT64_MAX / 64) return;
  margin_ = kMargin;
  elements_ = static_cast<int64_t>(span);
  while (((elements_ - 2 * margin_ - 1) >> shift_) + 1 > maxCells) ++shift_;
  cells_ = ((elements_ - 1) >> shift_) + 1;
  start_ = static_cast<int64_t>(argument.address) + (static_cast<int64_t>(low) - margin_) * bytes_;
  blocks_.resize(static_cast<size_t>((cells_ - 1) >> kBlockBits) + 1);
}

ElementMap ElementMap::blank() const {
  ElementMap map;
  map.start_ = start_, map.elements_ = elements_, map.cells_ = cells_, map.margin_ = margin_, map.bytes_ = bytes_, map.shift_ = shift_;
  map.blocks_.resize(blocks_.size());
  return map;
}

void ElementMap::add(int64_t address, int64_t elements, int64_t elementBytes, int64_t times, bool reads, bool writes, int64_t program) {
  if (!counts()) return;
  const int64_t from = address - start_, to = from + elements * elementBytes;
  int64_t first, past, wanted;
  if (elementBytes == bytes_ && from >= 0) {
    first = from / bytes_, past = std::min(first + elements + (from % bytes_ != 0), elements_), wanted = elements;
  } else {
    first = from >= 0 ? from / bytes_ : 0;
    past = std::min((std::max<int64_t>(to, 0) + bytes_ - 1) / bytes_, elements_);
    wanted = (elements * elementBytes + bytes_ - 1) / bytes_;
  }
  const int64_t inside = std::max<int64_t>(0, std::min(past, elements_ - margin_) - std::max(first, margin_));
  if (wanted > inside) outside_ += static_cast<uint64_t>((wanted - inside) * times);
  if (past <= first) return;
  const uint64_t accesses = static_cast<uint64_t>(past - first) * static_cast<uint64_t>(times);
  const uint32_t n = static_cast<uint32_t>(times);
  if (reads) read_ += accesses, countElements(&Block::reads, first, past, n);
  if (writes) written_ += accesses, countElements(&Block::writes, first, past, n);
  touch(first >> shift_, ((past - 1) >> shift_) + 1, reads, writes, static_cast<uint32_t>(program) + 1);
}

/// Elements, which are a part of their first and last cells.
void ElementMap::countElements(Cells Block::*of, int64_t first, int64_t past, uint32_t times) {
  if (!shift_) return count(of, first, past, times);
  const int64_t c0 = first >> shift_, c1 = (past - 1) >> shift_;
  if (c0 == c1) return count(of, c0, c0 + 1, static_cast<uint32_t>(past - first) * times);
  count(of, c0, c0 + 1, static_cast<uint32_t>(((c0 + 1) << shift_) - first) * times);
  if (c1 > c0 + 1) count(of, c0 + 1, c1, static_cast<uint32_t>(cell()) * times);
  count(of, c1, c1 + 1, static_cast<uint32_t>(past - (c1 << shift_)) * times);
}

void ElementMap::count(Cells Block::*of, int64_t first, int64_t past, uint32_t times) {
  while (first < past) {
    Cells& cells = blocks_[static_cast<size_t>(first >> kBlockBits)].*of;
    if (!cells) cells = std::make_unique<uint32_t[]>(kBlock);
    const int64_t from = first & (kBlock - 1), to = std::min(kBlock, from + past - first);
    cells[static_cast<size_t>(from)] += times;
    if (to < kBlock) cells[static_cast<size_t>(to)] -= times;
    first += to - from;
  }
}

void ElementMap::touch(int64_t first, int64_t past, bool reads, bool writes, uint32_t me) {
  while (first < past) {
    Block& block = blocks_[static_cast<size_t>(first >> kBlockBits)];
    const int64_t from = first & (kBlock - 1), n = std::min(kBlock - from, past - first);
    if (!block.toucher) block.toucher = std::make_unique<uint32_t[]>(kBlock);
    uint32_t* toucher = block.toucher.get() + from;
    for (int64_t i = 0; i < n; ++i) toucher[i] = toucher[i] ? toucher[i] : me;
    if (writes) {
      if (!block.writer) block.writer = std::make_unique<uint32_t[]>(kBlock);
      uint32_t* writer = block.writer.get() + from;
      // What atomics write is everybody's by intent.
      const uint32_t others = reads ? me : me | kShared | kSharedIfOthers, alone = reads ? me : me | kSharedIfOthers;
      for (int64_t i = 0; i < n; ++i) {
        const uint32_t was = writer[i], same = reads ? me : was;
        writer[i] = !was ? alone : (was & kProgram) == me ? same : others;
      }
    }
    first += n;
  }
}

void ElementMap::merge(ElementMap&& later) {
  outside_ += later.outside_, read_ += later.read_, written_ += later.written_;
  for (size_t b = 0; b < later.blocks_.size(); ++b) {
    Block &mine = blocks_[b], &other = later.blocks_[b];
    const auto combine = [](Cells& into, Cells& from, auto&& of) {
      if (!from) return;
      if (!into) { into = std::move(from); return; }
      for (size_t i = 0; i < kBlock; ++i) into[i] = of(into[i], from[i]);
      from.reset();
    };
    combine(mine.reads, other.reads, [](uint32_t a, uint32_t b) { return a + b; });
    combine(mine.writes, other.writes, [](uint32_t a, uint32_t b) { return a + b; });
    combine(mine.toucher, other.toucher, [](uint32_t a, uint32_t b) { return a ? a : b; });
    // Programs of the other map are not of this one: who wrote first there was not alone, if someone wrote here.
    combine(mine.writer, other.writer, [](uint32_t a, uint32_t b) {
      if (!b || !a) return a | b;
      return (b & (kProgram | kSharedIfOthers)) | (b & kSharedIfOthers ? kShared : 0);
    });
  }
}

void ElementMap::finish() {
  uint64_t read = 0, written = 0;
  const auto add = [](Cells& cells, uint64_t& total) {
    if (!cells) return;
    uint32_t sum = 0;
    for (int64_t i = 0; i < kBlock; ++i) total += cells[static_cast<size_t>(i)] = sum += cells[static_cast<size_t>(i)];
  };
  for (Block& block : blocks_) add(block.reads, read), add(block.writes, written);
  // A count that went around lacks 2^32, and nothing makes up for it.
  overflowed_ = read != read_ || written != written_;
}

}  // namespace tilesight::server
