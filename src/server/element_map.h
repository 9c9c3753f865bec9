// How often the elements of one tensor argument were accessed, and by whom.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tilesight/client.h"

namespace tilesight::server {

inline constexpr int64_t kMaxCounted = 1 << 27, kMargin = 4096;
inline constexpr int64_t kMaxNumbered = (int64_t{1} << 30) - 2;  // programs that a cell can tell apart

/// Elements are counted from the tensor's lowest to its highest address, gaps of strided views included, and a margin on both
/// sides. A cell is one element; of tensors of more than kMaxCounted elements, 2, 4, 8, .. neighbours in memory. Memory is
/// taken for what is touched alone, so that each range of programs can have a map of its own.
class ElementMap {
 public:
  ElementMap() = default;
  /// Elements that the argument spans; none if it is no tensor, or an empty one.
  explicit ElementMap(const ts_argument& argument, int64_t maxCells = kMaxCounted);
  /// The same tensor, nothing counted.
  ElementMap blank() const;

  bool counts() const { return cells_ > 0; }
  int64_t elements() const { return elements_; }  // margins included
  int64_t margin() const { return margin_; }      // elements before the first one, and behind the last one
  int64_t cell() const { return int64_t{1} << shift_; }  // elements of a cell
  uint64_t outside() const { return outside_; }   // accesses by way of this argument that lie elsewhere
  /// Some count does not fit 32 bits: no counts are known.
  bool overflowed() const { return overflowed_; }

  /// A row of contiguous elements is accessed `times` times by the program of this number. Bytes.
  void add(int64_t address, int64_t elements, int64_t elementBytes, int64_t times, bool reads, bool writes, int64_t program);
  /// Takes in what programs of higher numbers did.
  void merge(ElementMap&& later);
  /// Call it once at the end: until then there are no counts.
  void finish();

  // Of the cell that element `at` (from 0, the margin's first) is in: accesses of all its elements; the program, or -1.
  uint32_t reads(int64_t at) const { return value(&Block::reads, at); }
  uint32_t writes(int64_t at) const { return value(&Block::writes, at); }
  int64_t first(int64_t at) const { return static_cast<int64_t>(value(&Block::toucher, at)) - 1; }
  int64_t writer(int64_t at) const { return static_cast<int64_t>(value(&Block::writer, at) & kProgram) - 1; }
  /// Others wrote it, too; not known of cells of several elements.
  bool isShared(int64_t at) const { return !shift_ && (value(&Block::writer, at) & kShared) != 0; }

 private:
  static constexpr int kBlockBits = 9;  // few enough for ranges of programs that have some columns of a tensor each
  static constexpr int64_t kBlock = int64_t{1} << kBlockBits;  // cells
  // Who wrote a cell last, and: others did, too; others would have, had some written before the map was begun.
  static constexpr uint32_t kShared = 1u << 31, kSharedIfOthers = 1u << 30, kProgram = kSharedIfOthers - 1;
  using Cells = std::unique_ptr<uint32_t[]>;
  struct Block {
    Cells reads, writes;    // until finish: differences to the cell before, modulo 2^32
    Cells toucher, writer;  // program number + 1
  };
  uint32_t value(Cells Block::*of, int64_t at) const {
    const int64_t cell = at >> shift_;
    const Cells& cells = blocks_[static_cast<size_t>(cell >> kBlockBits)].*of;
    return cells ? cells[static_cast<size_t>(cell & (kBlock - 1))] : 0;
  }
  void touch(int64_t first, int64_t past, bool reads, bool writes, uint32_t me);
  void count(Cells Block::*of, int64_t first, int64_t past, uint32_t times);
  void countElements(Cells Block::*of, int64_t first, int64_t past, uint32_t times);

  int64_t start_ = 0;  // virtual address of the margin's first byte
  int64_t elements_ = 0, cells_ = 0, margin_ = 0, bytes_ = 1;
  int shift_ = 0;
  uint64_t outside_ = 0, read_ = 0, written_ = 0;  // elements accessed, margins included
  bool overflowed_ = false;
  std::vector<Block> blocks_;
};

}  // namespace tilesight::server
